"""What SLURM says about waiting, from an `sbatch` that answers as it does; a real one is in tests/launch/slurm."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from jpo.agent.safety.queue_waits import QueueWaits
from jpo.plugins.launch.job import Needs, Room
from jpo.plugins.launch.project import waiting
from jpo.plugins.launch.project.waiting import EngineQueue
from jpo.project.load import LoadedSettings, load
from jpo.project.workload import read_workload
from jpo.records import Forecast, Interval, Parameters, Queued, Workload

NOTHING: Mapping[str, str] = {}
NOW = 1_800_000_000.0
HOUR = Forecast(duration_seconds=Interval(3600.0, 3000.0, 4000.0))
CONFIG = "[workload]\ndataset = d\nmodel = m\nframework = f\n[training]\nbatch_size = 64\n[resources]\ngpus = 1\n"


class Controller:
    """An engine with a queue: ten minutes for each GPU."""

    def __init__(self, *, hangs: float = 0.0) -> None:
        self.asked, self.hangs = list[Needs](), hangs

    def room(self, needs: Needs) -> Room:
        self.asked.append(needs)
        time.sleep(self.hangs if needs.gpus > 1 else 0)
        return Room(wait_seconds=600.0 * needs.gpus)


def project(folder: Path, on: str, more: str = "", environ: Mapping[str, str] = NOTHING) -> tuple[Workload, LoadedSettings]:
    (folder / "config.ini").write_text(CONFIG)
    (folder / "jpo.toml").write_text(f'[launch]\non = "{on}"\n{more}')
    settings = load(folder / "config.ini", None, environ, {})
    return read_workload(folder / "config.ini", settings, now=NOW), settings


def ends(workload: Workload, settings: LoadedSettings) -> tuple[Queued | None, ...]:
    expected = [({"gpus": gpus}, forecast) for gpus, forecast in ((1.0, HOUR), (2.0, HOUR), (1.0, Forecast()))]
    return EngineQueue(workload, settings).ends(expected, now=NOW)


def test_each_configuration_is_asked_for_once_and_is_done_after_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = Controller()
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: controller)
    one, two, unknown = ends(*project(tmp_path, "slurm"))
    assert one == Queued("slurm", 600.0, NOW + 4200)
    assert two == Queued("slurm", 1200.0, NOW + 4800)
    assert unknown == Queued("slurm", 600.0, None)
    assert [needs.gpus for needs in controller.asked] == [1, 2]


def test_an_engine_that_hangs_is_not_waited_for_and_what_it_said_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: Controller(hangs=3.0))
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.3)
    begun = time.monotonic()
    one, two, _ = ends(*project(tmp_path, "slurm"))
    assert time.monotonic() - begun < 2
    assert (one is not None, two) == (True, None)


def test_an_engine_that_cannot_be_asked_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ends(*project(tmp_path, "slurm")) == (None, None, None)


@pytest.mark.parametrize("on", ["local", "aws"])
def test_engines_without_a_queue_are_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: pytest.fail("asked"))
    assert ends(*project(tmp_path, on)) == (None, None, None)


@pytest.mark.parametrize(
    ("on", "more", "allowed"),
    [
        ("kubernetes", '[launch.kubernetes]\ncontext = "production"\n', "JPO_LAUNCH__KUBERNETES__CONTEXT=production"),
        ("slurm", '[launch.slurm]\noptions = ["--bbf=/etc/shadow"]\n', 'JPO_LAUNCH__SLURM__OPTIONS=["--nice"]'),
    ],
)
def test_a_branch_neither_chooses_credentials_nor_gives_a_program_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str, more: str, allowed: str
) -> None:
    controller = Controller()
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: controller)
    assert ends(*project(tmp_path, on, more)) == (None, None, None)
    assert controller.asked == []
    assert None not in ends(*project(tmp_path, on, more, dict([allowed.split("=", 1)])))


OTHERS = [{"gpus": float(2**step)} for step in range(7)]


def ahead(tmp_path: Path, today: Parameters, on: str = "slurm") -> QueueWaits | None:
    return EngineQueue(*project(tmp_path, on)).waits_for(today, lambda: OTHERS)


def test_before_a_choice_the_engine_is_asked_of_a_few_numbers_of_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = Controller()
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: controller)
    found = ahead(tmp_path, {"gpus": 8.0})
    assert found is not None
    assert found.resource == "gpus"
    assert found.waits == {8.0: 4800.0, 16.0: 9600.0, 4.0: 2400.0, 2.0: 1200.0, 32.0: 19200.0}
    assert len(controller.asked) == waiting.MOST_AMOUNTS


def test_before_a_choice_a_job_without_gpus_is_asked_of_by_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: Controller())
    found = ahead(tmp_path, {"gpus": 0.0, "cpus": 4.0})
    assert found is not None
    assert (found.resource, found.waits) == ("cpus", {4.0: 0.0})
    assert ahead(tmp_path, {"gpus": 0.0}) is None


def test_before_a_choice_nothing_is_asked_where_there_is_no_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: pytest.fail("asked"))
    assert ahead(tmp_path, {"gpus": 8.0}, "local") is None


def test_a_command_asks_of_the_same_resources_once_answered_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked before the choice is known of what was chosen; four GPUs of which it said nothing are not asked of again."""
    controller = Controller()
    monkeypatch.setattr(controller, "room", lambda needs, room=controller.room: room(needs) if needs.gpus != 4 else hung(needs))
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: controller)
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.3)

    def hung(needs: Needs) -> Room:
        controller.asked.append(needs)
        time.sleep(2)
        return Room()

    queue = EngineQueue(*project(tmp_path, "slurm"))
    assert queue.waits_for({"gpus": 1.0}, lambda: [{"gpus": 2.0}, {"gpus": 4.0}]) is not None
    assert [needs.gpus for needs in controller.asked] == [1, 2, 4]
    one, two, four = queue.ends([({"gpus": gpus}, HOUR) for gpus in (1.0, 2.0, 4.0)], now=NOW)
    assert (one and one.wait_seconds, two and two.wait_seconds, four) == (600.0, 1200.0, None)
    assert len(controller.asked) == 3
