from __future__ import annotations

import pytest
from made import a_run

from jpo.records import Note, RunStatus, Skipped
from jpo.telemetry.doubts import Doubt, by_cause, ending_doubts, once_each
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


def test_one_run_keeps_its_own_reason() -> None:
    (only,) = by_cause([Skipped("r1", "batch_size = '3_2' is not a usable whole number", "JPO-W121")])
    assert (only.run_id, only.count) == ("r1", 1)
    assert only.reason == "batch_size = '3_2' is not a usable whole number [JPO-W121]"


def test_many_runs_of_a_cause_are_one_sentence() -> None:
    (many,) = by_cause([Skipped(f"r{n}", f"epoch = {-n} cannot be", "JPO-W121") for n in range(20)])
    assert (many.run_id, many.code, many.count) == ("r0, r1, r2 and 17 more", "JPO-W121", 20)
    assert many.reason == "20 runs with values that cannot be, the first: epoch = 0 cannot be [JPO-W121]"


def test_many_logs_with_one_reason_are_one_sentence_and_few_are_named_each() -> None:
    (many,) = by_cause([Skipped(f"{n}.csv", f"runs/{n}.csv: line 1: no columns") for n in range(10_000)])
    assert (many.run_id, many.count) == ("0.csv, 1.csv, 2.csv and 9997 more", 10_000)
    assert many.reason == "10000 logs, the first: runs/0.csv: line 1: no columns"
    few = [Skipped(f"{n}.csv", f"runs/{n}.csv: line 1: no columns") for n in range(3)]
    assert list(by_cause(few)) == few


def test_each_cause_has_its_own_and_what_has_none_stays() -> None:
    log = Skipped("a.csv", "is empty")
    found = by_cause([Skipped("r1", "x", "JPO-W123"), log, Skipped("r2", "y", "JPO-W122")])
    assert [run.code for run in found] == ["", "JPO-W122", "JPO-W123"]
    assert found[0] == log
