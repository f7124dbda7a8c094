"""What SLURM says about waiting, from an `sbatch` that answers as it does; a real one is in tests/launch/slurm."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from jpo.agent.safety.queue_ahead import QueueAhead
from jpo.launch.job import Needs, Room
from jpo.launch.queued import Queued
from jpo.optimizer.request import Request
from jpo.project.launch import waiting
from jpo.project.launch.waiting import queue_ahead, queued_with
from jpo.project.load import LoadedSettings, load
from jpo.project.workload import read_workload
from jpo.records import Forecast, Identity, Interval, Known, Outcome, Preference, Run, RunStatus, Workload

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
    return queued_with(expected, workload, settings, now=NOW)


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


def ahead(request: Request, tmp_path: Path, on: str = "slurm", runs: int = 1) -> QueueAhead | None:
    run = Run(
        "r", Identity("d", "m", "f"), request.current, RunStatus.SUCCEEDED, 0.0, 10.0, Outcome(duration_seconds=10.0), "csv"
    )
    workload, settings = project(tmp_path, on)
    return queue_ahead(request, Known(runs=(run,) * runs), workload, settings)[0]


def asking_for(gpus: float, **more: float) -> Request:
    free = {"gpus"} if gpus else {"cpus"}
    current = {"batch_size": 64.0, "gpus": gpus, **more}
    return Request(current, free, lambda _today, _proposed: True, Preference(), choices={"gpus": (1, 2, 4, 8, 16, 32, 64)})


def test_before_a_choice_the_engine_is_asked_of_a_few_numbers_of_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = Controller()
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: controller)
    found = ahead(asking_for(8.0), tmp_path)
    assert found is not None
    assert found.resource == "gpus"
    assert found.waits[8.0] == 4800.0
    assert 1 < len(found.waits) <= waiting.MOST_AMOUNTS
    assert len(controller.asked) == len(found.waits)


def test_before_a_choice_a_job_without_gpus_is_asked_of_by_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: Controller())
    found = ahead(asking_for(0.0, cpus=4.0), tmp_path)
    assert found is not None
    assert (found.resource, found.waits[4.0]) == ("cpus", 0.0)
    assert ahead(asking_for(0.0), tmp_path) is None


def test_before_a_choice_nothing_is_asked_where_nothing_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "launcher_of", lambda *_all, **_named: pytest.fail("asked"))
    assert ahead(asking_for(8.0), tmp_path, "local") is None
    assert ahead(asking_for(8.0), tmp_path, runs=0) is None
