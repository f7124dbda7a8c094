"""What comes next in an execution: the next phase, when, for how long, and what will be needed, from dwell times and needs of
training.

The chain alone would let every stay end at the same rate. So the stay that goes on is held against the dwell times of
training that lasted at least as long; where none did, the chain's rate is what is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from jpo.plugins.phases.chain import Ints, entries
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.demand import Likely
from jpo.plugins.phases.requests.watch import OwnPast
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

COVERED = 0.95


@dataclass(frozen=True, slots=True)
class PhaseForecast:
    """What is expected of an execution after its last sample; None is not known.

    Attributes:
        phase: the one that it is most probably in.
        since_seconds: how long it is in it.
        next_phase: the most probable other one; None where training never left this one.
        left_seconds, stay_seconds: until the next phase, and how long that one lasts, on average.
        cpu_cores, memory_gib: what covers the next two minutes with a probability of COVERED.
    """

    phase: int
    since_seconds: float
    next_phase: int | None
    left_seconds: float | None
    stay_seconds: float | None
    cpu_cores: float | None
    memory_gib: float | None


def forecast(model: PhaseModel, traces: Traces) -> Iterator[PhaseForecast]:
    """What is expected of each execution after its last sample.

    Raises UsageError: JPO-E731, the traces lack one of the model's features.
    """
    both = traces.narrowed((CPU, MEMORY)) if {CPU, MEMORY} <= set(traces.features) else None
    for at, (execution, filtered) in enumerate(zip(traces.executions, traces.split(model.filtered(traces)), strict=True)):
        phases = filtered.argmax(1)
        since = float(execution.times[-1] - execution.times[entries(phases)[-1]])
        likely = _likely(model, both.executions[at], phases) if both else None
        yield expected(model, int(phases[-1]), since, likely)


def expected(model: PhaseModel, phase: int, since: float, likely: tuple[Likely, Likely] | None) -> PhaseForecast:
    """What is expected of an execution that is in a phase since so many seconds; `likely`: what it may need."""
    onward = model.chain.transitions[phase].copy()
    onward[phase] = 0
    left = _left_seconds(model, phase, since)
    follows = int(onward.argmax()) if left is not None else None
    stay = None if follows is None else _left_seconds(model, follows, 0.0)
    cores, memory_bytes = (None, None) if likely is None else (likely[1].quantile(at, COVERED) for at in (0, 1))
    return PhaseForecast(phase, since, follows, left, stay, cores, None if memory_bytes is None else memory_bytes / GIB)


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


def _likely(model: PhaseModel, execution: ExecutionTrace, phases: Ints) -> tuple[Likely, Likely] | None:
    """What is needed next, and within the horizon, after the last sample; None where nothing like this was seen."""
    if model.needs is None:
        return None
    past = OwnPast(model, most=0)
    for time, need, phase in zip(execution.times, execution.values, phases, strict=True):
        past.add(float(time), need, int(phase))
    return past.likely()
