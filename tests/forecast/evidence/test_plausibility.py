"""One absurd run must change neither the advice nor what is forecast of today's values, whatever is absurd about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.cost import Prices
from jpo.forecast.evidence.plausibility import CODE, plausible
from jpo.optimizer.advise import Advice, advise
from jpo.records import Forecast, Identity, Known, Outcome, Preference, Run, RunStatus
from tests.asked import a_request

NOW = {"batch_size": 64.0, "learning_rate": 0.01}
USUAL: Mapping[str, float] = {
    "duration_seconds": 600.0,
    "val_loss": 0.4,
    "samples": 60_000.0,
    "throughput_samples_per_second": 100.0,
    "memory_gib": 6.0,
    "gpu_memory_gib": 10.0,
    "energy_joules": 150_000.0,
}
ABSURD = (
    *(("duration_seconds", value) for value in (1e-9, 1e12, 600e3, 5e-324, 1e308)),
    *(("val_loss", value) for value in (1.7e308, 1e-300, 5e-324, -1e300, 0.4e3, 0.4e-3)),
    *(("samples", value) for value in (1e300, 60e6)),
    *(("throughput_samples_per_second", value) for value in (1e300, 1e-300, 100e3, 0.1)),
    *(("memory_gib", value) for value in (1e300, 6e3)),
    *(("gpu_memory_gib", value) for value in (1e300, 10e3)),
    *(("energy_joules", value) for value in (1e300, 150e6)),
    *((name, value) for name in ("batch_size", "learning_rate") for value in (1e308, 1e-300, -5e-324)),
)
"""A counter that starts anew, an overflow, a denormal, milliseconds for seconds, MiB for GiB, a parameter nobody can have set."""


def a_run(at: int, changes: Mapping[str, float] | None = None, status: RunStatus = RunStatus.SUCCEEDED, **more: float) -> Run:
    values = {**USUAL, **(changes or {}), **more}
    parameters = {name: values.pop(name, value) for name, value in NOW.items()}
    outcome = Outcome(**{name: value for name, value in values.items() if not math.isnan(value)})
    return Run(f"r{at}", Identity("d", "m", "f"), parameters, status, None, float(at), outcome, "csv")


def advice(runs: list[Run]) -> Advice:
    request = a_request(NOW, ("batch_size", "learning_rate"), admissible, Preference(), Prices(usd_per_gpu_hour=2.0))
    return advise(request, Known(plausible(runs)[0]), None, seed=0)


def admissible(_now: Mapping[str, float], then: Mapping[str, float]) -> bool:
    return 16 <= then["batch_size"] <= 512 and 1e-4 <= then["learning_rate"] <= 0.1


@pytest.mark.parametrize(("name", "value"), ABSURD)
def test_an_absurd_value_is_left_out_named_and_nothing_else_of_the_run(name: str, value: float) -> None:
    runs = [a_run(at, duration_seconds=600.0 + at, batch_size=64.0 if at % 2 else 128.0) for at in range(6)]
    believed, doubted = plausible([*runs, a_run(9, {name: value})])
    assert believed[:6] == tuple(runs)
    assert [skipped.run_id for skipped in doubted] == ["r9"]
    assert doubted[0].reason.startswith("implausible: ")
    assert CODE in doubted[0].reason
    if name in NOW:
        assert len(believed) == 6  # nobody knows what was run
    else:
        assert getattr(believed[6].outcome, name) is None
        assert believed[6].outcome.memory_gib == (None if name == "memory_gib" else USUAL["memory_gib"])


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([32.0, 64.0, 128.0]), st.sampled_from([0.003, 0.01, 0.03]), st.floats(-1, 1), st.floats(-0.5, 0.5)
        ),
        min_size=3,
        max_size=9,
    ),
    st.sampled_from(ABSURD),
)
def test_one_absurd_run_changes_no_advice(history: list[tuple[float, float, float, float]], absurd: tuple[str, float]) -> None:
    """As if it had not been measured: the run as a whole where nobody knows what was run, else that value alone."""
    runs = [a_run(at, duration_seconds=600 + at) for at in range(2)]
    for at, (batch, rate, slower, worse) in enumerate(history, start=2):
        values = {"duration_seconds": 600 * math.exp(slower), "val_loss": 0.4 * math.exp(worse)}
        runs.append(a_run(at, values, batch_size=batch, learning_rate=rate))
    name, value = absurd
    silent = {name: math.nan} | (
        {"samples": math.nan, "throughput_samples_per_second": math.nan} if name == "duration_seconds" else {}
    )
    unmeasured = runs if name in NOW else [*runs, a_run(20, silent)]
    before, after = (
        advice(unmeasured),
        advice([*runs, a_run(20, {name: value, **{k: v for k, v in silent.items() if k != name}})]),
    )
    assert after.suggested == before.suggested
    near(before.now, after.now)


def near(some: Forecast, other: Forecast) -> None:
    for name in ("duration_seconds", "val_loss", "memory_gib", "throughput_samples_per_second"):
        one, two = getattr(some, name), getattr(other, name)
        assert (one is None) == (two is None)
        if one and two:
            assert two.mean == pytest.approx(one.mean, rel=0.02)


@pytest.mark.parametrize("size", [3.0, 8.0, 20.0])
def test_one_odd_repeat_hardly_moves_the_present_value(size: float) -> None:
    """Too small to be absurd: it counts as if it were at the edge of the others."""
    runs = [a_run(at, duration_seconds=600.0 + 10 * at) for at in range(5)]
    usual, odd = (advice(some).now.duration_seconds for some in (runs, [*runs, a_run(9, duration_seconds=600 * size)]))
    assert usual
    assert odd
    assert odd.mean == pytest.approx(usual.mean, rel=0.05)


def test_what_others_confirm_is_a_change_of_the_job() -> None:
    before = [a_run(at) for at in range(4)]
    after = [a_run(10 + at, duration_seconds=600e3, samples=6e7) for at in range(3)]
    assert plausible([*before, *after])[1] == ()
    assert plausible([*before, *after[:1]])[1]


def test_of_two_runs_either_may_be_right() -> None:
    assert plausible([a_run(0), a_run(1, duration_seconds=600e3)])[1] == ()


def test_of_two_repeats_the_one_that_no_other_run_is_like_is_doubted() -> None:
    runs = [a_run(0), a_run(1, duration_seconds=600e3), a_run(2, batch_size=128.0, duration_seconds=500.0)]
    assert [skipped.run_id for skipped in plausible(runs)[1]] == ["r1"]


def test_what_failed_may_be_short_but_not_endless() -> None:
    runs = [a_run(at) for at in range(3)]
    assert plausible([*runs, a_run(9, status=RunStatus.FAILED, duration_seconds=0.5, samples=1.0)])[1] == ()
    assert plausible([*runs, a_run(9, status=RunStatus.STOPPED, duration_seconds=600e3)])[1]


def test_a_loss_may_explode_with_another_rate() -> None:
    runs = [a_run(at) for at in range(3)]
    assert plausible([*runs, a_run(9, learning_rate=0.1, val_loss=5000.0)])[1] == ()
    assert plausible([*runs, a_run(9, learning_rate=0.1, val_loss=1e-4)])[1]


def test_zeros_pass_as_not_measured_and_negative_losses_are_losses() -> None:
    runs = [a_run(at, val_loss=-3.0 - at) for at in range(3)]
    assert plausible([*runs, a_run(9, duration_seconds=0.0, val_loss=0.0, memory_gib=0.0)])[1] == ()


def test_nothing_doubted_is_nothing_changed() -> None:
    runs = [a_run(at, duration_seconds=600.0 * 2**at) for at in range(6)]
    believed, doubted = plausible(runs)
    assert believed == tuple(runs)
    assert not doubted
    assert plausible([]) == ((), ())


def test_utilisation_goes_with_the_duration_it_was_worked_out_from() -> None:
    runs = [a_run(at) for at in range(4)]
    absurd = replace(a_run(9, duration_seconds=1e12), outcome=Outcome(duration_seconds=1e12, cpu_utilisation=0.0, cost_usd=1e5))
    kept = plausible([*runs, absurd])[0][-1].outcome
    assert (kept.cpu_utilisation, kept.cost_usd, kept.duration_seconds) == (None, None, None)
