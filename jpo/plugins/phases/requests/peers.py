"""Other ways to allocate, as simple as their authors describe them: what a phase model is held against.

Each gets what the model gets: the executions of training as history, the samples before the one it decides on, and as many
resizes per hour. The clairvoyant knows the run itself and is no way at all: it says how much there is to be saved.

Sources: the recommender of the Kubernetes vertical pod autoscaler (percentile 90 of a histogram that halves every 24 hours,
15% on top); Rzadca et al., "Autopilot", EuroSys 2020 (peak of a moving window); robusta KRR (percentile 95 of CPU, peak of
memory + 15%).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from jpo.plugins.phases.requests.allocate import Allocation
from jpo.plugins.phases.requests.demand import RESOURCES
from jpo.plugins.phases.traces import ExecutionTrace, Floats

Allocate = Callable[[ExecutionTrace], Allocation]
Peer = Callable[[Sequence[ExecutionTrace], float], Allocate]
"""Learns what it can from the executions of training and the resizes per hour, once; and then allocates for each execution."""

MARGIN = 0.15
"""That VPA and KRR add."""
HALF_LIFE_SECONDS = 24 * 3600.0
AUTOPILOT_SECONDS = 300.0
NOTICED = 0.10
"""Change of a recommendation that is worth a resize."""


def reactive(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """The most of the last window, which is as long as a resize takes to come back, with 15% on top."""
    return _moving(training, 3600 / per_hour, 1 + MARGIN, per_hour)


def autopilot(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """The peak of a moving window of five minutes, with 10% on top."""
    return _moving(training, AUTOPILOT_SECONDS, 1.1, per_hour)


def vertical_pod_autoscaler(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """CPU: percentile 90 of all samples so far, older ones counting less; memory: the same of peaks; 15% on top."""
    history = _history(training)
    cores, peak = np.sort(history[:, 0]), history.max(0)

    def allocate(execution: ExecutionTrace) -> Allocation:
        used = _used(execution)
        cpu = _percentiles(cores, used[:, 0], 2.0 ** ((execution.times - execution.times[0]) / HALF_LIFE_SECONDS))
        memory = np.maximum.accumulate(np.r_[peak[1], used[:-1, 1]])
        return _paced(execution, np.stack([cpu, memory], axis=1) * (1 + MARGIN), per_hour)

    return allocate


def krr(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """One request for the run: percentile 95 of CPU, peak of memory and 15%, of the history."""
    history = _history(training)
    return partial(_held, np.array([np.quantile(history[:, 0], 0.95), history[:, 1].max() * (1 + MARGIN)]))


def static_peak(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """One request for the run: the peak of the history."""
    return partial(_held, _history(training).max(0))


def clairvoyant(training: Sequence[ExecutionTrace], per_hour: float) -> Allocate:
    """The peak of each stretch between two resizes, which nobody can know before."""

    def allocate(execution: ExecutionTrace) -> Allocation:
        used = _used(execution)
        stretch = ((execution.times - execution.times[0]) // (3600 / per_hour)).astype(np.int64)
        _, begins = np.unique(stretch, return_index=True)
        peaks = np.maximum.reduceat(used, begins, axis=0)
        requests = np.repeat(peaks, np.diff(np.r_[begins, len(used)]), axis=0)
        return Allocation(execution, requests, tuple(begins[1:].tolist()))

    return allocate


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "reactive, last window": reactive,
        "VPA-like": vertical_pod_autoscaler,
        "Autopilot-like": autopilot,
        "KRR": krr,
        "peak of earlier runs": static_peak,
        "clairvoyant": clairvoyant,
    }
)


def _used(execution: ExecutionTrace) -> Floats:
    return execution.values[:, :RESOURCES]


def _history(training: Sequence[ExecutionTrace]) -> Floats:
    return np.concatenate([_used(execution) for execution in training])


def _moving(training: Sequence[ExecutionTrace], seconds: float, factor: float, per_hour: float) -> Allocate:
    """The most within `seconds` before each sample, at least of the last one; at the first what training used as long."""
    first: Floats = np.max([_used(other)[other.times <= other.times[0] + seconds].max(0) for other in training], axis=0)

    def allocate(execution: ExecutionTrace) -> Allocation:
        used, times = _used(execution), execution.times
        ends = np.arange(1, len(used))
        begins = np.minimum(np.searchsorted(times, times[:-1] - seconds), ends - 1)
        within = np.stack([begins, ends], axis=1).ravel()  # begin, end, begin, end, ...
        peaks = np.maximum.reduceat(used, within, axis=0)[::2]
        return _paced(execution, np.vstack([first, peaks]) * factor, per_hour)

    return allocate


def _percentiles(history: Floats, used: Floats, weights: Floats) -> Floats:
    """Percentile 90 of an ascending history, each counting 1, and all weighted samples before each one, shape (n,)."""
    together, counted, found = history, np.ones(len(history)), np.empty(len(used))
    for at in range(len(used)):
        cumulated = np.cumsum(counted)
        found[at] = together[np.searchsorted(cumulated, 0.9 * cumulated[-1])]
        place = np.searchsorted(together, used[at], side="right")
        together, counted = np.insert(together, place, used[at]), np.insert(counted, place, weights[at])
    return found


def _held(request: Floats, execution: ExecutionTrace) -> Allocation:
    return Allocation(execution, np.tile(request, (len(execution.times), 1)), ())


def _paced(execution: ExecutionTrace, recommended: Floats, per_hour: float) -> Allocation:
    """Recommendations as far as the budget of resizes goes."""
    wanted, earned = recommended.tolist(), ((execution.times - execution.times[0]) * per_hour / 3600).tolist()
    held, requests, resized = wanted[0], [wanted[0]], list[int]()
    for at in range(1, len(wanted)):
        changes = any(abs(new / max(old, 1e-9) - 1) > NOTICED for new, old in zip(wanted[at], held, strict=True))
        if changes and len(resized) + 1 <= earned[at - 1]:
            held = wanted[at]
            resized.append(at)
        requests.append(held)
    return Allocation(execution, np.array(requests), tuple(resized))
