"""Allocation: the request for CPU and memory from sample to sample, decided from what came before, within a budget of resizes.

A request covers what may be needed until the next resize is possible. It grows when the last sample comes close to it or the next
one probably exceeds it; it shrinks when that saves enough, the more the scarcer resizes are. Nothing of a sample is known before
it has come, its time neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jpo.errors import UsageError
from jpo.phases.chain import step
from jpo.phases.model import HORIZON_SECONDS, STRANGE, WINDOW, PhaseModel
from jpo.phases.requests.caution import LADDER, MISSES, Pair, StepTrial, steps_at, window_steps
from jpo.phases.requests.demand import MOST_POSITIONS, RESOURCES, Futures, Likely, Past, Positions, expect
from jpo.phases.traces import CPU, MEMORY, Floats, ResourceCourse, Traces

RESIZES_PER_HOUR = 30.0
"""How often a request may change."""
HOUR_SECONDS = 3600.0
MOST_SAVED_UP = 4.0
"""Resizes that a quiet time leaves for a lively one."""
WORTHWHILE = 0.10
"""Saving, of CPU and memory in shares of their peaks together, for which a resize is spent where two are left; each one more or
less divides or multiplies it by STEEP."""
STEEP = 3.0
PATIENCE = 2.0
"""How often a saving too small by itself is forgone, each time for as long as a resize takes to come back, before it is taken."""
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
        likely: says what may be needed next, and within the horizon; None where nobody knows: `recent` counts. It is asked, if
            at all, before the next sample.
        recent: shape (2,), the most within RECENT_SECONDS.
    """

    seconds: float
    need: Floats
    likely: Callable[[], tuple[Likely, Likely] | None]
    recent: Floats


class Requests:
    """The request as it follows what is known to be needed, on one step of caution."""

    def __init__(self, model: PhaseModel, caution: Pair, per_hour: float) -> None:
        self._caution, self._budget = caution, Budget(per_hour)
        self._least, self._window = LEAST * model.peak, window_steps(caution)
        self._missed, self._excess = np.zeros(RESOURCES), 0.0
        _, _, margin = steps_at(caution, (0, 0))
        self.current: Floats = np.maximum(model.first_need * (1 + margin), self._least)
        self._peak = np.maximum(model.peak, 1e-9)
        self._forgone = 0.0

    def follow(self, seen: AfterSample) -> bool:
        """Take note of a sample and what may follow it; whether the request has changed."""
        need, recent = seen.need, seen.recent
        self._budget.pass_time(seen.seconds)
        missed = need > self.current
        self._missed += missed
        self._excess += missed.any() - MISSES
        if self._budget.left < 1:
            return False
        likely = seen.likely()
        soon_q, next_q, margin = steps_at(self._caution, self._climbed() if likely is not None else (len(LADDER), len(LADDER)))
        following, soon = recent, recent
        if likely is not None:
            following, soon = likely[0].quantiles(next_q), likely[1].quantiles(soon_q)
            following, soon = np.where(self._window, 0.0, following), np.where(self._window, recent, soon)
        trigger = np.maximum(np.maximum(following, need) * (1 + margin / 2), self._least)
        wanted = np.maximum(np.maximum(np.maximum(soon, following), need) * (1 + margin), self._least)
        saved = float((np.maximum(self.current - wanted, 0) / self._peak).sum())
        worthwhile = WORTHWHILE * STEEP ** -(int(self._budget.left) - 2)
        self._forgone += saved * seen.seconds / HORIZON_SECONDS
        saves = saved > worthwhile or self._forgone > PATIENCE * worthwhile
        if not (saves or (self.current < trigger * 0.999).any()):
            return False
        self._budget.spend()
        self._forgone = 0.0
        self.current = wanted if saves else np.maximum(self.current, wanted)
        self._peak = np.maximum(self._peak, self.current)
        return True

    def _climbed(self) -> Pair:
        """Steps by which CPU and memory are more careful than the fit had it: as many as misses too many, by whose they were."""
        cpu, memory = np.ceil(max(0, int(self._excess)) * self._missed / max(self._missed.max(), 1.0))
        return int(cpu), int(memory)


class Watch:
    """What is known of an execution as it goes on: its phase by the filter, its past, and whether it is like training."""

    def __init__(self, model: PhaseModel) -> None:
        assert model.needs is not None
        self._model = model
        self._expected = model.chain.start
        self._known = [futures(model, model.needs, phase) for phase in range(model.chain.phases)]
        self._past = Past(HORIZON_SECONDS, MOST_POSITIONS)
        self._densities: list[float] = []
        self._window: list[tuple[float, Floats]] = []
        self._strange = False
        self.drifted = 0

    def see(self, time: float, need: Floats, densities: Floats) -> None:
        """Take note of a sample."""
        highest = densities.max()
        probabilities, evidence = step(self._expected, np.exp(densities - highest))
        self._expected = probabilities @ self._model.chain.transitions
        self._past.add(time, need, int(probabilities.argmax()))
        self._window = [(then, used) for then, used in self._window if then >= time - RECENT_SECONDS][-MOST_POSITIONS:]
        self._window.append((time, need))
        self._densities = [*self._densities[-WINDOW + 1 :], float(np.log(evidence) + highest)]
        self._strange = sum(self._densities) / len(self._densities) < self._model.least_density - STRANGE
        self.drifted += self._strange

    def likely(self) -> tuple[Likely, Likely] | None:
        """What may be needed after the last sample; None where the trace has drifted, or nothing like it was ever seen."""
        if self._strange:
            return None
        phase, dwell_seconds, level = self._past.here
        return expect(dwell_seconds, level, (self._known[phase], futures(self._model, self._past.positions(), phase)))

    @property
    def recent(self) -> Floats:
        """The most within RECENT_SECONDS, at least of the last sample."""
        most: Floats = np.max([used for _, used in self._window], axis=0)
        return most


def futures(model: PhaseModel, positions: Positions, phase: int) -> Futures:
    """Futures of positions in a phase, as alike as the model's samples are close."""
    return Futures(positions, phase, 2 * model.interval_seconds, LEAST * model.peak)


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
        self._courses = [(course, _known_once(model, course)) for course in traces.narrowed(_features(model)).courses]

    def on(self, cautions: Sequence[Pair]) -> StepTrial:
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
    watch = Watch(model)
    requests, resized = _followed(model, _watched(model, course, watch), model.caution, per_hour)
    return Allocation(course, requests, resized, watch.drifted / len(course.times))


def _known_once(model: PhaseModel, course: ResourceCourse) -> list[AfterSample]:
    """What is known after each sample, worked out for whoever asks, and whenever."""
    seen = _watched(model, course, Watch(model))
    return [replace(known, likely=partial(_itself, known.likely())) for known in seen]


def _itself(likely: tuple[Likely, Likely] | None) -> tuple[Likely, Likely] | None:
    return likely


def _watched(model: PhaseModel, course: ResourceCourse, watch: Watch) -> Iterator[AfterSample]:
    """What is known after each sample but the last."""
    names = _features(model)
    densities = model.densities(course.values[:, [names.index(name) for name in model.scaler.names]])
    for at, (time, need) in enumerate(zip(course.times[:-1], course.values[:-1, :RESOURCES], strict=True)):
        watch.see(float(time), need, densities[at])
        yield AfterSample(float(time - course.times[at - 1]) if at else 0.0, need, watch.likely, watch.recent)


def _followed(model: PhaseModel, seen: Iterable[AfterSample], caution: Pair, per_hour: float) -> tuple[Floats, tuple[int, ...]]:
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
