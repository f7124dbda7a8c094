"""What is known of an execution as it goes on: its phase, its past, what may be needed next, and whether it is like training.

Nothing here depends on what is requested. Nothing of a sample is known before it has come.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import step
from jpo.plugins.phases.model import HORIZON_SECONDS, STRANGE, WINDOW, PhaseModel
from jpo.plugins.phases.requests.demand import MOST_POSITIONS, Futures, Likely, Past, Positions
from jpo.plugins.phases.traces import Floats

RECENT_SECONDS = 300.0
"""Of a run's own past where phases say nothing, as in Autopilot."""
LEAST = np.array([0.10, 0.05])
"""Of the peak in training, CPU and memory: below it a saving is small, and a miss counts as much as anywhere. Memory idles more
steadily."""


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


class Recent:
    """The most of CPU and memory within RECENT_SECONDS, of at most MOST_POSITIONS samples before the last one."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, ...]] = deque(maxlen=MOST_POSITIONS + 1)  # time, cores, bytes

    def add(self, time: float, need: Sequence[float]) -> None:
        self._samples.append((time, *need))
        while self._samples[0][0] < time - RECENT_SECONDS:
            self._samples.popleft()

    @property
    def most(self) -> Floats:
        """Shape (2,), at least of the last sample."""
        most: Floats = np.array(self._samples).max(0)[1:]
        return most


class OwnPast:
    """What a run's own past and training say together: of each phase the futures, which grow as the run goes on."""

    def __init__(self, model: PhaseModel, most: int = MOST_POSITIONS) -> None:
        """`most`: of its newest samples that are kept, at least; 0: all."""
        assert model.needs is not None
        self._known = [futures(model, model.needs, phase) for phase in range(model.chain.phases)]
        self._trained = [len(known) for known in self._known]
        self._past = Past(HORIZON_SECONDS, most)
        self._forgotten = self._taken = 0
        self._new: list[list[int]] = [[] for _ in self._known]  # settled positions of each phase that its futures lack

    def add(self, time: float, need: Floats, phase: int) -> None:
        self._past.add(time, need, phase)
        if self._past.forgotten > self._forgotten:
            self._forgotten, self._taken = self._past.forgotten, 0
            for known, trained, new in zip(self._known, self._trained, self._new, strict=True):
                known.forget(trained)
                new.clear()
        settled = self._past.settled
        phases = self._past.samples.phase
        for row in range(self._taken, settled):
            self._new[phases[row]].append(row)
        self._taken = settled

    @property
    def here(self) -> tuple[int, float]:
        """The phase of the last sample, and how many seconds it lasts already."""
        return self._past.here[:2]

    def likely(self) -> tuple[Likely, Likely] | None:
        """What may be needed after the last sample; None where nothing like it was ever seen."""
        phase, dwell_seconds, level = self._past.here
        samples, new = self._past.samples, self._new[phase]
        unsettled = np.flatnonzero(samples.phase[self._taken : len(self._past) - 1] == phase) + self._taken
        rows = np.concatenate([np.array(new, dtype=np.int64), unsettled]) if new else unsettled
        self._known[phase].add(samples, rows, len(unsettled))
        new.clear()
        return self._known[phase].at(dwell_seconds, level)


class Watch:
    """What is known of an execution as it goes on: its phase by the filter, its past, and whether it is like training."""

    def __init__(self, model: PhaseModel) -> None:
        self._model = model
        self._expected = model.chain.start
        self.past, self.recent = OwnPast(model), Recent()
        self._densities: deque[float] = deque(maxlen=WINDOW)
        self.strange = False
        self.drifted = 0

    def see(self, time: float, need: Floats, densities: Floats) -> None:
        highest = densities.max()
        probabilities, evidence = step(self._expected, np.exp(densities - highest))
        self._expected = probabilities @ self._model.chain.transitions
        self.past.add(time, need, int(probabilities.argmax()))
        self.recent.add(time, need.tolist())
        self._densities.append(float(np.log(evidence) + highest))
        self.strange = sum(self._densities) / len(self._densities) < self._model.least_density - STRANGE
        self.drifted += self.strange

    def likely(self) -> tuple[Likely, Likely] | None:
        """What may be needed after the last sample; None where the trace has drifted, or nothing like it was ever seen."""
        return None if self.strange else self.past.likely()


def futures(model: PhaseModel, positions: Positions, phase: int) -> Futures:
    """Futures of positions in a phase, as alike as the model's samples are close."""
    return Futures(positions, phase, 2 * model.interval_seconds, LEAST * model.most.ever)
