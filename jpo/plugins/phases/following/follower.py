"""A run as it goes on: its phase at each sample, what comes next, and the request that follows, never below what is in use.

A request that is also a limit hides what it keeps a run from using. So one that is used up goes back to the first, where the
budget has no resize left by which it would grow; so does one of which there is any doubt. Both count: no hour has more than
RESIZES_PER_HOUR, the way back included.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.forecast import PhaseForecast, expected
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import RESIZES_PER_HOUR, Requests
from jpo.plugins.phases.requests.demand import RESOURCES
from jpo.plugins.phases.requests.watch import AfterSample, Watch
from jpo.plugins.phases.traces import CPU, MEMORY, Floats

HEADROOM = 0.02
"""Above what is in use, at least: the least margin of the steps of caution."""
GRID = 16
"""Values that CPU which is used up may hide."""
USED_UP = 0.99
"""Share of a request in use from which it may hide what is needed."""


class UsageSample(NamedTuple):
    """What a run used: mean cores since the sample before, and memory at `t`, Unix seconds."""

    t: float
    cores: float
    memory_bytes: float


class FollowTarget(Protocol):
    """A run whose samples are taken and whose request may be changed; cores and bytes, infinite where nothing limits them.

    `first`: the request that it had when it was found; `least`: below which it cannot go.
    """

    name: str
    first: tuple[float, float]
    least: tuple[float, float]

    def samples(self) -> Sequence[tuple[float, float, float]] | None:
        """Those since the last look (`UsageSample`), oldest first; None: it has ended."""

    def held(self) -> tuple[float, float]:
        """The request in force."""

    def give(self, request: tuple[float, float]) -> None:
        """Change it; the first one puts back what was there. JpoError: it cannot be changed."""


@dataclass(frozen=True, eq=False, slots=True)
class FollowedState:
    """Where a run stands after a sample.

    Attributes:
        sample: the last one.
        coming: its phase, and what is expected of it.
        request: shape (2,), cores and bytes that it should hold from now on.
        shares: shape (2,), what it held so far / its own peak throughout, as `jpo phases evaluate` has it.
        doubt: why it should hold its first request, as words; empty: it follows the phases.
    """

    sample: UsageSample
    coming: PhaseForecast
    request: Floats
    shares: Floats
    doubt: str = ""


class RequestFollower:
    """The request of one run by its phases.

    Raises UsageError: JPO-E736, the model knows nothing of CPU and memory; JPO-E731, it looks at something else besides.
    """

    def __init__(self, model: PhaseModel, target: FollowTarget) -> None:
        if model.needs is None:
            finding = f"was fitted without {CPU} and {MEMORY}"
            raise UsageError(target.name, finding, "fit it on traces with both", code="JPO-E736")
        if others := [name for name in model.scaler.names if name not in (CPU, MEMORY)]:
            finding = f"looks at {', '.join(others)}; of a run only {CPU} and {MEMORY} are measured while it lasts"
            raise UsageError(target.name, finding, f"fit it with --feature {CPU} --feature {MEMORY}", code="JPO-E731")
        self._model, self._least = model, np.array(target.least)
        self._first = self._held = np.array(target.first)
        self._columns = [(CPU, MEMORY).index(name) for name in model.scaler.names]
        self._watch = Watch(model)
        self._requests = Requests(model, model.caution, RESIZES_PER_HOUR - RESOURCES)  # each has a way back
        self._last: UsageSample | None = None
        self._seen, self._sum, self._peak = 0, np.zeros(2), np.zeros(2)
        self.state: FollowedState | None = None

    def see(self, sample: UsageSample) -> FollowedState | None:
        """Take note of a sample; None before the first one that is a measurement."""
        if self._last is not None and not sample.t > self._last.t:
            return self.back(f"time goes back by {self._last.t - sample.t:.3g} s")
        used = np.array(sample[1:])
        if not (np.isfinite(used).all() and (used >= 0).all()):
            return self.back(f"{used[0]:g} cores and {used[1]:g} bytes cannot be measured")
        since = sample.t - self._last.t if self._last else 0.0
        begins, self._last = self._last is None, sample
        self._watch.see(sample.t, used, self._densities(used))
        changed = self._requests.follow(AfterSample(since, used, self._watch.likely, self._watch.recent.most))
        coming = expected(self._model, *self._watch.past.here, self._watch.likely())
        self._seen, self._sum, self._peak = self._seen + 1, self._sum + self._held, np.maximum(self._peak, used)
        shares = self._sum / self._seen / np.maximum(self._peak, 1e-9)
        self.state = FollowedState(sample, coming, self._held, shares)
        if self._watch.strange:
            return self.back("it is unlike what the model knows")
        wanted, lower = self._held, self._held < self._first
        if changed or begins:
            wanted = np.maximum(self._requests.current, used * (1 + HEADROOM))
            if not changed:
                self._requests.back(self._requests.current)
        elif (used >= USED_UP * self._held)[lower].any():
            wanted = np.where(lower & (used >= USED_UP * self._held), self._first, self._held)
            self._requests.back(wanted)
        self._held = np.minimum(np.maximum(wanted, self._least), self._first)
        self.state = replace(self.state, request=self._held)
        return self.state

    def _densities(self, used: Floats) -> Floats:
        """Log densities in each phase; of CPU that is used up, at what fits the phase best of all that it may hide."""
        might = used[None]
        if used[0] >= USED_UP * self._held[0] and self._held[0] < self._first[0]:
            might = np.repeat(might, GRID, axis=0)
            might[:, 0] = np.linspace(used[0], max(used[0], self._model.most.ever[0]), GRID)
        return np.asarray(self._model.densities(might[:, self._columns]).max(0))

    def back(self, doubt: str) -> FollowedState | None:
        """The first request, because of a doubt."""
        if (self._held < self._first).any():
            self._held = self._first
            self._requests.back(self._first)
        if self.state is not None:
            self.state = replace(self.state, request=self._held, doubt=doubt)
        return self.state
