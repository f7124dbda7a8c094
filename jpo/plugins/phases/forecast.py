"""What comes next in an execution: the next phase, when, for how long, and what will be needed, from dwell times and needs of
training.

The chain alone would let every stay end at the same rate. So the stay that goes on is held against the dwell times of
training that lasted at least as long; where none did, the chain's rate is what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.model import HORIZON_SECONDS, PhaseModel
from jpo.plugins.phases.requests.demand import RESOURCES, Past
from jpo.plugins.phases.requests.watch import futures
from jpo.plugins.phases.traces import CPU, MEMORY, Floats, Traces


@dataclass(frozen=True, eq=False, slots=True)
class PhaseForecast:
    """What is expected of an execution after its last sample.

    Attributes:
        phase: the one it is in, and `probability`, how likely that is.
        since_seconds: how long it is in it.
        next_phase: the most probable other one; None where training never left this one.
        next_probabilities: shape (k,), of the phase after this one; zeros where it was never left.
        left_seconds: mean time until it changes; None where training never left this one.
        stay_seconds: mean dwell time of the next phase; None where that is not known.
        need: shape (2,), CPU in cores and memory in bytes that cover the next two minutes with probability q; None where
            nothing like this was seen.
    """

    phase: int
    probability: float
    since_seconds: float
    next_phase: int | None
    next_probabilities: Floats
    left_seconds: float | None
    stay_seconds: float | None
    need: Floats | None


def forecast(model: PhaseModel, traces: Traces, *, q: float = 0.95) -> tuple[PhaseForecast, ...]:
    """What is expected of each execution after its last sample.

    Args:
        q: quantile of the need, in 0..1.

    Raises:
        UsageError: JPO-E731, the traces lack one of the model's features.
    """
    assert 0 <= q <= 1
    filtered = np.split(model.filtered(traces), np.cumsum(traces.lengths)[:-1])
    return tuple(_forecast(model, traces, at, probabilities, q) for at, probabilities in enumerate(filtered))


def _forecast(model: PhaseModel, traces: Traces, at: int, filtered: Floats, q: float) -> PhaseForecast:
    execution, phases = traces.executions[at], filtered.argmax(1)
    phase = int(phases[-1])
    entered = int(np.flatnonzero(np.r_[True, phases[1:] != phases[:-1]])[-1])
    since = float(execution.times[-1] - execution.times[entered])
    onward = model.chain.transitions[phase].copy()
    onward[phase] = 0
    left = _left_seconds(model, phase, since)
    follows = int(onward.argmax()) if left is not None else None
    return PhaseForecast(
        phase=phase,
        probability=float(filtered[-1, phase]),
        since_seconds=since,
        next_phase=follows,
        next_probabilities=onward / onward.sum() if left is not None and onward.sum() > 0 else np.zeros_like(onward),
        left_seconds=left,
        stay_seconds=None if follows is None else _left_seconds(model, follows, 0.0),
        need=_need(model, traces, at, phases, q),
    )


def _left_seconds(model: PhaseModel, phase: int, since: float) -> float | None:
    """Mean time until a phase that lasts so long already ends; None where training never left it."""
    if model.needs is not None:
        own = model.needs.at(model.needs.phase == phase)
        ends = own.dwell_seconds[~own.next_stays]
        if not len(ends):
            return None
        longer = ends[ends >= since]
        if len(longer):
            return float(longer.mean() - since + model.interval_seconds)
    leaving = 1 - float(model.chain.transitions[phase, phase])
    return model.interval_seconds / leaving if leaving > 0 else None


def _need(model: PhaseModel, traces: Traces, at: int, phases: np.ndarray, q: float) -> Floats | None:
    """The quantile of what is needed within the horizon."""
    if model.needs is None or not {CPU, MEMORY} <= set(traces.features):
        return None
    execution = traces.narrowed((CPU, MEMORY)).executions[at]
    past = Past(HORIZON_SECONDS)
    for time, need, phase in zip(execution.times, execution.values, phases, strict=True):
        past.add(float(time), need, int(phase))
    phase, dwell_seconds, level = past.here
    known, own = futures(model, model.needs, phase), past.positions()
    known.add(own, np.flatnonzero(own.phase == phase))
    likely = known.at(dwell_seconds, level)
    return None if likely is None else likely[1].quantiles(np.full(RESOURCES, q))
