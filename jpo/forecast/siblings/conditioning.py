"""Conditioning of a prior on siblings: draws of jobs that fit what was measured on other hardware, up to a misfit.

Between two kinds of hardware a job's response surface bends: of recorded jobs on several GPUs, by about 15% (sd of ln) once the
level is taken away, and the best configuration carries over within 3%. How alike two are is not known before own runs, so the
misfit is mixed: some draws take the siblings at 0.15, some at 0.4, and some do not believe them at all; several siblings that
agree with each other are believed more. Own runs then weigh the three by how well they explain them, as they weigh everything
(belief.py): siblings that mislead are left behind.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from jpo.forecast.belief import LEAST_SHARE, pick_jobs
from jpo.forecast.discrepancy import ADJUSTING_SHARE, correlation, student_t
from jpo.forecast.ensemble import VAGUE
from jpo.forecast.siblings.evidence import SiblingEvidence, SiblingQuantity
from jpo.forecast.weights import flattened, log_mean_exp, softmax
from jpo.records import Candidates, Draws, Floats, Ints

MISFITS = ((0.15, 0.45), (0.4, 0.25))
"""Misfit between hardware, sd of ln, and the share of the draws that assume it while one sibling is known; the others do not
believe it. Were they half, a sibling like the job saved 1 to 2% less, and one unlike it cost 2 to 5% instead of 7 to 16%: where
it says that nothing else is worth a try, no own run contradicts. But nobody could be sure then of what it had shown."""
LEAST_DOUBT = 0.1
"""Share of the draws that do not believe siblings, however well these agree, and of either kind of draws that these leave."""
QUANTITIES = {"log_time": 1.0, "log_loss": 0.4, "log_utilisation": 1.0, "log_power": 1.0}
"""Quantities of `Draws`, and how much of the misfit is theirs: what a model learns hardly depends on where. Assumed."""
_TRANSFERS = 0.75
"""Probability that a configuration which fails there fails here, and that one which passes there passes here. Assumed: memory and
numerics differ between GPUs."""


def conditioned_draws(draws: Draws, candidates: Candidates, evidence: SiblingEvidence, rng: np.random.Generator) -> Draws:
    """As many draws, which fit the siblings: chosen by their likelihood, then moved towards what was measured.

    Each moved draw f' = f + (C_.S + tau^2 A_.S) K^-1 (y + e - f_S), with K = C_SS + (tau^2 + s^2 B) A_SS + noise^2 / n + B V^2,
    C the covariance of the draws that fit, A the correlation of a discrepancy between candidates, B = 1 between measurements of
    one sibling, s its misfit, V its vague level, and e drawn with the variance of misfit and noise: so the draws keep the spread
    that siblings leave. Returns draws in random order, so that the first n are like all.

    Source: Matheron's rule as in ensemble.py; misfit as a Gaussian process, Kennedy and O'Hagan, JRSS B 2001.
    """
    jobs = len(draws.fails)
    parts = []
    for (misfit, _), share in zip(MISFITS, shares_of(draws, evidence), strict=True):
        log_likelihood = log_likelihood_of(draws, evidence, misfit)
        picked = systematic(flattened(log_likelihood, LEAST_SHARE), round(share * jobs), rng)
        around = flattened(log_likelihood, ADJUSTING_SHARE)
        chosen = pick_jobs(draws, picked)
        moved: dict[str, Any] = {
            name: _moved(getattr(draws, name), around, picked, (quantity, own * misfit), candidates, rng)
            for name, own in QUANTITIES.items()
            if (quantity := getattr(evidence, name)).rows.size
        }
        if chosen.log_throughput is not None:  # at the speed with which they do the same work in another time
            moved["log_throughput"] = chosen.log_throughput + chosen.log_time - moved.get("log_time", chosen.log_time)
        parts.append(replace(chosen, **moved))
    unmoved = jobs - sum(len(part.fails) for part in parts)
    parts.append(pick_jobs(draws, rng.choice(jobs, unmoved, replace=False)))
    told = [f.name for f in fields(Draws) if getattr(draws, f.name) is not None]
    whole = replace(draws, **{name: np.concatenate([getattr(part, name) for part in parts]) for name in told})
    return pick_jobs(whole, rng.permutation(jobs))


def log_likelihood_of(draws: Draws, evidence: SiblingEvidence, misfit: float = MISFITS[0][0]) -> Floats:
    """Log-likelihood of each draw given the siblings, up to a constant, shape (J,)."""
    here = np.log(_TRANSFERS) * evidence.failed + np.log(1 - _TRANSFERS) * evidence.passed
    passes = np.log(1 - _TRANSFERS) * evidence.failed + np.log(_TRANSFERS) * evidence.passed
    of_ends = np.where(draws.fails, here, passes).sum(axis=1)  # weaker than that of own runs
    return np.asarray(_likelihood_of_each(draws, evidence, misfit).sum(axis=0) + of_ends)


def shares_of(draws: Draws, evidence: SiblingEvidence) -> list[float]:
    """Shares of the draws that take the siblings at each misfit of MISFITS.

    One sibling says nothing of how alike others are. Of several, p(all) / (p(first) p(second) ...) says how much likelier their
    measurements are together than each by itself, as if they were unrelated: the Bayes factor for their being alike.
    """
    misfits, shares = np.array(MISFITS).T
    likelihoods = [_likelihood_of_each(draws, evidence, misfit) for misfit in misfits]  # each (S, J)
    agreements = np.array([log_mean_exp(each.sum(axis=0)) - sum(map(log_mean_exp, each)) for each in likelihoods])
    *_, doubted = _normalised(np.append(shares, 1 - shares.sum()) * softmax(np.append(agreements, 0.0)))
    return list((1 - max(doubted, LEAST_DOUBT)) * _normalised(shares * softmax(agreements)))


def _normalised(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def _likelihood_of_each(draws: Draws, evidence: SiblingEvidence, misfit: float) -> Floats:
    """Log-likelihood of each draw given each sibling's measurements, (S, J)."""
    total = np.zeros((evidence.siblings, len(draws.fails)))
    for name, own in QUANTITIES.items():
        quantity: SiblingQuantity = getattr(evidence, name)
        if quantity.rows.size:
            simulated, apart = getattr(draws, name), quantity.tau**2 + (own * misfit) ** 2
            level, residual = _levels(simulated, quantity, apart + quantity.variance)
            short = _short_of(simulated, level, quantity)
            for sibling, mine in enumerate(total):
                measured, bounded = quantity.sibling == sibling, quantity.bound_sibling == sibling
                mine += student_t(residual[:, measured], apart + quantity.variance[measured])
                mine += student_t(short[:, bounded], apart)
    return total


def systematic(weights: Floats, number: int, rng: np.random.Generator) -> Ints:
    """Indices drawn in proportion to weights (J,), each within one of its expected number.

    Source: systematic resampling, Kitagawa, "Monte Carlo Filter and Smoother", JCGS 1996.
    """
    places = (np.arange(number) + rng.random()) / number
    return np.minimum(np.searchsorted(np.cumsum(weights), places), len(weights) - 1)


def _moved(
    simulated: Floats,
    weights: Floats,
    picked: Ints,
    measured: tuple[SiblingQuantity, float],
    candidates: Candidates,
    rng: np.random.Generator,
) -> Floats:
    """The picked draws of one quantity (n, K), moved towards what siblings measured."""
    quantity, misfit = measured
    rows = quantity.rows
    same = quantity.sibling[:, None] == quantity.sibling[None, :]
    correlated = correlation(candidates, rows)  # (M, K)
    deviation = simulated - weights @ simulated
    covariance = (weights[:, None] * deviation[:, rows]).T @ deviation + quantity.tau**2 * correlated  # (M, K)
    bend = misfit**2 * same * correlated[:, rows] + np.diag(quantity.variance + 1e-6)  # (M, M)
    chosen = simulated[picked]
    _, residual = _levels(chosen, quantity, quantity.tau**2 + misfit**2 + quantity.variance)
    drawn = rng.standard_normal(residual.shape) @ np.linalg.cholesky(bend).T
    moved = chosen + (residual + drawn) @ np.linalg.solve(covariance[:, rows] + bend + VAGUE**2 * same, covariance)
    if quantity.bound_rows.size:
        level, _ = _levels(moved, quantity, bend.diagonal())
        short = _short_of(moved, level, quantity)
        at_bounds = deviation[:, quantity.bound_rows]
        covariance = (weights[:, None] * at_bounds).T @ deviation + quantity.tau**2 * correlation(candidates, quantity.bound_rows)
        among = covariance[:, quantity.bound_rows] + misfit**2 * np.eye(quantity.bound_rows.size)
        moved = moved + short @ np.linalg.solve(among, covariance)
    return np.asarray(moved - moved[:, [candidates.current]])


def _levels(simulated: Floats, quantity: SiblingQuantity, variance: Floats) -> tuple[Floats, Floats]:
    """The level of each sibling for each draw (J, S), and what is left of the measurements (J, M)."""
    residual = quantity.mean - simulated[:, quantity.rows]  # (J, M)
    mine = (quantity.sibling[:, None] == np.arange(quantity.sibling.max() + 1)) / variance[:, None]  # (M, S)
    level = residual @ mine / np.maximum(mine.sum(axis=0), 1e-12)
    return level, residual - level[:, quantity.sibling]


def _short_of(simulated: Floats, level: Floats, quantity: SiblingQuantity) -> Floats:
    """Shortfall of each draw below the siblings' lower bounds, (J, L)."""
    if not quantity.bound_rows.size:
        return np.zeros((len(simulated), 0))
    return np.maximum(quantity.bound - level[:, quantity.bound_sibling] - simulated[:, quantity.bound_rows], 0)
