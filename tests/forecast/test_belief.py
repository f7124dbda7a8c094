from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.forecast import posterior
from jpo.records import Belief, Candidates, Draws, Identity, Outcome, Run, RunStatus

LN2 = math.log(2)
TWO = Candidates(("batch_size",), np.array([[32.0], [4096.0]]), 0, np.ones(2, dtype=np.bool_), np.array([0.0, 0.5]))
NOTHING = np.zeros((2, 2))
EQUAL_OR_DOUBLE = Draws(np.array([[0.0, 0.0], [0.0, LN2]]), NOTHING, NOTHING, np.zeros((2, 2), dtype=np.bool_))
SECOND_FAILS = replace(EQUAL_OR_DOUBLE, log_time=NOTHING, fails=np.array([[False, False], [False, True]]))


def run(batch_size: float | None, at: float, status: RunStatus = RunStatus.SUCCEEDED, **outcome: float | bool) -> Run:
    parameters = {} if batch_size is None else {"batch_size": batch_size}
    measured = Outcome(**outcome)  # type: ignore[arg-type]
    return Run(f"run-{at}", Identity("d", "m", "f"), parameters, status, None, at, measured, "csv")


def test_without_runs_the_belief_is_the_prior() -> None:
    belief = posterior(EQUAL_OR_DOUBLE, TWO, [])
    assert belief.weights == pytest.approx([0.5, 0.5])
    assert belief.log_time == pytest.approx(EQUAL_OR_DOUBLE.log_time)
    assert belief.log_cost[1] == pytest.approx([0.0, LN2 + 0.5])
    assert (belief.duration_seconds, belief.val_loss, belief.effective_share) == (None, None, 1.0)


def test_weights_and_moves_by_hand() -> None:
    """Runs of 100 s and, just before, 200 s: the second particle explains both, the first misses each by half of ln 2."""
    belief = posterior(EQUAL_OR_DOUBLE, TWO, [run(4096, 1, duration_seconds=200), run(32, 2, duration_seconds=100)])
    variance = 0.12**2 + 0.06**2  # one run each; the older one's age changes this by 2 %
    likelihood = (1 + (LN2 / 2) ** 2 / (4 * variance)) ** -5  # Student t, nu 4, squared: exponent -(nu + 1) / 2 * 2
    assert belief.weights[0] == pytest.approx(likelihood / (1 + likelihood), rel=0.05)
    assert belief.log_time[0] == pytest.approx([0.0, 0.8 * LN2], rel=0.01)  # tau^2 / variance = 0.8 of what was missed
    assert belief.log_time[1] == pytest.approx([0.0, LN2], rel=0.01)
    assert belief.duration_seconds == pytest.approx(100, rel=0.01)
    assert list(belief.runs) == [1, 1]


def test_what_zero_means_follows_the_move() -> None:
    """Both particles expect 100 s and 200 s to be equal: level 141 s, of which .8 of the way to 100 s is gone."""
    draws = replace(EQUAL_OR_DOUBLE, log_time=NOTHING)
    belief = posterior(draws, TWO, [run(4096, 1, duration_seconds=200), run(32, 2, duration_seconds=100)])
    assert belief.duration_seconds == pytest.approx(100 * 2 ** (0.5 - 0.8 / 2), rel=0.01)


def test_the_level_is_known_without_a_run_of_today() -> None:
    belief = posterior(EQUAL_OR_DOUBLE, TWO, [run(4096, 1, duration_seconds=200)])
    assert belief.weights == pytest.approx([0.5, 0.5])  # one duration says nothing about ratios
    assert belief.duration_seconds == pytest.approx(math.sqrt(200 * 100))
    assert list(belief.runs) == [0, 1]


def test_repeated_runs_average_and_are_trusted_more() -> None:
    once = [run(32, 0, duration_seconds=100), run(4096, 1, duration_seconds=150)]
    often = [run(32, 0, duration_seconds=100)] + [run(4096, i, duration_seconds=150) for i in range(1, 6)]
    truth = math.log(1.5)
    errors = [abs(posterior(EQUAL_OR_DOUBLE, TWO, runs).log_time[:, 1] - truth).max() for runs in (once, often)]
    assert errors[1] < errors[0] < 0.1


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.DIVERGED, RunStatus.OOM_KILLED, RunStatus.STOPPED])
def test_failures_favour_the_particles_that_fail(status: RunStatus) -> None:
    belief = posterior(SECOND_FAILS, TWO, [run(4096, 1, status, duration_seconds=5)])
    assert belief.weights[1] == pytest.approx(0.9 / (0.9 + 0.05))
    assert belief.p_fail[1] == pytest.approx((0.9 / 0.95 + 1) / 2)
    assert belief.duration_seconds is None
    assert (list(belief.runs), list(belief.failures)) == ([0, 0], [0, 1])


def test_success_favours_the_particles_that_pass() -> None:
    belief = posterior(SECOND_FAILS, TWO, [run(4096, 1, duration_seconds=5)])
    assert belief.weights[1] == pytest.approx(0.1 / (0.1 + 0.95))
    assert belief.p_fail[1] < 0.05


def test_a_run_that_missed_its_target_counts_as_failed() -> None:
    belief = posterior(SECOND_FAILS, TWO, [run(4096, 1, duration_seconds=5, converged=False)])
    assert list(belief.failures) == [0, 1]


def test_runs_elsewhere_are_ignored_and_missing_parameters_are_todays() -> None:
    belief = posterior(EQUAL_OR_DOUBLE, TWO, [run(48, 1, duration_seconds=7), run(None, 2, duration_seconds=100)])
    assert list(belief.runs) == [1, 0]
    assert belief.duration_seconds == pytest.approx(100)


def test_losses_weigh_particles_and_only_positive_ones_count() -> None:
    draws = replace(EQUAL_OR_DOUBLE, log_time=NOTHING, log_loss=np.array([[0.0, 0.0], [0.0, LN2]]))
    belief = posterior(draws, TWO, [run(32, 1, val_loss=0.5), run(4096, 2, val_loss=1.0), run(4096, 3, val_loss=-4.0)])
    assert belief.weights[1] > 0.95
    assert belief.val_loss == pytest.approx(0.5, rel=0.02)
    assert belief.duration_seconds is None


def test_noise_is_learnt_from_repeated_runs() -> None:
    loud = [run(32, i, duration_seconds=100 * math.exp(0.2 * (-1) ** i)) for i in range(20)]
    still = [run(32, i, duration_seconds=100) for i in range(20)]
    assert posterior(EQUAL_OR_DOUBLE, TWO, loud).noise == pytest.approx(math.sqrt((4 * 0.06**2 + 20 * 0.04) / 23))
    assert posterior(EQUAL_OR_DOUBLE, TWO, still).noise < 0.03


def test_when_no_particle_fits_many_still_count_and_the_share_says_so() -> None:
    rows = np.stack([np.zeros(1000), np.linspace(-1, 1, 1000)], axis=1)
    draws = Draws(rows, 0 * rows, 0 * rows, np.zeros(rows.shape, dtype=np.bool_))
    runs = [run(32, i, duration_seconds=100) for i in range(40)] + [run(4096, 50 + i, duration_seconds=1e4) for i in range(40)]
    fails = replace(draws, fails=np.arange(2000).reshape(1000, 2) == 1)  # one particle fails at 4096, none else
    belief = posterior(fails, TWO, [*runs, *(run(4096, 100 + i, RunStatus.FAILED) for i in range(20))])
    assert belief.effective_share < 0.01
    assert 1 / np.sum(belief.weights**2) >= 0.05 * 1000


@given(
    seconds=st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=6),
    order=st.randoms(use_true_random=False),
    losses=st.floats(-1e9, 1e9),
)
@settings(max_examples=60, deadline=None)
def test_any_runs_in_any_order_give_the_same_finite_belief(seconds: list[float], order: object, losses: float) -> None:
    runs = [run((32, 4096)[i % 2], i % 3, duration_seconds=s, val_loss=losses) for i, s in enumerate(seconds)]
    runs = [replace(one, run_id=str(i)) for i, one in enumerate(runs)]
    shuffled = list(runs)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = posterior(EQUAL_OR_DOUBLE, TWO, runs), posterior(EQUAL_OR_DOUBLE, TWO, shuffled)
    assert _numbers(one) == pytest.approx(_numbers(other))
    assert np.isfinite(_numbers(one)).all()
    assert one.weights.sum() == pytest.approx(1.0)
    assert (one.log_time[:, 0] == 0).all()


def _numbers(belief: Belief) -> np.ndarray:
    values = (getattr(belief, field.name) for field in fields(belief))
    return np.concatenate([np.ravel(value) for value in values if value is not None])


def test_an_untried_row_that_differs_only_in_memory_is_expected_to_take_as_long_as_its_measured_twin() -> None:
    """Particles expect memory to change nothing; that the measured row is slower than they think says nothing for its twin."""
    twins = np.array([[32.0, 16.0], [512.0, 16.0], [512.0, 32.0]])
    candidates = Candidates(("batch_size", "memory_gib"), twins, 0, np.ones(3, dtype=np.bool_), np.zeros(3))
    expected = np.log([[1.0, 0.5, 0.5], [1.0, 0.4, 0.4]])
    draws = Draws(expected, np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3), dtype=np.bool_))
    here, there = {"batch_size": 32.0, "memory_gib": 16.0}, {"batch_size": 512.0, "memory_gib": 16.0}
    runs = [
        replace(run(1, n), parameters=values, outcome=Outcome(duration_seconds=s))
        for n, (values, s) in enumerate([(here, 100.0), (there, 80.0), (there, 80.0)])
    ]
    log_time = posterior(draws, candidates, runs).log_time
    assert np.all(np.abs(log_time[:, 2] - log_time[:, 1]) < 0.03)
    assert np.all(log_time[:, 2] > np.log(0.6)), "both moved towards 80 s"
