from __future__ import annotations

import pytest
from made import a_run

from jpo.records import Note, RunStatus
from jpo.telemetry.doubts import Doubt, ending_doubts, once_each
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues


def ended(said: str | None, seen: str | None, counts: str) -> list[str]:
    run = a_run("r7", status=RunStatus(counts))
    statuses = frozenset({said} if said else ())
    seen_to_end = RunStatus(seen) if seen else None
    measured = MeasuredRun("r7", run.identity, {}, 100.0, 200.0, True, statuses, MeasuredValues(), seen_to_end)
    return [f"{doubt.finding}; {doubt.remedy}" for doubt in ending_doubts(measured, run)]


@pytest.mark.parametrize(
    ("said", "seen", "counts"),
    [("succeeded", "oom_killed", "succeeded"), ("failed", "succeeded", "failed"), ("failed", "oom_killed", "oom_killed")],
)
def test_a_job_and_its_pod_that_ended_differently_are_named_with_what_counts(said: str, seen: str, counts: str) -> None:
    assert ended(said, seen, counts) == [f"run r7 says that it ended as {said}, and its pod as {seen}; it counts as {counts}"]


def test_success_with_a_loss_that_is_no_number_is_named() -> None:
    assert ended("succeeded", None, "diverged") == [
        "run r7 says that it ended as succeeded, and its last loss is nan; it counts as diverged"
    ]


@pytest.mark.parametrize(
    ("said", "seen", "counts"),
    [
        ("succeeded", "succeeded", "succeeded"),
        ("oom_killed", "failed", "oom_killed"),
        ("diverged", "succeeded", "diverged"),
        ("stopped", "failed", "stopped"),
        (None, "failed", "failed"),
        ("succeeded", None, "succeeded"),
    ],
)
def test_where_one_only_says_more_nothing_is_amiss(said: str | None, seen: str | None, counts: str) -> None:
    assert ended(said, seen, counts) == []


def test_each_kind_is_told_once_with_its_number() -> None:
    found = [Doubt("a", "first"), Doubt("b", "other"), Doubt("a", "second"), Doubt("a", "third")]
    assert once_each(found, "run") == (Note("JPO-W125", "first (and the same in 2 more runs)"), Note("JPO-W125", "other"))
