"""Allocation: the request for CPU and memory from sample to sample, decided from what came before, within a budget of resizes.

A request covers what may be needed until the next resize is possible. It grows when the last sample comes close to it or the next
one probably exceeds it; it shrinks when that saves enough, the more the scarcer resizes are. Nothing of a sample is known before
it has come, its time neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """Resizes that are left: one comes with every share of an hour, unused ones are kept up to MOST_SAVED_UP."""

    def __init__(self, per_hour: float) -> None:
        self.left = 0.0
        self._per_second = per_hour / 3600

    def pass_time(self, seconds: float) -> None:
        self.left = min(MOST_SAVED_UP, self.left + seconds * self._per_second)


class Requests:
    """The request as it follows what is known to be needed, on one step of caution."""

    def __init__(self, model: PhaseModel, caution: Sequence[int], per_hour: float) -> None:
        self._caution, self._budget = caution, Budget(per_hour)
        self._least, self._window = LEAST * model.peak, window_steps(caution)
        self._missed = 0.0
        _, _, margin = steps_at(caution, 0)
        self.current: Floats = np.maximum(model.first_need * (1 + margin), self._least)

    def follow(self, need: Floats, seconds: float, likely: tuple[Likely, Likely] | None, recent: Floats) -> bool:
        """Take note of a sample and what may follow it; whether the request has changed.

        Args:
            need: shape (2,), what the sample used.
            seconds: since the one before it.
            likely: what may be needed next, and within the horizon; None where nobody knows: `recent` counts.
            recent: shape (2,), the most within RECENT_SECONDS.
        """
        self._budget.pass_time(seconds)
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
        self._budget.left -= 1
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
    return tuple(_allocated(model, course, (model.caution,), per_hour)[0] for course in traces.narrowed(_features(model)).courses)


def on_all_steps(model: PhaseModel, traces: Traces) -> StepTrial:
    """What each step of caution does on executions that the model has not seen."""
    _require_needs(model, traces)
    cautions = tuple((at, at) for at in range(len(LADDER)))
    trial = StepTrial(np.zeros((len(LADDER), RESOURCES)), np.zeros((len(LADDER), RESOURCES)), 0)
    for course in traces.narrowed(_features(model)).courses:
        used = course.values[:, :RESOURCES]
        allocations = _allocated(model, course, cautions, RESIZES_PER_HOUR)
        missed = np.array([(allocation.requests < used).sum(0) for allocation in allocations], dtype=np.float64)
        peak = np.maximum(used.max(0), 1e-9)
        allocated = np.array([(allocation.requests / peak).sum(0) for allocation in allocations])
        trial = trial.with_(StepTrial(missed, allocated, len(used)))
    return trial


def _allocated(
    model: PhaseModel, course: ResourceCourse, cautions: Sequence[tuple[int, int]], per_hour: float
) -> tuple[Allocation, ...]:
    """Requests on several steps of caution at once: what may be needed is the same for all."""
    names = _features(model)
    densities = model.densities(course.values[:, [names.index(name) for name in model.scaler.names]])
    watch = Watch(model)
    followers = [Requests(model, caution, per_hour) for caution in cautions]
    requests = [[follower.current] for follower in followers]
    resized: list[list[int]] = [[] for _ in followers]
    for at, (time, need) in enumerate(zip(course.times[:-1], course.values[:-1, :RESOURCES], strict=True)):
        likely = watch.see(float(time), need, densities[at])
        seconds = float(time - course.times[at - 1]) if at else 0.0
        for follower, made, changed in zip(followers, requests, resized, strict=True):
            if follower.follow(need, seconds, likely, watch.recent):
                changed.append(at + 1)
            made.append(follower.current)
    drifted = watch.drifted / len(course.times)
    return tuple(
        Allocation(course, np.array(made), tuple(changed), drifted) for made, changed in zip(requests, resized, strict=True)
    )


def _features(model: PhaseModel) -> tuple[str, ...]:
    """CPU and memory first, then what else the model looks at."""
    return tuple(dict.fromkeys((CPU, MEMORY, *model.scaler.names)))


def _require_needs(model: PhaseModel, traces: Traces) -> None:
    if model.needs is None:
        finding = f"cannot be allocated for: the model was fitted without {CPU} and {MEMORY}"
        raise UsageError(traces.place, finding, "fit it on traces with both", code="JPO-E736")
