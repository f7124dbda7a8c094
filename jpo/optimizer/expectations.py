"""Expectations of configurations, by what there is to rest on: finished runs, small trials, similar workloads, arithmetic."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jpo.agent.safety.host_memory import HEADROOM
from jpo.cost import Prices
from jpo.forecast.similar import from_similar
from jpo.forecast.trials import Trial, full_runs, loss_after
from jpo.optimizer.prediction import Expected, Kind
from jpo.optimizer.prior import PARTICLES
from jpo.optimizer.surrogate import Surrogate
from jpo.records import PARAMETERS, Candidates, FirstRun, Forecast, Identity, Interval, Parameters, Run, same
from jpo.simulate import Latents
from jpo.simulate.knobs import knobs_of
from jpo.simulate.speed import step_time

NOTHING = (
    "nothing: there is no finished run, no trial, no similar workload that compares; and arithmetic needs epochs, and a model, a "
    "data set and [prices] gpu_type whose names are known; of a language model batch size and tokens of a sample"
)


@dataclass(frozen=True, eq=False, slots=True)
class Basis:
    """Basis of expectations: what they can rest on.

    Attributes:
        surrogate: from this workload's finished runs where there are any.
        others: runs of other workloads.
        estimate: what one run of a configuration takes, before any run was measured.
        extended: surrogates with one more configuration each, by its values, for those that are no candidates.
    """

    identity: Identity
    surrogate: Surrogate
    trials: Sequence[Trial]
    others: Sequence[Run]
    estimate: Callable[[Parameters], FirstRun]
    seed: int
    extended: Mapping[tuple[float, ...], Surrogate] = field(default_factory=dict)

    def surrogate_of(self, values: Parameters) -> Surrogate:
        """Surrogate in which a configuration is a candidate."""
        return self.extended.get(tuple(values.values()), self.surrogate)


def expectations(asked: Sequence[Parameters], basis: Basis) -> list[list[Expected]]:
    """Expectations of each configuration, the one that counts first; at least one, which may be "unknown"."""
    candidates = basis.surrogate.candidates
    rows = [candidates.parameters(candidates.current), *asked]
    history = [_history(values, basis) for values in rows]
    trials = _by_trials(rows, basis) if basis.trials else [None] * len(rows)
    history_counts = _history_counts(history[0], trials[0], basis)
    return [
        _ordered(past, small, history_counts=history_counts) or [_guessed(values, basis)]
        for values, past, small in zip(asked, history[1:], trials[1:], strict=True)
    ]


def _history(values: Parameters, basis: Basis) -> Expected | None:
    """By the belief after this workload's runs; None before the first that ended well."""
    surrogate = basis.surrogate_of(values)
    forecast = surrogate.forecast(surrogate.row(values))
    if forecast.duration_seconds is None:
        return None
    well = sum(run.ended_well for run in basis.surrogate.runs)
    return Expected("history", f"the history: {well} finished run{'' if well == 1 else 's'} that ended well", forecast)


def _history_counts(past: Expected | None, small: Expected | None, basis: Basis) -> bool:
    """Whether history counts before trials, given what both say of today's values: the narrower does, in all rows, or these would
    not compare. Trials know of no target that a run stops at, so the history counts where its runs had one."""
    if past is None or small is None:
        return small is None
    has_target = any(run.outcome.converged is not None for run in basis.surrogate.runs)
    return has_target or _width(past) <= _width(small)


def _ordered(past: Expected | None, small: Expected | None, *, history_counts: bool) -> list[Expected]:
    """History and trials, what counts first; where trials count, what they do not tell is the history's word."""
    if past is None or small is None:
        return [expected for expected in (past, small) if expected]
    if history_counts:
        return [past, small]
    words = f"{small.words}; what a trial does not tell, on {past.words}"
    return [replace(small, words=words, forecast=past.forecast.having(small.forecast.known)), past]


def disagree(expected: Sequence[Expected]) -> bool:
    """Whether two expectations of one configuration exclude each other."""
    spans = [each.forecast.duration_seconds for each in expected if each.forecast.duration_seconds]
    return len(spans) > 1 and (spans[0].high < spans[1].low or spans[1].high < spans[0].low)


def _width(expected: Expected) -> float:
    """Of the interval of the duration, in natural logs."""
    seconds = expected.forecast.duration_seconds
    return math.log(seconds.high / seconds.low) if seconds and seconds.low > 0 else math.inf


def _by_trials(asked: Sequence[Parameters], basis: Basis) -> list[Expected | None]:
    """By the trials' speeds, carried over to each configuration and to all epochs on all the data."""
    trials, candidates = basis.trials, basis.surrogate.candidates
    today = candidates.parameters(candidates.current)
    ran = [{**today, **trial.parameters} for trial in trials]
    names = ", ".join(trial.run_id for trial in trials[:4]) + (f" and {len(trials) - 4} more" if len(trials) > 4 else "")
    shares = ", ".join(dict.fromkeys(f"{100 * trial.fraction:g}%" for trial in trials))
    words = f"{len(trials)} trial{'' if len(trials) == 1 else 's'} on {shares} of the data: {names}"
    return [
        Expected("trials", words, _full_run(values, seconds, ran, basis))
        for values, seconds in ((values, seconds_by_trials(trials, ran, [values], basis.seed)[0]) for values in asked)
    ]


def seconds_by_trials(
    trials: Sequence[Trial], ran: Sequence[Parameters], asked: Sequence[Parameters], seed: int
) -> list[Interval]:
    """Seconds of one full run of each configuration, by laws of step time that fit the trials; see `full_runs`."""
    rows = [*ran, *asked]
    names = tuple(name for name in PARAMETERS if all(name in row for row in rows))
    values = np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    everything = Candidates(names, values, 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))
    log_step = step_time(knobs_of(everything), Latents(PARTICLES, seed)).log_step
    return full_runs(trials, ran, asked, np.broadcast_to(log_step, (PARTICLES, len(rows))), seed)


def _full_run(values: Parameters, seconds: Interval, ran: Sequence[Parameters], basis: Basis) -> Forecast:
    """What a trial of this very configuration tells next to its speed: loss and memory, if it saw all the data."""
    trials = basis.trials
    samples = next((trial.samples / trial.fraction for trial in trials if trial.samples), None)
    work = None if samples is None else samples * values["epochs"]
    but_epochs = {name: value for name, value in values.items() if name != "epochs"}
    alike = [trial for trial, its in zip(trials, ran, strict=True) if trial.fraction == 1 and same(its, but_epochs)]
    memory = max((trial.memory_gib for trial in alike if trial.memory_gib is not None), default=None)
    losses = [loss for trial in alike if (loss := loss_after(trial.losses, values["epochs"]))]
    return Forecast(
        duration_seconds=seconds,
        cost_usd=cost(seconds, values, basis.surrogate_of(values)),
        val_loss=min(losses, key=lambda loss: loss.high / loss.low) if losses else None,
        throughput_samples_per_second=Interval(work / seconds.mean, work / seconds.high, work / seconds.low) if work else None,
        memory_gib=Interval(memory, memory / (1 + HEADROOM), memory * (1 + HEADROOM)) if memory else None,
    )


def cost(seconds: Interval | None, values: Parameters, surrogate: Surrogate, prices: Prices | None = None) -> Interval | None:
    """Cost of such a run, on other prices than the surrogate's if given; None without its time or a price."""
    rate = surrogate.usd_per_hour(surrogate.row(values), prices)
    if rate is None or seconds is None:
        return None
    return Interval(*(bound * rate / 3600 for bound in (seconds.mean, seconds.low, seconds.high)))


def _guessed(values: Parameters, basis: Basis) -> Expected:
    """From other workloads, else by arithmetic, which alone tells the memory of a GPU; or unknown and why."""
    kind: Kind = "heuristic"
    estimate, similar = basis.estimate(values), from_similar(basis.identity, values, basis.others)
    forecast, words = estimate.forecast, estimate.words
    if similar:
        memory = {name: need for name, need in forecast.metrics.items() if name == "gpu_memory_gib"}
        words = f"{similar.words}{f'; for memory of a GPU, {words}' if memory else ''}"
        kind, forecast = "similar workloads", Forecast(similar.seconds, metrics=memory)
    if not words:
        return Expected("unknown", NOTHING, Forecast())
    paid = cost(forecast.duration_seconds, values, basis.surrogate_of(values))
    return Expected(kind, words, replace(forecast, cost_usd=paid))
