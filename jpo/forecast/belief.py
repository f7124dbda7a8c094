"""The belief: simulated jobs weighted by how well they explain the runs so far, each moved towards what was measured.

It knows neither prices nor preferences: it says what would happen, the agent says what is wanted.
Source: importance weighting of a simulator's draws (likelihood-free inference), Cranmer et al., PNAS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.discrepancy import LOSS, PRICE, TIME_TAU, UTILISATION, Discrepancy, Moved, moved
from jpo.forecast.ensemble import conditioned
from jpo.forecast.measurements import NOWHERE, End, Placed, Seen, at_least, measured, place
from jpo.forecast.weights import effective_share, flattened, softmax
from jpo.records import Belief, Candidates, Draws, Run

if TYPE_CHECKING:
    from jpo.forecast.transfer import Recalled
    from jpo.records import Bools, Floats, Ints

_NOISE, _NOISE_RUNS = 0.06, 4.0
"""Prior sd of ln duration between equal runs, and how many degrees of freedom it counts."""
_LEAST_SHARE = 0.05
"""The likelihood is flattened until at least this share of the particles counts: no forecast rests on a handful of jobs."""
_FAILS_BY_CHANCE, _PASSES_BY_CHANCE = 0.05, 0.1
"""Probability that a run fails where the job would pass, and passes where the simulated job fails."""


@dataclass(frozen=True, eq=False, slots=True)
class _Quantity:
    """One thing that is forecast: where it was seen, where only a least value was, and how far off a particle may be."""

    seen: Seen
    least: Seen
    discrepancy: Discrepancy


def posterior(draws: Draws, candidates: Candidates, runs: Sequence[Run], recalled: Recalled | None = None) -> Belief:
    """Weigh and move the simulated jobs by the runs so far, which may come in any order.

    Args:
        draws: shape (J, K), from the simulator on these candidates.
        runs: of this workload. A parameter that a run does not report is taken to have today's value; runs that match no
            candidate are ignored. Runs that failed or did not converge count as failures and not for durations; one that was
            stopped from outside says that it would have taken longer.
        recalled: surfaces like those of other workloads, as more particles: each kind weighs as much as it explains the runs.

    Returns:
        Where nothing was measured, the prior.
    """
    placed = place(candidates, runs)
    well, failed, stopped = ([one for one in placed if one.end is end] for end in End)
    noise = _noise(well)
    time, loss, utilisation = _quantities(well, stopped, noise)
    power, price = _price(draws, candidates, [*well, *stopped])

    def move(log: Floats, of: _Quantity) -> Moved:
        return moved(log, of.seen, of.least, of.discrepancy, candidates)

    parts = [move(log, of) for log, of in zip(_logs(draws, power), (time, loss, utilisation, price), strict=True)]
    log_likelihood = np.sum([part.log_likelihood for part in parts], axis=0) + _of_failures(draws.fails, placed)
    weights, fails = flattened(log_likelihood, _LEAST_SHARE), draws.fails
    share = effective_share(softmax(log_likelihood))
    if recalled is not None:
        remembered = _remembered(recalled, (time, loss, utilisation, price), candidates.current)
        belief_in = _odds(recalled, remembered, log_likelihood, placed)
        weights = np.concatenate(
            ((1 - belief_in) * weights, np.full(len(recalled.draws.fails), belief_in / len(recalled.draws.fails)))
        )
        parts = [_joined(part, other) for part, other in zip(parts, remembered, strict=True)]
        fails, share = np.concatenate((fails, recalled.draws.fails)), max(share, belief_in)
    seconds, losses, busy, rate = parts
    count, failures, ended = (_counts([one.row for one in ones], len(candidates.values)) for ones in (well, failed, stopped))
    return Belief(
        weights=weights,
        log_time=seconds.log,
        log_cost=seconds.log + candidates.log_rate + rate.log,
        log_loss=losses.log,
        log_utilisation=busy.log,
        fails=fails,
        p_fail=(weights @ fails + failures) / (1 + count + failures),  # the particles count as one run
        runs=count,
        failures=failures,
        stopped=ended,
        noise=noise,
        duration_seconds=float(np.exp(weights @ seconds.level)) if time.seen.rows.size else None,
        val_loss=float(np.exp(weights @ losses.level)) if loss.seen.rows.size else None,
        effective_share=share,
        knows_utilisation=bool(utilisation.seen.rows.size),
        loss_runs=_counts([one.row for one in well if (one.run.outcome.val_loss or 0) > 0], len(candidates.values)),
    )


def _quantities(well: Sequence[Placed], stopped: Sequence[Placed], noise: float) -> tuple[_Quantity, _Quantity, _Quantity]:
    """Duration, validation loss and utilisation, as measured."""
    seconds = measured(well, lambda one: one.run.outcome.duration_seconds)
    losses = measured(well, lambda one: one.run.outcome.val_loss)
    return (
        _Quantity(seconds, at_least(stopped) if seconds.rows.size else NOWHERE, Discrepancy(TIME_TAU, noise)),
        _Quantity(losses, NOWHERE, LOSS),
        _Quantity(_utilisation(well), NOWHERE, UTILISATION),
    )


def _logs(draws: Draws, price: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    return draws.log_time, draws.log_loss, draws.log_utilisation, price


def _remembered(recalled: Recalled, quantities: tuple[_Quantity, ...], current: int) -> list[Moved]:
    """The recalled surfaces, conditioned on what was measured."""
    rng = np.random.default_rng((recalled.seed, 3))
    logs = _logs(recalled.draws, recalled.draws.log_power)
    return [conditioned(log, of.seen, of.least, of.discrepancy, current, rng) for log, of in zip(logs, quantities, strict=True)]


def _odds(recalled: Recalled, remembered: list[Moved], simulated: Floats, placed: Sequence[Placed]) -> float:
    """Posterior probability that the job is of the recalled kind, by the mean likelihood of either kind's particles."""
    log_likelihood = np.sum([part.log_likelihood for part in remembered], axis=0) + _of_failures(recalled.draws.fails, placed)
    evidence = _log_mean_exp(log_likelihood) - _log_mean_exp(simulated)
    odds = evidence + math.log(max(recalled.trust, 1e-6) / max(1 - recalled.trust, 1e-6))
    return 1 / (1 + math.exp(-min(max(odds, -30.0), 30.0)))


def _joined(simulated: Moved, remembered: Moved) -> Moved:
    return Moved(*(np.concatenate((getattr(simulated, f.name), getattr(remembered, f.name))) for f in fields(Moved)))


def _price(draws: Draws, candidates: Candidates, paid: Sequence[Placed]) -> tuple[Floats, _Quantity]:
    """What the price of an hour has beside the candidates' rates: simulated (J, K), and seen where a cost was measured.

    A cost in money says whether the rates are right. Where an hour costs the same everywhere, energy is what differs.
    """
    rate = candidates.log_rate
    in_money = measured(paid, lambda one: _per_second(one.run.outcome.cost_usd, one, rate))
    if in_money.rows.size or candidates.priced or np.ptp(rate) > 0:
        return np.zeros_like(draws.log_power), _Quantity(in_money, NOWHERE, PRICE)
    in_joules = measured(paid, lambda one: _per_second(one.run.outcome.energy_joules, one, rate))
    return draws.log_power, _Quantity(in_joules, NOWHERE, PRICE)


def _per_second(amount: float | None, one: Placed, log_rate: Floats) -> float | None:
    seconds = one.run.outcome.duration_seconds
    return amount / seconds / float(np.exp(log_rate[one.row])) if amount is not None and seconds else None


def _of_failures(fails: Bools, placed: Sequence[Placed]) -> Floats:
    """ln probability of every run's end, given where the particles fail, (J, K) -> (J,). A stopped run's end is unknown."""
    if_fails, if_passes = np.zeros(fails.shape[1]), np.zeros(fails.shape[1])
    for one in placed:
        if one.end is not End.STOPPED:
            failed = one.end is End.FAILED
            if_fails[one.row] += one.count * math.log(1 - _PASSES_BY_CHANCE if failed else _PASSES_BY_CHANCE)
            if_passes[one.row] += one.count * math.log(_FAILS_BY_CHANCE if failed else 1 - _FAILS_BY_CHANCE)
    rows = np.flatnonzero(if_fails)
    return np.asarray(np.where(fails[:, rows], if_fails[rows], if_passes[rows]).sum(axis=1))


def _utilisation(well: Sequence[Placed]) -> Seen:
    """Of the GPUs, or of the CPUs when no run reports GPUs: the two are never compared with each other."""
    gpus = measured(well, lambda one: one.run.outcome.gpu_utilisation)
    return gpus if gpus.rows.size else measured(well, lambda one: one.run.outcome.cpu_utilisation)


def _noise(well: Sequence[Placed]) -> float:
    """sd of ln duration between equal runs, pooled over candidates with a prior."""
    logs: dict[int, list[float]] = {}
    for one in well:
        if one.run.outcome.duration_seconds:
            logs.setdefault(one.row, []).append(math.log(one.run.outcome.duration_seconds))
    squares = _NOISE_RUNS * _NOISE**2 + sum(len(ones) * float(np.var(ones)) for ones in logs.values())
    freedom = _NOISE_RUNS + sum(len(ones) - 1 for ones in logs.values())
    return math.sqrt(squares / freedom)


def _log_mean_exp(logs: Floats) -> float:
    return float(np.log(np.mean(np.exp(logs - logs.max()))) + logs.max())


def _counts(rows: Sequence[int], candidates: int) -> Ints:
    return np.bincount(np.array(rows, dtype=np.int64), minlength=candidates).astype(np.int64)
