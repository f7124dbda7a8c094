from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.optimizer.before_and_after import Sides
from jpo.plugins.page.savings import Saved, saved_by_run, saved_of, savings, together
from jpo.records import Forecast, Identity, Interval, Outcome, Run, RunStatus

JOB = Identity("d", "m", "f")
T95 = {2: 2.920, 3: 2.353}
"""The 95% quantile of Student's t by degrees of freedom, from a table."""


def run(seconds: float | None, status: RunStatus = RunStatus.SUCCEEDED, at: float = 1000.0) -> Run:
    return Run(f"r{at}", JOB, {"gpus": 2.0}, status, at, at + 1, Outcome(duration_seconds=seconds), "csv")


def test_savings_without_failures_are_those_of_a_sum_of_new_values() -> None:
    sides = Sides(0.0, (run(100), run(110), run(120)), (run(80), run(90)))
    saved = saved_of("duration_seconds", sides, Prices())
    half = T95[2] * math.sqrt(100 * 2 * (1 + 2 / 3))
    assert saved == replace(saved, each_before=110.0, runs_before=3, runs_after=2, well_after=2, spent=170.0)
    assert saved.saved is not None
    assert saved.saved.mean == pytest.approx(2 * 110 - 170)
    assert saved.saved.high - saved.saved.mean == pytest.approx(half, rel=0.005)
    assert saved.saved.mean - saved.saved.low == pytest.approx(half, rel=0.005)


def test_what_failed_runs_took_belongs_to_the_next_result() -> None:
    failed = run(50, RunStatus.FAILED)
    before = saved_of("duration_seconds", Sides(0.0, (run(100), run(100), failed), (run(100),)), Prices())
    assert before.each_before == 125.0
    assert before.saved is not None
    assert before.saved.mean == pytest.approx(25.0)
    after = saved_of("duration_seconds", Sides(0.0, (run(100), run(100), run(100)), (run(100), failed)), Prices())
    assert after.saved == Interval(pytest.approx(-50.0), pytest.approx(-50.0), pytest.approx(-50.0))


def test_runs_without_a_measurement_count_on_neither_side() -> None:
    plain = Sides(0.0, (run(100), run(110), run(120)), (run(80),))
    counted = saved_of("duration_seconds", Sides(0.0, (*plain.before, run(None)), (*plain.after, run(None))), Prices())
    assert counted == replace(saved_of("duration_seconds", plain, Prices()), uncounted=2)


def test_a_run_that_was_stopped_before_the_first_change_does_not_make_the_old_values_look_slow() -> None:
    plain = Sides(0.0, (run(100), run(110), run(120)), (run(80),))
    with_stop = Sides(0.0, (*plain.before, run(90, RunStatus.STOPPED)), plain.after)
    assert saved_of("duration_seconds", with_stop, Prices()) == replace(
        saved_of("duration_seconds", plain, Prices()), uncounted=1
    )


@pytest.mark.parametrize("status", [RunStatus.STOPPED, RunStatus.FAILED, RunStatus.OOM_KILLED, RunStatus.DIVERGED])
def test_a_run_that_brought_no_model_is_charged_whatever_ended_it(status: RunStatus) -> None:
    """Three nights of 100 s saved 20 s each, and a fourth took 60 s for nothing."""
    sides = Sides(0.0, (run(100),) * 3, (*[run(80)] * 3, run(60, status)))
    saved = saved_of("duration_seconds", sides, Prices())
    assert saved.saved is not None
    assert saved.saved.mean == pytest.approx(0.0)


@pytest.mark.parametrize(
    "sides",
    [
        Sides(0.0, (run(100), run(100)), (run(50),)),
        Sides(None, (run(100),) * 5, ()),
        Sides(0.0, (run(9, RunStatus.FAILED),) * 5, (run(9),)),
    ],
)
def test_too_few_runs_are_unknown_and_not_zero(sides: Sides) -> None:
    assert saved_of("duration_seconds", sides, Prices()).saved is None


def test_a_forecast_stands_in_for_too_few_runs_and_may_be_wrong_of_all_in_the_same_way() -> None:
    after = (run(50), run(60), run(20, RunStatus.FAILED))
    expected = Forecast(Interval(100, 80, 130))
    saved = saved_of("duration_seconds", Sides(0.0, (run(90),), after, expected=expected), Prices())
    assert (saved.basis, saved.each_before, saved.runs_before) == ("forecast", 100, 1)
    assert saved.saved == Interval(2 * 100 - 130, 2 * 80 - 130, 2 * 130 - 130)
    measured = saved_of("duration_seconds", Sides(0.0, (run(90),) * 3, after, expected=expected), Prices())
    assert (measured.basis, measured.each_before) == ("runs", 90)
    assert saved_of("duration_seconds", Sides(0.0, (), (), expected=expected), Prices()).saved is None


def test_money_needs_prices() -> None:
    sides = Sides(0.0, (run(3600), run(3600), run(3600)), (run(1800),))
    assert [one.saved is None for one in savings(sides, Prices())] == [False, True]
    _, money = savings(sides, Prices(usd_per_gpu_hour=3.0))
    assert money.each_before == 6.0
    assert money.saved is not None
    assert money.saved.mean == pytest.approx(3.0)


def test_what_each_run_saved_adds_up_to_what_all_did() -> None:
    sides = Sides(
        0.0, (run(100), run(110), run(120)), (run(80, at=2000.0), run(60, RunStatus.STOPPED, 3000.0), run(90, at=4000.0))
    )
    saved = saved_of("duration_seconds", sides, Prices())
    by_run = saved_by_run(saved, sides, Prices())
    assert [at for at, _ in by_run] == [2001.0, 3001.0, 4001.0]
    assert saved.saved is not None
    assert sum(seconds for _, seconds in by_run) == pytest.approx(saved.saved.mean)


def test_several_workloads_save_together_with_the_root_of_their_squares() -> None:
    one, other, unknown = (
        Saved("cost_usd", 1.0, 3, 1, 1, 0.0, saved) for saved in (Interval(10, 7, 13), Interval(20, 16, 24), None)
    )
    assert together([one, other, unknown]) == Interval(30, 25, 35)
    assert together([unknown]) is None
