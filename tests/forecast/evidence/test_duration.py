from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.forecast.belief import posterior
from jpo.forecast.evidence.duration import groups_of, log_epochs, measured_durations, noise_of, seconds_of
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import CandidateRun, runs_at_candidates
from jpo.forecast.predict import predict
from jpo.records import Belief, Candidates, Draws, Identity, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs

NAMES = ("batch_size", "learning_rate", "epochs")
GRID = np.array([[b, rate, e] for b in (32.0, 64.0, 128.0) for rate in (0.003, 0.01, 0.03) for e in (10.0, 20.0)])
CANDIDATES = Candidates(NAMES, GRID, 7, np.ones(18, dtype=np.bool_), np.zeros(18))
DATA = 1000.0


def run(at: int, row: int, seconds: float, status: RunStatus = RunStatus.SUCCEEDED, **known: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, **known)
    return Run(str(at), Identity("d", "m", "f"), CANDIDATES.parameters(row), status, None, float(at), outcome, "csv")


def fixed(at: int, row: int, pace: float = 0.1, val_loss: float = 0.5) -> Run:
    samples = DATA * CANDIDATES.values[row, 2]
    return run(at, row, pace * samples, samples=samples, val_loss=val_loss)


def draws(seed: int = 0) -> Draws:
    return draw_jobs(CANDIDATES, 500, np.random.default_rng(seed))


def seconds(belief: Belief, row: int) -> float:
    interval = predict(belief, row, usd_per_hour=None).duration_seconds
    assert interval
    return interval.mean


def test_groups_differ_in_more_than_the_rate_and_today_stands_for_its_own() -> None:
    groups = groups_of(CANDIDATES, Work.FIXED)
    assert len(groups.first) == 6
    assert groups.first[groups.of[CANDIDATES.current]] == CANDIDATES.current
    assert [GRID[groups.first[groups.of[row]], 0] for row in range(18)] == list(GRID[:, 0])
    assert groups_of(CANDIDATES, Work.UNKNOWN).single


def test_epochs_are_relative_to_todays() -> None:
    assert sorted(set(np.exp(log_epochs(CANDIDATES)).round(9))) == [0.5, 1.0]
    assert not log_epochs(Candidates(("cpus",), np.ones((2, 1)), 0, np.ones(2, dtype=np.bool_), np.zeros(2))).any()


def test_the_rate_moves_the_loss_and_never_the_duration_of_a_job_of_fixed_epochs() -> None:
    runs = [fixed(0, 7, 0.10, 0.5), fixed(1, 7, 0.11, 0.5), fixed(2, 9, 0.12, 0.4), fixed(3, 13, 0.08, 0.6)]
    belief = posterior(draws(), CANDIDATES, runs)
    for same in ((6, 8, 10), (7, 9, 11), (0, 2, 4)):
        assert len({round(seconds(belief, row), 6) for row in same}) == 1
        assert len({float(belief.weights @ belief.log_loss[:, row]) for row in same}) == 3
    assert belief.time_runs is not None
    assert list(belief.time_runs[[7, 9, 11, 13]]) == [3, 3, 3, 1]


def test_the_epochs_of_such_a_job_do() -> None:
    runs = [fixed(at, row) for at, row in enumerate((7, 7, 9, 13))]
    belief = posterior(draws(), CANDIDATES, runs)
    assert seconds(belief, 6) == pytest.approx(seconds(belief, 7) / 2, rel=0.25)  # starting up takes its share


def test_runs_that_do_not_report_their_epochs_took_what_they_took() -> None:
    runs = [fixed(at, row) for at, row in enumerate((7, 7, 9, 13))]
    silent = [replace(each, parameters={n: v for n, v in each.parameters.items() if n != "epochs"}) for each in runs]
    told, untold = posterior(draws(), CANDIDATES, runs), posterior(draws(), CANDIDATES, silent)
    assert seconds(untold, 7) == pytest.approx(seconds(told, 7))


def test_epochs_that_config_ini_does_not_name_do_not_count() -> None:
    without = Candidates(NAMES[:2], GRID[1::2, :2], 3, np.ones(9, dtype=np.bool_), np.zeros(9))
    belief = posterior(draw_jobs(without, 500, np.random.default_rng(0)), without, [fixed(at, 7) for at in range(3)])
    assert seconds(belief, 3) == pytest.approx(0.1 * DATA * 20, rel=0.05)


def test_a_run_that_failed_late_says_how_fast_it_was() -> None:
    runs = [fixed(at, row) for at, row in enumerate((7, 7, 9, 8))]
    slow = run(9, 13, 3000.0, RunStatus.FAILED, samples=15_000.0)  # twice the pace, after three quarters
    quick = run(9, 13, 300.0, RunStatus.FAILED, samples=1_500.0)  # after a tenth it was still busy with starting
    none, late, early = (seconds(posterior(draws(), CANDIDATES, [*runs, *more]), 13) for more in ([], [slow], [quick]))
    assert late == pytest.approx(4000, rel=0.2)
    assert none < 0.75 * late
    assert early == pytest.approx(none, rel=0.1)


def test_samples_tell_speed_from_progress_where_a_target_ends_the_run() -> None:
    """Twice the samples at the same speed: another rate then does not run faster than its samples say."""
    target = {"converged": True}
    runs = [run(0, 7, 1000.0, samples=10_000.0, **target), run(1, 9, 2000.0, samples=20_000.0, **target)]
    candidate_runs = runs_at_candidates(CANDIDATES, runs)
    measured = measured_durations(CANDIDATES, candidate_runs, Work.TO_TARGET)
    particles = measured.adjusted(draws())
    assert np.exp(np.median(particles.log[:, 9])) == pytest.approx(2, rel=0.15)
    assert np.exp(np.median(particles.level)) == pytest.approx(1000, rel=0.1)


def test_untold_samples_leave_the_duration_its_own_evidence() -> None:
    runs = [run(0, 7, 1000.0, samples=10_000.0), run(1, 9, 2000.0)]
    belief = posterior(draws(), CANDIDATES, runs)
    assert seconds(belief, 9) == pytest.approx(2000, rel=0.2)
    assert belief.time_runs is None


def test_a_stopped_run_without_samples_is_a_lower_bound_of_fixed_work() -> None:
    runs = [fixed(at, row) for at, row in enumerate((7, 7, 9))]
    stopped = run(5, 13, 8000.0, RunStatus.STOPPED)
    before, after = (seconds(posterior(draws(), CANDIDATES, some), 13) for some in (runs, [*runs, stopped]))
    assert after > 2 * before


def test_what_fails_over_and_over_does_not_outvote_what_ended_well() -> None:
    well = [fixed(at, row) for at, row in enumerate((7, 7, 9, 13))]
    failed = [run(9 + at, 13, 4000.0, RunStatus.FAILED, samples=16_000.0) for at in range(6)]
    among = posterior(draws(), CANDIDATES, [*well, *failed])
    assert seconds(among, 13) == pytest.approx(seconds(posterior(draws(), CANDIDATES, well), 13), rel=0.1)


def test_a_trial_that_was_stopped_far_from_its_target_says_how_long_it_would_have_taken() -> None:
    """It had a tenth of the usual samples; with four times the error at the target its values are slow, with 1.1 times they may
    be fast."""
    well = [
        run(at, 7, 100 + at, samples=1000.0 * (100 + at), val_loss=0.1, loss_slope=-0.7, epochs=20, converged=1)
        for at in range(3)
    ]

    def then(error: float) -> float:
        stopped = run(9, 13, 10.0, RunStatus.STOPPED, samples=10_000.0, val_loss=error, epochs=2, converged=0)
        return seconds(posterior(draws(), CANDIDATES, [*well, stopped]), 13)

    assert then(0.4) > 1.3 * then(0.11)


def test_a_run_that_missed_its_target_is_the_beginning_of_a_longer_one() -> None:
    """It took a fifth of the time of those that reached it, without coming near; that it failed alone says less."""
    well = [
        run(at, 7, 100 + at, samples=1000.0 * (100 + at), val_loss=0.1, loss_slope=-0.7, epochs=20, converged=1)
        for at in range(3)
    ]
    missed = run(9, 13, 20.0, samples=20_000.0, val_loss=0.4, epochs=20, converged=0)
    failed = replace(missed, status=RunStatus.FAILED)
    longer, fails = (posterior(draws(), CANDIDATES, [*well, each]) for each in (missed, failed))
    assert seconds(longer, 13) > 1.05 * seconds(fails, 13) > 100.0
    assert (longer.runs[13], longer.failures[13]) == (0, 1)


def test_the_noise_is_that_of_all_equal_runs_and_not_of_the_lucky_ones() -> None:
    """Sixty runs that differ by a factor of e^0.4, cut off where a third of them had not ended."""
    took = np.exp(0.4 * np.random.default_rng(0).standard_normal(60))
    cut = float(np.quantile(took, 2 / 3))
    well = [CandidateRun(7, run(at, 7, each), 1.0) for at, each in enumerate(took) if each < cut]
    longer = [CandidateRun(7, run(at, 7, cut, converged=0), 1.0) for at, each in enumerate(took) if each >= cut]
    assert noise_of(well, seconds_of) < 0.3
    assert noise_of(well, seconds_of, longer=longer) == pytest.approx(float(np.std(np.log(took))), abs=0.04)
    assert noise_of(well, seconds_of, longer=[CandidateRun(6, longer[0].run, 1.0)]) == noise_of(well, seconds_of)


def test_what_was_stopped_long_before_the_others_ended_says_nothing_of_the_noise() -> None:
    well = [CandidateRun(7, run(at, 7, each), 1.0) for at, each in enumerate((100.0, 104.0, 108.0))]
    early = CandidateRun(7, run(9, 7, 10.0, converged=0), 1.0)
    assert noise_of(well, seconds_of, longer=[early]) == pytest.approx(noise_of(well, seconds_of), rel=0.05)


@pytest.mark.parametrize("known", [{}, {"samples": 1000.0, "epochs": 1, "val_loss": 0.5}])
def test_who_was_stopped_in_an_early_epoch_that_took_several_times_as_long_was_slow(known: dict[str, float]) -> None:
    """The others needed 20 epochs of 5 s each; it was stopped after 60 s, in its first or its second."""
    well = [run(at, 7, 100 + at, samples=20_000.0, val_loss=0.1, loss_slope=-0.7, epochs=20, converged=1) for at in range(3)]
    slow = run(9, 13, 60.0, RunStatus.STOPPED, converged=0, **known)
    cancelled = replace(slow, outcome=replace(slow.outcome, converged=None))
    missed, by_user = (posterior(draws(), CANDIDATES, [*well, each]) for each in (slow, cancelled))
    assert seconds(missed, 13) > 2 * seconds(by_user, 13)


def test_who_was_stopped_while_it_may_have_been_starting_is_not_slow() -> None:
    well = [run(at, 7, 100 + at, samples=20_000.0, val_loss=0.1, loss_slope=-0.7, epochs=20, converged=1) for at in range(3)]
    soon = run(9, 13, 9.0, RunStatus.STOPPED, converged=0)
    assert seconds(posterior(draws(), CANDIDATES, [*well, soon]), 13) < 1.1 * seconds(posterior(draws(), CANDIDATES, well), 13)


@pytest.mark.parametrize("samples", [20_000.0, None])
def test_where_equal_runs_reached_the_target_one_that_missed_it_is_a_failure_and_no_longer_run(samples: float | None) -> None:
    """Whether or not the runs say how many samples they processed."""
    told: dict[str, float] = {"samples": samples} if samples else {}
    well = [run(at, 7, 100 + at, val_loss=0.1, loss_slope=-0.7, epochs=20, converged=1, **told) for at in range(3)]
    missed = run(9, 7, 300.0, val_loss=0.2, epochs=60, converged=0, **{name: 3 * known for name, known in told.items()})
    before, after = (posterior(draws(), CANDIDATES, some) for some in (well, [*well, missed]))
    assert seconds(after, 7) == pytest.approx(seconds(before, 7), rel=0.05)
    assert after.p_fail[7] > before.p_fail[7]
