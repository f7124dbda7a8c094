"""What an engine has for one run is a limit of what is suggested for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from simulated_engine import SimulatedLauncher

from jpo.errors import LaunchError
from jpo.plugins.launch.job import Needs, Room
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.project.jobs import kept_to_room
from jpo.project.load import LoadedSettings, load
from jpo.project.workload import limits_of, read_workload

CONFIG = "[workload]\ndataset = d\nmodel = m\nframework = f\n[training]\nbatch_size = 64\n[resources]\ncpus = 2\ngpus = 1\n"


class Small(SimulatedLauncher):
    """An engine that has two CPUs and 8 GiB, and does not say how many GPUs."""

    def __init__(self, *, away: bool = False) -> None:
        self.away, self.asked = away, list[Needs]()

    def room(self, needs: Needs) -> Room:
        self.asked.append(needs)
        if self.away:
            raise LaunchError("small", "is away", "start it", code="JPO-E753")
        return Room(cpus=2.0, memory_gib=8.0, free_cpus=1.0)


def kept(folder: Path, launcher: Launcher, quota: str = "") -> LoadedSettings:
    (folder / "config.ini").write_text(CONFIG)
    (folder / "jpo.toml").write_text(quota)
    settings = load(folder / "config.ini", None, {}, {})
    return kept_to_room(settings, read_workload(folder / "config.ini", settings, now=0.0), launcher)


def test_what_the_engine_has_for_one_run_is_a_quota_and_a_lower_one_stays(tmp_path: Path) -> None:
    engine = Small()
    quota = limits_of(kept(tmp_path, engine, "[quota]\ncpus = 16\nmemory_gib = 4\ngpus = 3\n")).quota
    assert (quota.cpus, quota.memory_gib, quota.gpus) == (2.0, 4.0, 3.0)
    assert quota.owners == {"cpus": "its engine"}
    assert engine.asked == [Needs(gpus=1, cpus=2)]


def test_an_engine_that_is_away_limits_nothing(tmp_path: Path) -> None:
    settings = kept(tmp_path, Small(away=True))
    assert settings.room == {}
    assert limits_of(settings) == limits_of(replace(settings, room={}))


@pytest.mark.parametrize("most", [1.0, 2.0])
def test_this_machine_limits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: float) -> None:
    class Machine:
        """As many CPUs."""

        def __init__(self, cpus: float) -> None:
            self.most = {"cpus": cpus}

    monkeypatch.setattr("jpo.inventory.machine.machine_here", lambda _environ: Machine(most))
    quota = limits_of(kept(tmp_path, Small(), "[quota]\nthis_machine = true\n")).quota
    assert (quota.cpus, quota.owners["cpus"]) == (most, "this machine" if most < 2 else "its engine")
