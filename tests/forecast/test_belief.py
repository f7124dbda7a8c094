from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.forecast.belief import posterior
from jpo.records import Belief, Candidates, Draws, Identity, Outcome, Run, RunStatus, TransferredSurfaces

LN2 = math.log(2)
TWO = Candidates(("batch_size",), np.array([[32.0], [4096.0]]), 0, np.ones(2, dtype=np.bool_), np.array([0.0, 0.5]))
NOTHING = np.zeros((2, 2))
EQUAL_OR_DOUBLE = Draws(np.array([[0.0, 0.0], [0.0, LN2]]), NOTHING, NOTHING, NOTHING, np.zeros((2, 2), dtype=np.bool_))
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
    variance = 0.12**2 + 0.06**2  # one run each; the older one's age changes this by 2%
    likelihood = (1 + (LN2 / 2) ** 2 / (4 * variance)) ** -5  # Student t, nu 4, squared: exponent -(nu + 1) / 2 * 2
    assert belief.weights[0] == pytest.approx(likelihood / (1 + likelihood), rel=0.05)
    differ = likelihood / (1 + likelihood) ** 2 * LN2**2  # variance between the particles of what they say of the ratio
    share = (differ + 2 * 0.12**2) / (differ + 2 * variance)  # of what was missed; 0.8 if all particles were equal
    assert belief.log_time[0] == pytest.approx([0.0, share * LN2], rel=0.01)
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


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.DIVERGED, RunStatus.OOM_KILLED])
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
    assert (belief.runs.tolist(), np.asarray(belief.loss_runs).tolist()) == ([1, 2], [1, 1])
    assert belief.duration_seconds is None


def test_noise_is_learnt_from_repeated_runs() -> None:
    loud = [run(32, i, duration_seconds=100 * math.exp(0.2 * (-1) ** i)) for i in range(20)]
    still = [run(32, i, duration_seconds=100) for i in range(20)]
    assert posterior(EQUAL_OR_DOUBLE, TWO, loud).noise == pytest.approx(math.sqrt((4 * 0.06**2 + 20 * 0.04) / 23))
    assert posterior(EQUAL_OR_DOUBLE, TWO, still).noise < 0.03


def test_noise_of_losses_is_learnt_from_repeated_runs_whatever_is_usual() -> None:
    loud = [run(32, i, duration_seconds=100, val_loss=0.5 * math.exp(0.2 * (-1) ** i)) for i in range(20)]
    still = [run(32, i, duration_seconds=100, val_loss=0.5) for i in range(20)]
    assert posterior(EQUAL_OR_DOUBLE, TWO, loud).loss_noise == pytest.approx(math.sqrt((0.03**2 + 20 * 0.04) / 20))
    assert posterior(EQUAL_OR_DOUBLE, TWO, still).loss_noise == pytest.approx(0.03 / math.sqrt(20))


def test_when_no_particle_fits_many_still_count_and_the_share_says_so() -> None:
    rows = np.stack([np.zeros(1000), np.linspace(-1, 1, 1000)], axis=1)
    draws = Draws(rows, 0 * rows, 0 * rows, 0 * rows, np.zeros(rows.shape, dtype=np.bool_))
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
@settings(max_examples=60)
def test_any_runs_in_any_order_give_the_same_finite_belief(seconds: list[float], order: object, losses: float) -> None:
    runs = [run((32, 4096)[i % 2], i % 3, duration_seconds=s, val_loss=losses) for i, s in enumerate(seconds)]
    runs = [replace(first, run_id=str(i)) for i, first in enumerate(runs)]
    shuffled = list(runs)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    first, other = posterior(EQUAL_OR_DOUBLE, TWO, runs), posterior(EQUAL_OR_DOUBLE, TWO, shuffled)
    assert _numbers(first) == pytest.approx(_numbers(other))
    assert np.isfinite(_numbers(first)).all()
    assert first.weights.sum() == pytest.approx(1.0)
    assert (first.log_time[:, 0] == 0).all()


def _numbers(belief: Belief) -> np.ndarray:
    values = (getattr(belief, field.name) for field in fields(belief) if field.name not in ("quality", "besides"))
    return np.concatenate([np.ravel(value) for value in values if value is not None])


def test_an_untried_row_that_differs_only_in_memory_is_expected_to_take_as_long_as_its_measured_twin() -> None:
    """Particles expect memory to change nothing; that the measured row is slower than they think says nothing for its twin."""
    twins = np.array([[32.0, 16.0], [512.0, 16.0], [512.0, 32.0]])
    candidates = Candidates(("batch_size", "memory_gib"), twins, 0, np.ones(3, dtype=np.bool_), np.zeros(3))
    expected = np.log([[1.0, 0.5, 0.5], [1.0, 0.4, 0.4]])
    nothing = np.zeros((2, 3))
    draws = Draws(expected, nothing, nothing, nothing, nothing > 0)
    here, there = {"batch_size": 32.0, "memory_gib": 16.0}, {"batch_size": 512.0, "memory_gib": 16.0}
    runs = [
        replace(run(1, n), parameters=values, outcome=Outcome(duration_seconds=s))
        for n, (values, s) in enumerate([(here, 100.0), (there, 80.0), (there, 80.0)])
    ]
    log_time = posterior(draws, candidates, runs).log_time
    assert np.all(np.abs(log_time[:, 2] - log_time[:, 1]) < 0.03)
    assert np.all(log_time[:, 2] > np.log(0.6)), "both moved towards 80 s"


STOPPED = RunStatus.STOPPED


def test_a_run_stopped_after_a_known_time_is_no_failure_and_lifts_the_particles_below() -> None:
    """Today takes 100 s; a run there was still going after 400 s. The particles expect 100 s and 200 s there."""
    belief = posterior(EQUAL_OR_DOUBLE, TWO, [run(32, 1, duration_seconds=100), run(4096, 2, STOPPED, duration_seconds=400)])
    variance = 0.12**2 + 0.06**2
    likelihood = [(1 + short**2 / (4 * variance)) ** -2.5 for short in (2 * LN2, LN2)]  # Student t, nu 4, of what is missing
    assert belief.weights[0] == pytest.approx(likelihood[0] / sum(likelihood), rel=1e-3)
    differ = likelihood[0] * likelihood[1] / sum(likelihood) ** 2 * LN2**2
    share = (differ + 0.12**2) / (differ + variance)
    assert belief.log_time[:, 1] == pytest.approx([share * 2 * LN2, LN2 + share * LN2], rel=0.01)
    assert (list(belief.runs), list(belief.failures), list(belief.stopped)) == ([1, 0], [0, 0], [0, 1])
    assert list(belief.tried) == [True, True]


def test_a_run_stopped_before_the_particles_expect_it_to_end_says_nothing() -> None:
    runs = [run(32, 1, duration_seconds=100), run(4096, 2, STOPPED, duration_seconds=90)]
    belief = posterior(EQUAL_OR_DOUBLE, TWO, runs)
    assert belief.weights == pytest.approx([0.5, 0.5])
    assert belief.log_time == pytest.approx(EQUAL_OR_DOUBLE.log_time)
    assert belief.p_fail == pytest.approx([0, 0])


def test_nobody_knows_whether_a_stopped_run_would_have_failed() -> None:
    runs = [run(32, 1, duration_seconds=100), run(4096, 2, STOPPED, duration_seconds=50)]
    assert posterior(SECOND_FAILS, TWO, runs).weights == pytest.approx([0.5, 0.5])


def test_the_longest_of_several_stopped_runs_counts_and_only_once() -> None:
    first = run(32, 1, duration_seconds=100)
    once = posterior(EQUAL_OR_DOUBLE, TWO, [first, run(4096, 9, STOPPED, duration_seconds=400)])
    runs = [first, *(run(4096, at, STOPPED, duration_seconds=seconds) for at, seconds in ((2, 150), (3, 400), (4, 300)))]
    often = posterior(EQUAL_OR_DOUBLE, TWO, runs)
    assert often.weights == pytest.approx(once.weights, rel=1e-3)
    assert often.stopped[1] == 3


def test_a_stopped_run_without_a_time_counts_as_failed_and_one_before_any_duration_as_nothing() -> None:
    assert list(posterior(SECOND_FAILS, TWO, [run(4096, 1, STOPPED)]).failures) == [0, 1]
    alone = posterior(EQUAL_OR_DOUBLE, TWO, [run(4096, 1, STOPPED, duration_seconds=400)])
    assert (alone.duration_seconds, list(alone.weights)) == (None, [0.5, 0.5])


def test_measured_costs_move_the_rate_between_candidates_but_not_the_duration() -> None:
    """The row has a rate of e^.5; money says 2 e^.5 per second: ln 2 more, of which tau^2 / (tau^2 + 2 noise^2) is believed."""
    costs = [run(32, 1, duration_seconds=100, cost_usd=1), run(4096, 2, duration_seconds=100, cost_usd=2 * math.exp(0.5))]
    draws = replace(EQUAL_OR_DOUBLE, log_time=NOTHING)
    belief = posterior(draws, TWO, costs)
    assert belief.log_cost[0, 1] - belief.log_time[0, 1] == pytest.approx(0.5 + LN2 * 0.08**2 / (0.08**2 + 0.02**2), rel=0.01)
    assert belief.log_time == pytest.approx(NOTHING)


def test_energy_is_the_cost_only_where_an_hour_costs_the_same_everywhere_and_no_money_was_measured() -> None:
    flat = replace(TWO, log_rate=np.zeros(2), priced=False)
    draws = replace(EQUAL_OR_DOUBLE, log_time=NOTHING, log_power=np.array([[0.0, 0.1], [0.0, LN2]]))
    joules = [run(32, 1, duration_seconds=100, energy_joules=100), run(4096, 2, duration_seconds=100, energy_joules=200)]
    by_energy = posterior(draws, flat, joules)
    assert by_energy.weights[1] > 0.9
    assert by_energy.log_cost[1] == pytest.approx([0, LN2])
    for other in (replace(flat, priced=True), replace(flat, log_rate=np.array([0.0, 0.5]))):
        assert posterior(draws, other, joules).log_cost[:, 1] == pytest.approx([other.log_rate[1]] * 2)
    money = [replace(first, outcome=replace(first.outcome, cost_usd=3.0)) for first in joules]
    assert posterior(draws, flat, money).log_cost == pytest.approx(NOTHING)
    wanted = replace(flat, log_rate=np.array([0.0, 0.5]), by_energy=True)
    assert posterior(draws, wanted, money).log_cost[1, 1] == pytest.approx(LN2, rel=0.1), "energy, though money was measured"


def test_a_run_with_unknown_cost_says_nothing_of_the_rate() -> None:
    mixed = [run(32, 1, duration_seconds=100, cost_usd=1), run(4096, 2, duration_seconds=100)]
    assert posterior(replace(EQUAL_OR_DOUBLE, log_time=NOTHING), TWO, mixed).log_cost[:, 1] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("odds", [0.5, 0.8])
def test_recalled_surfaces_weigh_as_much_as_they_explain_the_runs(odds: float) -> None:
    """Both kinds of particles fit equally: the odds stay. Then the recalled ones miss by ln 2, and lose."""
    draws = replace(EQUAL_OR_DOUBLE, log_time=NOTHING)
    transferred = TransferredSurfaces(replace(draws, log_time=NOTHING + 0.0), odds, 0)
    runs = [run(32, 1, duration_seconds=100), run(4096, 2, duration_seconds=100)]
    fits = posterior(draws, TWO, runs, transferred)
    assert fits.weights[2:].sum() == pytest.approx(odds)
    assert len(fits.weights) == len(fits.log_time) == len(fits.fails) == 4
    double = replace(transferred, draws=replace(draws, log_time=np.array([[0, LN2], [0, LN2]])))
    variance = 0.12**2 + 0.06**2
    likelihood = odds * (1 + (LN2 / 2) ** 2 / (4 * variance)) ** -5
    misses = posterior(draws, TWO, runs, double)
    assert misses.weights[2:].sum() == pytest.approx(likelihood / (likelihood + 1 - odds), rel=0.1)


def test_without_runs_the_recalled_ones_have_their_trust_and_failures_count_against_them() -> None:
    transferred = TransferredSurfaces(EQUAL_OR_DOUBLE, 0.8, 0)
    assert posterior(SECOND_FAILS, TWO, [], transferred).weights == pytest.approx([0.1, 0.1, 0.4, 0.4])
    failed = posterior(SECOND_FAILS, TWO, [run(4096, 1, RunStatus.FAILED)], transferred)
    simulated = 0.2 * (0.05 + 0.9) / 2
    assert failed.weights[2:].sum() == pytest.approx(0.8 * 0.05 / (0.8 * 0.05 + simulated))


def test_a_stopped_run_counts_against_both_kinds_alike() -> None:
    """Equal surfaces, one of each kind: what a stopped run says must not favour the recalled ones."""
    transferred = TransferredSurfaces(EQUAL_OR_DOUBLE, 0.5, 0)
    runs = [run(32, 1, duration_seconds=100), run(4096, 2, STOPPED, duration_seconds=1000)]
    belief = posterior(EQUAL_OR_DOUBLE, TWO, runs, transferred)
    assert belief.weights[2:].sum() == pytest.approx(0.5)
    assert belief.log_time[2:, 1].mean() > LN2


def test_utilisation_of_gpus_goes_before_that_of_cpus() -> None:
    both = [run(32, 1, gpu_utilisation=0.5, cpu_utilisation=0.9), run(4096, 2, gpu_utilisation=0.5, cpu_utilisation=0.1)]
    belief = posterior(EQUAL_OR_DOUBLE, TWO, both)
    assert belief.knows_utilisation
    assert belief.log_utilisation[:, 1] == pytest.approx([0, 0])
    assert not posterior(EQUAL_OR_DOUBLE, TWO, [run(32, 1, duration_seconds=1)]).knows_utilisation


@pytest.mark.parametrize(("before", "needed"), [(5, 5), (20, 14), (200, 30)])
def test_a_jump_of_the_duration_is_followed(before: int, needed: int) -> None:
    """From 100 s to 200 s with nothing else changed: after `needed` runs the forecast is beyond the middle (141 s)."""
    runs = [run(32, at, duration_seconds=100) for at in range(before)]
    expected = []
    for at in range(before, before + needed):
        runs.append(run(32, at, duration_seconds=200))
        expected.append(posterior(EQUAL_OR_DOUBLE, TWO, runs).duration_seconds or 0)
    assert expected == sorted(expected)
    assert expected[-1] > 100 * math.sqrt(2)
