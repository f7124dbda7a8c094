"""One run of the loop: its boundary, its room, its words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from loops import TOML, Lab
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.plugins.launch.job import Needs, Room
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.project.finished import EndedRun
from jpo.plugins.launch.story.optimize.following import Boundary, in_words, made, room_for
from jpo.plugins.launch.story.optimize.task import LoopPlan
from jpo.project.load import load
from jpo.records import Identity, Outcome, Run, RunStatus


def test_an_engine_that_sees_no_log_must_not_end_what_is_only_slow_to_start() -> None:
    assert Boundary(100.0, 30.0).in_all == 160.0
    assert Boundary(100.0).in_all is None
    assert Boundary(None, 30.0).in_all is None


def test_the_timeout_of_the_project_holds_where_it_is_shorter(tmp_path: Path) -> None:
    lab = Lab(tmp_path, train=lambda _job: VirtualRun(5.0))
    task = lab.task()
    (tmp_path / "jpo.toml").write_text(TOML.replace("[prices]", 'timeout = "90s"\n[prices]'))
    task = replace(task, settings=load(task.path, tmp_path / "jpo.toml", {}, {}))
    for number, boundary in enumerate((Boundary(), Boundary(100.0, 30.0), Boundary(20.0, 30.0))):
        for pause in made(task, LoopPlan(1, 1), lab.outside(), f"run-{number}", boundary):
            lab.sleep(pause)
    entries = [read(task.ledger, f"run-{number}") for number in range(3)]
    assert [entry.job.longest_seconds for entry in entries if entry] == [90.0, 90.0, 80.0]


def test_jobs_side_by_side_wait_for_room_and_a_single_one_does_not() -> None:
    rooms = [Room(gpus=8, free_gpus=1), Room(gpus=8, free_gpus=4)]

    class Busy(SimulatedLauncher):
        def room(self, needs: Needs) -> Room:
            return rooms.pop(0)

    busy = Busy(lambda _job, _start: VirtualRun(1.0), lambda: 0.0)
    assert len([*room_for(Needs(gpus=2), busy, LoopPlan(1, 1, at_once=2))]) == 1
    assert rooms == []
    assert [*room_for(Needs(gpus=2), busy, LoopPlan(1, 1))] == []


def test_what_could_never_run_is_not_waited_for() -> None:
    engine = SimulatedLauncher(lambda _job, _start: VirtualRun(1.0), lambda: 0.0, gpus=2)
    assert [*room_for(Needs(gpus=4), engine, LoopPlan(1, 1, at_once=2))] == []


@pytest.mark.parametrize(
    ("status", "converged", "words"),
    [
        (RunStatus.SUCCEEDED, True, "succeeded, 2m 00s"),
        (RunStatus.SUCCEEDED, False, "succeeded, target not reached, 2m 00s"),
        (RunStatus.DIVERGED, None, "diverged, 2m 00s"),
    ],
)
def test_how_a_run_ended_in_words(status: RunStatus, converged: bool | None, words: str) -> None:
    outcome = Outcome(duration_seconds=120.0, converged=converged)
    run = Run("r", Identity("d", "m", "f"), {}, status, None, 1e9, outcome, "csv")
    assert in_words(EndedRun(run, None)) == words
    assert in_words(EndedRun(None, None)) == "ended, and nothing is known of it"
