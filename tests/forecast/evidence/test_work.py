from __future__ import annotations

import pytest

from jpo.forecast.evidence.work import Work, samples_of, samples_per_epoch, usual_samples_per_epoch, work_of
from jpo.records import Identity, Outcome, Run, RunStatus


def run(at: int, samples: float | None, batch: float = 32, *, status: RunStatus = RunStatus.SUCCEEDED, **known: float) -> Run:
    parameters = {
        "batch_size": batch,
        **{name: value for name, value in known.items() if name in ("epochs", "learning_rate", "gpus")},
    }
    outcome = Outcome(samples=samples, **{name: value for name, value in known.items() if name not in parameters})
    return Run(str(at), Identity("d", "m", "f"), parameters, status, None, float(at), outcome, "csv")


def test_samples_are_as_reported_or_from_throughput_and_duration() -> None:
    assert samples_of(run(0, 500.0, duration_seconds=10, throughput_samples_per_second=7)) == 500
    assert samples_of(run(0, None, duration_seconds=10, throughput_samples_per_second=7)) == 70
    assert samples_of(run(0, None, duration_seconds=10)) is None
    assert samples_per_epoch(run(0, 500.0, epochs=5)) == 100
    assert samples_per_epoch(run(0, 500.0)) == 500


def test_the_same_work_with_other_values_is_fixed() -> None:
    assert work_of([run(0, 1000.0), run(1, 1020.0, 64), run(2, 990.0, learning_rate=0.1)]) is Work.FIXED


def test_samples_that_follow_the_epochs_are_fixed() -> None:
    runs = [run(at, 1000.0 * epochs, epochs=epochs) for at, epochs in enumerate((5, 10, 20))]
    assert work_of(runs) is Work.FIXED
    assert usual_samples_per_epoch(runs, {"epochs": 5}) == 1000


def test_one_configuration_must_do_exactly_the_same() -> None:
    assert work_of([run(at, 1000.0) for at in range(3)]) is Work.FIXED
    assert work_of([run(at, 1000.0 + 40 * at) for at in range(3)]) is Work.UNKNOWN
    assert work_of([run(at, 1000.0 + 40 * at, gpus=1.0 + at) for at in range(3)]) is Work.UNKNOWN  # GPUs learn nothing else


def test_two_runs_or_other_lengths_say_nothing() -> None:
    assert work_of([run(0, 1000.0), run(1, 1000.0, 64)]) is Work.UNKNOWN
    assert work_of([run(0, 1000.0), run(1, 1500.0, 64), run(2, 1000.0)]) is Work.UNKNOWN
    assert work_of([run(at, None) for at in range(5)]) is Work.UNKNOWN
    assert work_of([]) is Work.UNKNOWN


def test_failed_runs_may_be_as_short_as_they_like() -> None:
    failed = run(9, 10.0, 128, status=RunStatus.OOM_KILLED)
    assert work_of([run(0, 1000.0), run(1, 1000.0, 64), run(2, 1000.0), failed]) is Work.FIXED


@pytest.mark.parametrize("converged", [True, False])
def test_a_run_that_reports_its_target_has_one(converged: bool) -> None:
    assert work_of([run(at, 1000.0, converged=converged) for at in range(3)]) is Work.TO_TARGET


def test_a_run_that_finished_just_its_epochs_is_enough() -> None:
    assert work_of([run(0, None, epochs=12)]) is Work.UNKNOWN, "nobody counted them"
    assert work_of([counted(12)]) is Work.FIXED
    assert work_of([counted(12), counted(7)]) is Work.UNKNOWN, "one stopped early by itself"
    assert work_of([counted(12), counted(7, RunStatus.FAILED)]) is Work.FIXED


def counted(finished: float, status: RunStatus = RunStatus.SUCCEEDED) -> Run:
    return Run("r", Identity("d", "m", "f"), {"epochs": 12.0}, status, None, 0.0, Outcome(epochs=finished), "csv")
