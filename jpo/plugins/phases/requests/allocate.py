"""Allocation: the request for CPU and memory from sample to sample, decided from what came before, within a budget of resizes.

A request covers what may be needed until the next resize is possible. It grows when the last sample comes close to it or the next
one probably exceeds it; it shrinks when that saves enough, the more the scarcer resizes are. Nothing of a sample is known before
it has come, its time neither.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.model import HORIZON_SECONDS, PhaseModel
from jpo.plugins.phases.requests.caution import LADDER, Pair, Step, StepTrial, step_at
from jpo.plugins.phases.requests.demand import RESOURCES, Likely
from jpo.plugins.phases.requests.watch import LEAST, AfterSample, Watch
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Floats, Traces

RESIZES_PER_HOUR = 30.0
HOUR_SECONDS = 3600.0
MOST_SAVED_UP = 4.0
"""Resizes that a quiet time leaves for a lively one."""
WORTHWHILE = 0.10
"""Saving, of CPU and memory in shares of their peaks together, for which a resize is spent where two are left; each one more or
less divides or multiplies it by STEEP."""
STEEP = 3.0
PATIENCE = 2.0
"""How often a saving too small by itself is forgone, each time for as long as a resize takes to come back, before it is taken."""


@dataclass(frozen=True, eq=False, slots=True)
class Allocation:
    """Requests of one execution.

    Attributes:
        execution: what was used; its first two features are CPU and memory.
        requests: shape (samples, 2), what was allocated at each sample.
        resized: positions of the samples at which the request changed.
        drifted: share of the samples at which the trace was unlike training.
    """

    execution: ExecutionTrace
    requests: Floats
    resized: tuple[int, ...]
    drifted: float = 0.0

    def rows(self) -> Iterator[tuple[str, float, float, float]]:
        """The first request and each new one: execution, time, cores, bytes."""
        for at in (0, *self.resized):
            cores, memory_bytes = map(float, self.requests[at])
            yield self.execution.name, float(self.execution.times[at]), cores, memory_bytes


class Budget:
    """Resizes that are left: one comes with every share of an hour, unused ones are kept up to MOST_SAVED_UP.

    What was kept never makes an hour, wherever it begins, have more than its resizes.
    """

    def __init__(self, per_hour: float) -> None:
        self._saved = 0.0
        self._per_hour = per_hour
        self._now = 0.0
        self._spent: list[float] = []

    @property
    def left(self) -> float:
        """Resizes that may be spent now."""
        return min(self._saved, max(self._per_hour, 1.0) - len(self._spent))

    def pass_time(self, seconds: float) -> None:
        """A sample comes: what was decided at the one before holds from now on."""
        self._now += seconds
        if self._spent and np.isinf(self._spent[-1]):
            self._spent[-1] = self._now
        while self._spent and self._spent[0] <= self._now - HOUR_SECONDS:
            self._spent.pop(0)
        self._saved = min(MOST_SAVED_UP, self._saved + seconds * self._per_hour / HOUR_SECONDS)

    def spend(self, *, saved_up: int = 1) -> None:
        """One resize, which holds from the next sample on, whenever that comes; `saved_up`: of those that were."""
        self._saved -= saved_up
        if not (self._spent and np.isinf(self._spent[-1])):  # two at one sample are one
            self._spent.append(np.inf)


@dataclass(frozen=True, slots=True)
class Due:
    """What is due of one resource after a sample.

    Attributes:
        at: of RESOURCES.
        step: of caution.
        least: below which nothing is requested.
        following: what the next sample probably needs, at least what the last one did.
        soon: the same within the horizon, as far as it is known without `likely`.
        likely: says what may be needed within the horizon; None: nobody knows.
    """

    at: int
    step: Step
    least: float
    following: float
    soon: float
    likely: Likely | None

    @property
    def trigger(self) -> float:
        """Below it a request has to grow."""
        return max(self.following * (1 + self.step.margin / 2), self.least)

    @property
    def request(self) -> float:
        soon = self.soon if self.likely is None else self.likely.quantile(self.at, self.step.soon)
        return max(max(soon, self.following) * (1 + self.step.margin), self.least)

    def saved(self, requested: float) -> float:
        """What that would save, at least 0; a quantile is looked up only where it would."""
        within = requested / (1 + self.step.margin)
        if self.likely is not None and not self.likely.is_within(self.at, self.step.soon, within):
            return 0.0
        return max(requested - self.request, 0.0)


class Requests:
    """The request as it follows what is known to be needed, on one step of caution."""

    def __init__(self, model: PhaseModel, caution: Pair, per_hour: float) -> None:
        self._caution, self._budget = caution, Budget(per_hour)
        steps = [step_at(step, 0) for step in caution]
        self._least: list[float] = (np.maximum(LEAST, [step.least for step in steps]) * model.most.ever).tolist()
        self._missed, self._excess = [0] * RESOURCES, 0.0
        margins = np.array([step.margin for step in steps])
        self.current: Floats = np.maximum(model.most.first * (1 + margins), self._least)
        self._peak: list[float] = np.maximum(model.most.ever, 1e-9).tolist()
        self._forgone, self._misses = 0.0, model.misses

    def follow(self, seen: AfterSample) -> bool:
        """Take note of a sample and what may follow it; whether the request has changed."""
        need, current = seen.need.tolist(), self.current.tolist()
        self._budget.pass_time(seen.seconds)
        missed = [used > requested for used, requested in zip(need, current, strict=True)]
        self._missed = [count + more for count, more in zip(self._missed, missed, strict=True)]
        self._excess += any(missed) - self._misses
        left = self._budget.left
        if left < 1:
            return False
        likely = seen.likely()
        resources = [self._due(at, seen, likely, need[at]) for at in range(RESOURCES)]
        saved = sum(due.saved(had) / peak for due, had, peak in zip(resources, current, self._peak, strict=True))
        worthwhile = WORTHWHILE * STEEP ** -(int(left) - 2)
        self._forgone += saved * seen.seconds / HORIZON_SECONDS
        saves = saved > worthwhile or self._forgone > PATIENCE * worthwhile
        if not (saves or any(had < due.trigger * 0.999 for due, had in zip(resources, current, strict=True))):
            return False
        self._budget.spend()
        self._forgone = 0.0
        wanted = np.array([due.request for due in resources])
        self.current = wanted if saves else np.maximum(self.current, wanted)
        self._peak = list(map(max, self._peak, self.current.tolist()))
        return True

    def back(self, request: Floats) -> None:
        """Hold this one instead, e.g. the first, at once: the hour has one resize less, those saved up stay."""
        self.current = request
        self._budget.spend(saved_up=0)

    def _due(self, at: int, seen: AfterSample, likely: tuple[Likely, Likely] | None, need: float) -> Due:
        step = step_at(self._caution[at], self._climbed(at) if likely is not None else len(LADDER))
        recent = float(seen.recent[at])
        if likely is None or step.window:
            following = max(need, recent) if likely is None else need
            return Due(at, step, self._least[at], following, recent, None)
        following = need if likely[0].is_within(at, step.next, need) else likely[0].quantile(at, step.next)
        return Due(at, step, self._least[at], following, following, likely[1])

    def _climbed(self, at: int) -> int:
        """Steps by which a resource is more careful than the fit had it: as many as misses too many, by whose they were."""
        excess = int(self._excess)
        return math.ceil(excess * self._missed[at] / max(self._missed)) if excess > 0 else 0


def allocate(model: PhaseModel, traces: Traces, *, per_hour: float = RESIZES_PER_HOUR) -> tuple[Allocation, ...]:
    """The requests of each execution, as they would have been made while it ran.

    Raises UsageError: JPO-E736, the model knows nothing of CPU and memory; JPO-E731, the traces lack one of its features.
    """
    found = []
    for execution in _executions(model, traces):
        watch = Watch(model)
        ((requests, resized),) = _followed(model, _watched(model, execution, watch), (model.caution,), per_hour)
        found.append(Allocation(execution, requests, resized, watch.drifted / len(execution.times)))
    return tuple(found)


class LeftOut:
    """Executions that a model has not seen, on which steps of caution are tried; what is known at each sample is found once.

    Raises UsageError: JPO-E736, the model knows nothing of CPU and memory; JPO-E731, the traces lack one of its features.
    """

    def __init__(self, model: PhaseModel, traces: Traces) -> None:
        self._model = model
        self._executions = [(execution, [*_known_once(model, execution)]) for execution in _executions(model, traces)]

    def on(self, cautions: Sequence[Pair]) -> StepTrial:
        nothing = np.zeros((len(cautions), RESOURCES))
        trial = StepTrial(nothing, nothing[:, 0], nothing, 0, nothing[:, 0])
        for execution, seen in self._executions:
            used = execution.values[:, :RESOURCES]
            made = [requests for requests, _ in _followed(self._model, seen, cautions, RESIZES_PER_HOUR)]
            missed = np.array([requests < used for requests in made])  # (cautions, samples, 2)
            allocated = np.array([(requests / np.maximum(used.max(0), 1e-9)).sum(0) for requests in made])
            either = missed.max(2)
            spells = either[:, 0] + (either[:, 1:] > either[:, :-1]).sum(1)
            trial = trial.with_(StepTrial(missed.sum(1), either.sum(1), allocated, len(used), spells))
        return trial


def _known_once(model: PhaseModel, execution: ExecutionTrace) -> Iterator[AfterSample]:
    """What is known after each sample, worked out for whoever asks, and whenever."""
    seen = _watched(model, execution, Watch(model))
    return (replace(known, likely=partial(lambda likely: likely, known.likely())) for known in seen)


def _watched(model: PhaseModel, execution: ExecutionTrace, watch: Watch) -> Iterator[AfterSample]:
    """What is known after each sample but the last."""
    names = _features(model)
    densities = model.densities(execution.values[:, [names.index(name) for name in model.scaler.names]])
    for at, (time, need) in enumerate(zip(execution.times[:-1], execution.values[:-1, :RESOURCES], strict=True)):
        watch.see(float(time), need, densities[at])
        yield AfterSample(float(time - execution.times[at - 1]) if at else 0.0, need, watch.likely, watch.recent.most)


def _followed(
    model: PhaseModel, seen: Iterable[AfterSample], cautions: Sequence[Pair], per_hour: float
) -> list[tuple[Floats, tuple[int, ...]]]:
    """For each pair of steps the requests at each sample, shape (samples, 2), and the positions at which they changed."""
    followers = [Requests(model, caution, per_hour) for caution in cautions]
    requests, resized = [[follower.current] for follower in followers], [list[int]() for _ in followers]
    for at, known in enumerate(seen, start=1):
        for one, follower in enumerate(followers):
            if follower.follow(known):
                resized[one].append(at)
            requests[one].append(follower.current)
    return [(np.array(made), tuple(changed)) for made, changed in zip(requests, resized, strict=True)]


def _features(model: PhaseModel) -> tuple[str, ...]:
    """CPU and memory first, then what else the model looks at."""
    return tuple(dict.fromkeys((CPU, MEMORY, *model.scaler.names)))


def _executions(model: PhaseModel, traces: Traces) -> tuple[ExecutionTrace, ...]:
    """The executions with the features of _features; raises as `allocate`."""
    if model.needs is None:
        finding = f"cannot be allocated for: the model was fitted without {CPU} and {MEMORY}"
        raise UsageError(traces.place, finding, "fit it on traces with both", code="JPO-E736")
    return traces.narrowed(_features(model)).executions
