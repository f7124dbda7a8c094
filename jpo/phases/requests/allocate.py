"""Allocation: the request for CPU and memory from sample to sample, decided from what came before, within a budget of resizes.

A request covers what may be needed until the next resize is possible. It grows when the last sample comes close to it or the next
one probably exceeds it; it shrinks when that saves enough, the more the scarcer resizes are. Nothing of a sample is known before
it has come, its time neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.errors import UsageError
from jpo.phases.chain import step
from jpo.phases.model import HORIZON_SECONDS, STRANGE, WINDOW, PhaseModel
from jpo.phases.requests.caution import LADDER, MISSES, StepTrial, steps_at, window_steps
from jpo.phases.requests.demand import MOST_POSITIONS, RESOURCES, Likely, Past, expect
from jpo.phases.traces import CPU, MEMORY, Floats, ResourceCourse, Traces

RESIZES_PER_HOUR = 30.0
"""How often a request may change."""
HOUR_SECONDS = 3600.0
MOST_SAVED_UP = 4.0
"""Resizes that a quiet time leaves for a lively one."""
WORTHWHILE = 0.10
"""Saving for which a resize is spent where two are left; each one more or less divides or multiplies it by STEEP."""
STEEP = 3.0
RECENT_SECONDS = 300.0
"""Of a run's own past where phases say nothing, as in Autopilot."""
LEAST = 0.10
"""Of the peak in training: below it a saving is small, and a miss counts as much as anywhere."""


@dataclass(frozen=True, eq=False, slots=True)
class Allocation:
    """Requests of one execution.

    Attributes:
        course: what was used; its first two features are CPU and memory.
        requests: shape (samples, 2), what was allocated at each sample.
        resized: positions of the samples at which the request changed.
        drifted: share of the samples at which the trace was unlike training.
    """

    course: ResourceCourse
    requests: Floats
    resized: tuple[int, ...]
    drifted: float = 0.0

    def rows(self) -> Iterator[tuple[str, float, float, float]]:
        """The first request and each new one: execution, time, cores, bytes."""
        for at in (0, *self.resized):
            cores, memory_bytes = map(float, self.requests[at])
            yield self.course.execution, float(self.course.times[at]), cores, memory_bytes


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
        self._spent = [time for time in self._spent if time > self._now - HOUR_SECONDS]
        self._saved = min(MOST_SAVED_UP, self._saved + seconds * self._per_hour / HOUR_SECONDS)

    def spend(self) -> None:
        """One resize, which holds from the next sample on, whenever that comes."""
        self._saved -= 1
        self._spent.append(np.inf)


@dataclass(frozen=True, eq=False, slots=True)
class AfterSample:
    """What is known after a sample, whatever is requested.

    Attributes:
        seconds: since the sample before it; 0 at the first.
        need: shape (2,), what the sample used.
        likely: what may be needed next, and within the horizon; None where nobody knows: `recent` counts.
        recent: shape (2,), the most within RECENT_SECONDS.
    """

    seconds: float
    need: Floats
    likely: tuple[Likely, Likely] | None
    recent: Floats


class Requests:
    """The request as it follows what is known to be needed, on one step of caution."""

    def __init__(self, model: PhaseModel, caution: Sequence[int], per_hour: float) -> None:
        self._caution, self._budget = caution, Budget(per_hour)
        self._least, self._window = LEAST * model.peak, window_steps(caution)
        self._missed = 0.0
        _, _, margin = steps_at(caution, 0)
        self.current: Floats = np.maximum(model.first_need * (1 + margin), self._least)

    def follow(self, seen: AfterSample) -> bool:
        """Take note of a sample and what may follow it; whether the request has changed."""
        need, recent, likely = seen.need, seen.recent, seen.likely
        self._budget.pass_time(seen.seconds)
        self._missed += float((need > self.current).any()) - MISSES
        careful = len(LADDER) if likely is None else max(0, int(self._missed))
        soon_q, next_q, margin = steps_at(self._caution, careful)
        following, soon = recent, recent
        if likely is not None:
            following = np.array([likely[0].quantile(resource, next_q[resource]) for resource in range(RESOURCES)])
            soon = np.array([likely[1].quantile(resource, soon_q[resource]) for resource in range(RESOURCES)])
            following, soon = np.where(self._window, 0.0, following), np.where(self._window, recent, soon)
        trigger = np.maximum(np.maximum(following, need) * (1 + margin / 2), self._least)
        wanted = np.maximum(np.maximum(np.maximum(soon, following), need) * (1 + margin), self._least)
        worthwhile = WORTHWHILE * STEEP ** -(int(self._budget.left) - 2)
        saves = self.current > wanted * (1 + worthwhile)
        if self._budget.left < 1 or not ((self.current < trigger * 0.999).any() or saves.any()):
            return False
        self._budget.spend()
        self.current = np.where((self.current < wanted) | saves, wanted, self.current)
        return True


class Watch:
    """What is known of an execution as it goes on: its phase by the filter, its past, and whether it is like training."""

    def __init__(self, model: PhaseModel) -> None:
        assert model.needs is not None
        self._model = model
        self._expected = model.chain.start
        self._known = [model.needs.at(model.needs.phase == phase) for phase in range(model.chain.phases)]
        self._past = Past(HORIZON_SECONDS, MOST_POSITIONS)
        self._densities: list[float] = []
        self._window: list[tuple[float, Floats]] = []
        self.drifted = 0

    def see(self, time: float, need: Floats, densities: Floats) -> tuple[Likely, Likely] | None:
        """What may be needed after a sample; None where the trace has drifted, or nothing like it was ever seen."""
        highest = densities.max()
        probabilities, evidence = step(self._expected, np.exp(densities - highest))
        self._expected = probabilities @ self._model.chain.transitions
        self._past.add(time, need, int(probabilities.argmax()))
        self._window = [(then, used) for then, used in self._window if then >= time - RECENT_SECONDS][-MOST_POSITIONS:]
        self._window.append((time, need))
        self._densities = [*self._densities[-WINDOW + 1 :], float(np.log(evidence) + highest)]
        if float(np.mean(self._densities)) < self._model.least_density - STRANGE:
            self.drifted += 1
            return None
        here = self._past.here
        known = (self._known[here[0]], self._past.positions())
        return expect(here, known, 2 * self._model.interval_seconds, LEAST * self._model.peak)

    @property
    def recent(self) -> Floats:
        """The most within RECENT_SECONDS, at least of the last sample."""
        most: Floats = np.max([used for _, used in self._window], axis=0)
        return most


def allocate(model: PhaseModel, traces: Traces, *, per_hour: float = RESIZES_PER_HOUR) -> tuple[Allocation, ...]:
    """The requests of each execution, as they would have been made while it ran.

    Raises:
        UsageError: JPO-E736, the model knows nothing of CPU and memory; JPO-E731, the traces lack one of its features.
    """
    _require_needs(model, traces)
    return tuple(_allocated(model, course, per_hour) for course in traces.narrowed(_features(model)).courses)


class LeftOut:
    """Executions that a model has not seen, on which steps of caution are tried; what is known at each sample is found once.

    Raises:
        UsageError: JPO-E736, the model knows nothing of CPU and memory; JPO-E731, the traces lack one of its features.
    """

    def __init__(self, model: PhaseModel, traces: Traces) -> None:
        _require_needs(model, traces)
        self._model = model
        self._courses = [(course, _watched(model, course)[0]) for course in traces.narrowed(_features(model)).courses]

    def on(self, cautions: Sequence[tuple[int, int]]) -> StepTrial:
        """What pairs of steps, for CPU and memory, do on them."""
        nothing = np.zeros((len(cautions), RESOURCES))
        trial = StepTrial(nothing, nothing[:, 0], nothing, 0)
        for course, seen in self._courses:
            used = course.values[:, :RESOURCES]
            made = [_followed(self._model, seen, caution, RESIZES_PER_HOUR)[0] for caution in cautions]
            missed = np.array([requests < used for requests in made])  # (cautions, samples, 2)
            allocated = np.array([(requests / np.maximum(used.max(0), 1e-9)).sum(0) for requests in made])
            trial = trial.with_(StepTrial(missed.sum(1), missed.any(2).sum(1), allocated, len(used)))
        return trial


def _allocated(model: PhaseModel, course: ResourceCourse, per_hour: float) -> Allocation:
    seen, drifted = _watched(model, course)
    return Allocation(course, *_followed(model, seen, model.caution, per_hour), drifted)


def _watched(model: PhaseModel, course: ResourceCourse) -> tuple[list[AfterSample], float]:
    """What is known after each sample but the last, and the share of samples unlike training."""
    names = _features(model)
    densities = model.densities(course.values[:, [names.index(name) for name in model.scaler.names]])
    watch = Watch(model)
    seen = []
    for at, (time, need) in enumerate(zip(course.times[:-1], course.values[:-1, :RESOURCES], strict=True)):
        likely = watch.see(float(time), need, densities[at])
        seen.append(AfterSample(float(time - course.times[at - 1]) if at else 0.0, need, likely, watch.recent))
    return seen, watch.drifted / len(course.times)


def _followed(
    model: PhaseModel, seen: Iterable[AfterSample], caution: tuple[int, int], per_hour: float
) -> tuple[Floats, tuple[int, ...]]:
    """Requests at each sample, shape (samples, 2), and the positions at which they changed."""
    follower = Requests(model, caution, per_hour)
    requests, resized = [follower.current], []
    for at, known in enumerate(seen, start=1):
        if follower.follow(known):
            resized.append(at)
        requests.append(follower.current)
    return np.array(requests), tuple(resized)


def _features(model: PhaseModel) -> tuple[str, ...]:
    """CPU and memory first, then what else the model looks at."""
    return tuple(dict.fromkeys((CPU, MEMORY, *model.scaler.names)))


def _require_needs(model: PhaseModel, traces: Traces) -> None:
    if model.needs is None:
        finding = f"cannot be allocated for: the model was fitted without {CPU} and {MEMORY}"
        raise UsageError(traces.place, finding, "fit it on traces with both", code="JPO-E736")
