"""What cannot be started is refused when it is described."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs
from jpo.records import Identity

JOB = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("train",), Path("/srv"))


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ()},
        {"command": ("train", "a\0b")},
        {"environment": {"X": "\0"}},
        {"folder": Path("here")},
        {"longest_seconds": 0.0},
        {"run_id": "-x"},
        {"run_id": "x."},
        {"run_id": "x" * 64},
    ],
)
def test_a_job_that_no_engine_could_start(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        replace(JOB, **changes)


@pytest.mark.parametrize(
    "needs", [{"gpus": -1}, {"gpus": 3, "nodes": 2}, {"nodes": 0}, {"cpus": 0.0}, {"memory_gib": float("nan")}]
)
def test_needs_that_cannot_be_met_anywhere(needs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Needs(**needs)


def test_a_job_is_over_when_it_ended_or_is_lost() -> None:
    assert {state: JobStatus(state).over for state in JobState} == {
        JobState.WAITING: False,
        JobState.RUNNING: False,
        JobState.ENDED: True,
        JobState.UNKNOWN: True,
    }
