"""The interval beside a chance: from the one a reader tells the other, on simulated jobs and random beliefs."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from jpo.agent.comparison import Comparison
from jpo.agent.safety.confidence import MOST
from jpo.agent.safety.risk import WORSE
from jpo.forecast.belief import posterior
from jpo.optimizer.explain.account import differences
from jpo.records import (
    OBJECTIVE,
    VAL_ACCURACY,
    Belief,
    Calibration,
    Candidates,
    Identity,
    Interval,
    Outcome,
    Preference,
    Run,
    RunStatus,
)
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise, observe

JOBS, FLOOR = 60, 0.02
PREFERENCES = (Preference(1, 0), Preference(0, 1), Preference(), Preference(0.3, 0.5, 0, 0.2))


def compared(rng: np.random.Generator) -> Comparison:
    """A random job after some runs, under a random preference, floor and calibration."""
    candidates, noise = random_candidates(rng), draw_noise(rng)
    prior, truth = draw_jobs(candidates, 256, rng), draw_jobs(candidates, 1, rng)
    rows = [candidates.current, *(int(row) for row in rng.integers(len(candidates.values), size=rng.integers(1, 6)))]
    runs = []
    for at, row in enumerate(rows):
        one = observe(truth, 0, row, rng, noise=noise)
        outcome = Outcome(duration_seconds=math.exp(one.log_time), val_loss=math.exp(one.log_loss))
        who = Identity("simulated", "job", "none")
        runs.append(Run(str(at), who, candidates.parameters(row), RunStatus.SUCCEEDED, None, float(at), outcome, "observe"))
    factors = Calibration(*rng.choice([1.0, 1.5, 2.0], 2))
    preference = PREFERENCES[rng.integers(len(PREFERENCES))]
    floor = FLOOR if rng.random() < 0.7 else None
    return Comparison(candidates, posterior(prior, candidates, runs), preference, calibration=factors, quality_floor=floor)


def bounds(told: Interval, limit: float) -> tuple[float, float]:
    """Between what the chance of a ratio at or below the limit lies, by the interval alone."""
    return (0.95 if told.high < limit else 0.05 if told.low < limit else 0.0), (
        0.05 if told.low >= limit else 0.95 if told.high >= limit else 1.0
    )


def as_read(told: Interval, limit: float) -> float:
    """The chance that a reader takes from an interval, as of a log-normal distribution."""
    deviation = math.log(told.high / told.low) / (2 * NormalDist().inv_cdf(0.95))
    return NormalDist(math.log(told.mean), max(deviation, 1e-9)).cdf(math.log(limit))


@pytest.mark.parametrize("trial", [False, True])
def test_the_chance_of_a_change_can_be_told_from_the_intervals_beside_it(trial: bool) -> None:
    rng, errors = np.random.default_rng(28), []
    limit = math.exp(WORSE) if trial else 1.0
    for _ in range(JOBS):
        problem = compared(rng)
        stated = problem.p_safe if trial else problem.p_better
        lost = problem.p_loss_kept is not None and problem.p_loss_kept[problem.candidates.current] < 0.5
        for row in rng.permutation(len(stated))[:10]:
            told = dict(differences(problem, int(row), trial=trial, price_ratio=None))
            if not told or lost:
                continue
            well = 1 - problem.belief.p_fail[row]
            low, high = bounds(told[OBJECTIVE], limit)
            read = as_read(told[OBJECTIVE], limit)
            if not trial and problem.quality_floor is not None:  # and that the loss is kept
                kept_low, kept_high = bounds(told["val_loss"], 1 + FLOOR)
                low, high = max(0.0, low + kept_low - 1), min(high, kept_high)
                read = min(read, as_read(told["val_loss"], 1 + FLOOR))
            assert min(low * well, MOST) - 1e-9 <= stated[row] <= high * well + 1e-9
            errors.append(min(read * well, MOST) - stated[row])
    assert len(errors) > 300
    assert np.mean(np.abs(errors)) < 0.06, "a reader who takes an interval for a normal one is seldom far off"


def test_the_chance_that_the_loss_is_kept_is_that_of_its_interval() -> None:
    rng = np.random.default_rng(29)
    for _ in range(JOBS):
        problem = replace(compared(rng), quality_floor=FLOOR)
        assert problem.p_loss_kept is not None
        for row in rng.permutation(len(problem.p_loss_kept))[:10]:
            if told := dict(differences(problem, int(row), trial=True, price_ratio=None)):
                low, high = bounds(told["val_loss"], 1 + FLOOR)
                assert low - 1e-9 <= problem.p_loss_kept[row] <= high + 1e-9


TWO = Candidates(("batch_size",), np.array([[32.0], [64.0]]), 0, np.ones(2, dtype=np.bool_), np.zeros(2), priced=False)


def believed(*log_time: float, error: float = 1.0) -> Belief:
    """Equally likely jobs, which differ by the time of the second batch; its error is a multiple of today's, .1."""
    jobs, flat = len(log_time), np.zeros((len(log_time), 2))
    time, loss = np.array([[0.0, each] for each in log_time]), np.log([[1.0, error]] * jobs)
    counts = (np.array([1, 0]), np.zeros(2, int), np.zeros(2, int))
    weights, never = np.full(jobs, 1 / jobs), np.zeros((jobs, 2), dtype=np.bool_)
    return Belief(weights, time, time, loss, flat, never, np.zeros(2), *counts, 0.05, 100.0, 0.1, 0.5, True)


def told(belief: Belief, row: int = 1, **more: object) -> dict[str, Interval]:
    problem = Comparison(TWO, belief, Preference(1, 0), **more)  # type: ignore[arg-type]
    return dict(differences(problem, row, trial=False, price_ratio=0.5))


def test_a_difference_is_taken_in_pairs_and_widened_as_chances_are() -> None:
    assert told(believed(-math.log(2), -math.log(2)))["duration_seconds"] == Interval(*[pytest.approx(0.5)] * 3)
    apart = told(believed(-0.1, 0.1), calibration=Calibration(2.0))
    assert apart["duration_seconds"].high == pytest.approx(math.exp(0.1 * 1.2 * 2))
    assert apart["cost_usd"].mean == pytest.approx(0.5 * apart["duration_seconds"].mean)
    assert told(believed(-0.1, 0.1), 0) == {}


def test_the_difference_of_an_accuracy_is_one_of_values() -> None:
    judged = replace(believed(0.0, error=0.5), quality=VAL_ACCURACY)
    assert told(judged)["val_accuracy"].mean == pytest.approx(0.05)
