"""The belief: simulated jobs weighted by how well they explain the runs so far, each adjusted towards what was measured.

It knows neither prices nor preferences: it says what would happen, the agent says what is wanted.
Source: importance weighting of a simulator's draws (likelihood-free inference), Cranmer et al., PNAS 2020.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from jpo.forecast.discrepancy import PRICE, UTILISATION, AdjustedParticles
from jpo.forecast.evidence.duration import measured_durations
from jpo.forecast.evidence.groups import MeasuredQuantity, groups_without
from jpo.forecast.evidence.loaders import loaders_log_likelihood
from jpo.forecast.evidence.loss import measured_losses, slope_log_likelihood, slope_of
from jpo.forecast.evidence.work import Work, work_of
from jpo.forecast.measurements import CandidateRun, End, Measurements, by_end, measurements_of, runs_at_candidates
from jpo.forecast.weights import effective_share, flattening, log_mean_exp, softmax
from jpo.records import Belief, Bools, Candidates, Draws, Floats, Ints, Run, TransferredSurfaces

LEAST_SHARE = 0.05
"""The likelihood is flattened until at least this share of the particles counts: no forecast depends on a handful of jobs."""
_FAILS_BY_CHANCE, _PASSES_BY_CHANCE = 0.05, 0.1
"""Probability that a run fails where the job would pass, and passes where the simulated job fails."""


def posterior(
    draws: Draws, candidates: Candidates, runs: Sequence[Run], transferred: TransferredSurfaces | None = None
) -> Belief:
    """The posterior over simulated jobs: weighted by the runs so far, which may come in any order, and adjusted to them.

    Args:
        draws: shape (J, K), from the simulator on these candidates.
        runs: of this workload. A parameter that a run does not report is taken to have today's value; runs that match no
            candidate are ignored. Runs that failed or did not converge count as failures and not for durations; one that was
            stopped from outside says that it would have taken longer.
        transferred: surfaces like those of other workloads, as more particles: each kind weighs as much as it explains the runs.

    Returns the prior where nothing was measured.
    """
    candidate_runs, work = runs_at_candidates(candidates, runs), work_of(runs)
    kept = kind_of(draws, work)
    draws = draws if kept.all() else pick_jobs(draws, np.flatnonzero(kept))
    time = measured_durations(candidates, candidate_runs, work)
    ends = by_end(candidate_runs)
    succeeded, failed, stopped = ends[End.WELL], [*ends[End.FAILED], *ends[End.MISSED]], ends[End.STOPPED]
    slope = slope_of(succeeded, work)
    loss = measured_losses(candidates, succeeded, slope and slope[0], work)
    each = groups_without(candidates, ())
    utilisation = MeasuredQuantity(each, _utilisation(succeeded), UTILISATION)
    power, measured_price = _price(draws, candidates, [*succeeded, *stopped])
    price = MeasuredQuantity(each, measured_price, PRICE)
    others = (utilisation.adjusted(draws.log_utilisation), price.adjusted(power))
    parts = [time.adjusted(draws), loss.adjusted(draws.log_loss), *others]
    of_ends = _failure_likelihood(draws.fails, ends)
    of_runs = np.sum([part.log_likelihood for part in parts], axis=0) + of_ends
    log_likelihood = of_runs + slope_log_likelihood(draws, slope) + loaders_log_likelihood(draws, candidates, succeeded)
    exponent, fails = flattening(log_likelihood, LEAST_SHARE), draws.fails
    weights = softmax(exponent * log_likelihood)
    p_fails = softmax(exponent * log_likelihood + (1 - exponent) * of_ends) @ fails  # how runs ended is certain: not flattened
    share = effective_share(softmax(log_likelihood))
    if transferred is not None:
        drawn, rng = transferred.draws, np.random.default_rng((transferred.seed, 3))
        logs = (drawn.log_time, drawn.log_loss, drawn.log_utilisation, drawn.log_power)
        quantities = (time.seconds, loss, utilisation, price)
        surfaces = [quantity.conditioned(log, rng) for quantity, log in zip(quantities, logs, strict=True)]
        comparable = of_runs - parts[0].log_likelihood + time.seconds.log_likelihood(draws.log_time)  # of surfaces without speed
        transferred_share = _transfer_probability(transferred, surfaces, comparable, ends)
        members = len(drawn.fails)
        p_fails = (1 - transferred_share) * p_fails + transferred_share * drawn.fails.mean(axis=0)
        weights = np.concatenate(((1 - transferred_share) * weights, np.full(members, transferred_share / members)))
        parts = [
            AdjustedParticles(*(np.concatenate((getattr(part, f.name), getattr(surface, f.name))) for f in fields(part)))
            for part, surface in zip(parts, surfaces, strict=True)
        ]
        fails, share = np.concatenate((fails, drawn.fails)), max(share, transferred_share)
    seconds, losses, busy, rate = parts
    groups = (succeeded, failed, stopped)
    count, failures, stops = (_counts([run.row for run in group], len(candidates.values)) for group in groups)
    return Belief(
        weights=weights,
        log_time=seconds.log,
        log_cost=seconds.log + candidates.log_rate + rate.log,
        log_loss=losses.log,
        log_utilisation=busy.log,
        fails=fails,
        p_fail=(p_fails + failures) / (1 + count + failures),  # the particles count as one run
        runs=count,
        failures=failures,
        stopped=stops,
        noise=time.noise,
        duration_seconds=float(np.exp(weights @ seconds.level)) if time.seconds.measurements.rows.size else None,
        val_loss=float(np.exp(weights @ losses.level)) if loss.measurements.rows.size else None,
        effective_share=share,
        knows_utilisation=bool(utilisation.measurements.rows.size),
        loss_runs=_counts([run.row for run in succeeded if (run.outcome.val_loss or 0) > 0], len(candidates.values)),
        time_runs=time.count,
        loss_noise=loss.discrepancy.noise,
        recalled=transferred,
    )


def kind_of(draws: Draws, work: Work) -> Bools:
    """Which simulated jobs can be of a kind, (J,): those of fixed work where the runs are, all of them elsewhere.

    A job with a target is weighed by those of fixed work, too: without them recorded jobs cost 2% (balanced) to 4% (time) more in
    the first five runs, because what is left fails so often that too little is tried.
    """
    if draws.to_target is None or work is not Work.FIXED or draws.to_target.all():
        return np.ones(len(draws.fails), dtype=np.bool_)
    return ~draws.to_target


def pick_jobs(draws: Draws, jobs: Ints) -> Draws:
    arrays = {f.name: getattr(draws, f.name) for f in fields(Draws)}
    return replace(draws, **{name: array[jobs] for name, array in arrays.items() if array is not None})


def at_rows(draws: Draws, rows: Ints) -> Draws:
    """The simulated jobs at some of the candidates."""
    arrays = {f.name: getattr(draws, f.name) for f in fields(Draws)}
    return replace(draws, **{name: array[:, rows] for name, array in arrays.items() if array is not None and array.ndim > 1})


def _transfer_probability(
    transferred: TransferredSurfaces,
    surfaces: list[AdjustedParticles],
    simulated: Floats,
    ends: Mapping[End, Sequence[CandidateRun]],
) -> float:
    """Posterior probability that the job is like the transferred surfaces, by the mean likelihood of either kind of particles."""
    of_failures = _failure_likelihood(transferred.draws.fails, ends)
    log_likelihood = np.sum([part.log_likelihood for part in surfaces], axis=0) + of_failures
    evidence = log_mean_exp(log_likelihood) - log_mean_exp(simulated)
    odds = evidence + math.log(max(transferred.trust, 1e-6) / max(1 - transferred.trust, 1e-6))
    return 1 / (1 + math.exp(-min(max(odds, -30.0), 30.0)))


def _price(draws: Draws, candidates: Candidates, paid: Sequence[CandidateRun]) -> tuple[Floats, Measurements]:
    """The price of an hour relative to the candidates' rates: simulated (J, K), and measured where runs have a cost.

    A cost in money says whether the rates are right. Where an hour costs the same everywhere, energy is what differs; and where
    energy is what a run costs, it alone counts.
    """
    rate = candidates.log_rate
    in_money = measurements_of(paid, lambda run: _per_second(run.outcome.cost_usd, run, rate))
    if not candidates.by_energy and (in_money.rows.size or candidates.priced or np.ptp(rate) > 0):
        return np.zeros_like(draws.log_power), in_money
    return draws.log_power, measurements_of(paid, lambda run: _per_second(run.outcome.energy_joules, run, rate))


def _per_second(amount: float | None, run: CandidateRun, log_rate: Floats) -> float | None:
    seconds = run.outcome.duration_seconds
    return amount / seconds / float(np.exp(log_rate[run.row])) if amount is not None and seconds else None


def _failure_likelihood(fails: Bools, ends: Mapping[End, Sequence[CandidateRun]]) -> Floats:
    """Log-likelihood of how the runs ended, given where the particles fail, (J, K) -> (J,). A stopped run's end is unknown."""
    if_fails, if_passes = np.zeros(fails.shape[1]), np.zeros(fails.shape[1])
    for end, where_it_fails, where_it_passes in (
        (End.WELL, _PASSES_BY_CHANCE, 1 - _FAILS_BY_CHANCE),
        (End.FAILED, 1 - _PASSES_BY_CHANCE, _FAILS_BY_CHANCE),
        (End.MISSED, 1 - _PASSES_BY_CHANCE, _FAILS_BY_CHANCE),
    ):
        at = np.array([run.row for run in ends[end]], dtype=np.int64)
        counts = np.bincount(at, [run.count for run in ends[end]], minlength=fails.shape[1])
        if_fails += counts * math.log(where_it_fails)
        if_passes += counts * math.log(where_it_passes)
    rows = np.flatnonzero(if_fails)
    return np.asarray(np.where(fails[:, rows], if_fails[rows], if_passes[rows]).sum(axis=1))


def _utilisation(succeeded: Sequence[CandidateRun]) -> Measurements:
    """Utilisation of the GPUs, or of the CPUs when no run reports GPUs: the two are never compared with each other."""
    gpus = measurements_of(succeeded, lambda run: run.outcome.gpu_utilisation)
    return gpus if gpus.rows.size else measurements_of(succeeded, lambda run: run.outcome.cpu_utilisation)


def _counts(rows: Sequence[int], candidates: int) -> Ints:
    return np.bincount(np.array(rows, dtype=np.int64), minlength=candidates).astype(np.int64)
