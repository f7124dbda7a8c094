from __future__ import annotations

from made import a_run

from jpo.history.retention.forget import BEST, CONFIGURATIONS, FAILURES, needed_runs
from jpo.history.runs import RecordedRun
from jpo.records import Outcome, Run, RunStatus


def recorded(*runs: Run, followed: str | None = None) -> list[RecordedRun]:
    return [RecordedRun(run, followed, 1e9) for run in runs]


def nightly(number: int, seconds: float = 100.0, **changes: object) -> Run:
    """A run of a night; all of one configuration."""
    outcome = Outcome(duration_seconds=seconds, cost_usd=seconds, val_loss=seconds)
    return a_run(f"r{number}", 1000.0 + number, **{"started_at": None, "outcome": outcome, **changes})


def test_of_many_runs_that_are_alike_the_newest_are_kept_and_the_first() -> None:
    runs = [nightly(number) for number in range(1000)]
    kept = needed_runs(recorded(*runs), newest=300, followed=())
    assert kept == {"r0", *(f"r{number}" for number in range(700, 1000))}


def test_what_did_best_and_what_failed_last_is_kept() -> None:
    best = [nightly(number, 10.0 + number) for number in range(BEST + 5)]
    failures = [nightly(100 + number, status=RunStatus.OOM_KILLED) for number in range(FAILURES + 5)]
    kept = needed_runs(
        recorded(nightly(-1), *best, *failures, *(nightly(number) for number in range(200, 210))), newest=3, followed=()
    )
    assert {run.run_id for run in best[:BEST]} <= kept
    assert {run.run_id for run in failures[-FAILURES:]} <= kept
    assert not {run.run_id for run in best[BEST:]} & kept
    assert not {run.run_id for run in failures[1:-FAILURES]} & kept


def test_the_highest_accuracy_and_the_largest_memory_are_kept() -> None:
    accurate = nightly(1, outcome=Outcome(duration_seconds=500.0, val_accuracy=0.99))
    large = nightly(2, outcome=Outcome(duration_seconds=500.0, gpu_memory_gib=79.0))
    worse = [
        nightly(10 + number, outcome=Outcome(duration_seconds=100.0, val_accuracy=0.9, gpu_memory_gib=8)) for number in range(99)
    ]
    kept = needed_runs(recorded(nightly(0), accurate, large, *worse), newest=1, followed=())
    assert {"r1", "r2"} <= kept


def test_runs_behind_a_suggestion_that_may_be_undone_are_kept() -> None:
    runs = [*recorded(*map(nightly, range(10))), *recorded(nightly(10), followed="s1"), *recorded(*map(nightly, range(11, 50)))]
    assert "r10" in needed_runs(runs, newest=5, followed={"s1"})
    assert "r10" not in needed_runs(runs, newest=5, followed={"s2"})


def test_what_was_tried_once_is_known_as_tried() -> None:
    tried = [nightly(number, 900.0 + number, parameters={"batch_size": float(number)}) for number in range(CONFIGURATIONS + 50)]
    kept = needed_runs(recorded(*tried, *(nightly(1000 + number) for number in range(400))), newest=300, followed=())
    assert {f"r{number}" for number in range(CONFIGURATIONS)} <= kept
    assert f"r{CONFIGURATIONS + 40}" not in kept


def test_a_short_history_is_kept_whole() -> None:
    assert needed_runs([], newest=300, followed=()) == set()
    assert needed_runs(recorded(*map(nightly, range(300))), newest=300, followed=()) == {f"r{number}" for number in range(300)}
