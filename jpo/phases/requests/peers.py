"""Other ways to allocate, as simple as their authors describe them: what a phase model is held against.

Each gets what the model gets: the executions of training as history, the samples before the one it decides on, and as many
resizes per hour. The clairvoyant knows the run itself and is no way at all: it says how much there is to be saved.

Sources: the recommender of the Kubernetes vertical pod autoscaler (percentile 90 of a histogram that halves every 24 hours,
15% on top); Rzadca et al., "Autopilot", EuroSys 2020 (peak of a moving window); robusta KRR (percentile 95 of CPU, peak of
memory + 15%).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from jpo.phases.requests.allocate import Allocation
from jpo.phases.requests.demand import RESOURCES
from jpo.phases.traces import Floats, ResourceCourse

Peer = Callable[[ResourceCourse, Sequence[ResourceCourse], float], Allocation]
"""Allocates for a course, given the courses of training and the resizes per hour."""

MARGIN = 0.15
"""That VPA and KRR add."""
HALF_LIFE_SECONDS = 24 * 3600.0
AUTOPILOT_SECONDS = 300.0
NOTICED = 0.10
"""Change of a recommendation that is worth a resize."""


def reactive(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """The most of the last window, which is as long as a resize takes to come back, with 15% on top."""
    return _paced(course, _moving_peak(course, training, 3600 / per_hour) * (1 + MARGIN), per_hour)


def autopilot(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """The peak of a moving window of five minutes, with 10% on top."""
    return _paced(course, _moving_peak(course, training, AUTOPILOT_SECONDS) * 1.1, per_hour)


def vertical_pod_autoscaler(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """CPU: percentile 90 of all samples so far, older ones counting less; memory: the same of peaks; 15% on top."""
    used = _used(course)
    history = np.concatenate([_used(other) for other in training])
    times = np.r_[np.zeros(len(history)), course.times - course.times[0]]
    together = np.concatenate([history, used])
    orders = np.argsort(together, axis=0)
    peaks = np.maximum.accumulate(np.vstack([history.max(0), used]), axis=0)[:-1, 1]
    recommended = np.empty_like(used)
    for at in range(len(used)):
        known = len(history) + at
        weights = np.where(np.arange(len(together)) < known, 2.0 ** (times / HALF_LIFE_SECONDS), 0.0)[orders[:, 0]]
        cumulated = np.cumsum(weights)
        recommended[at, 0] = together[orders[:, 0], 0][np.searchsorted(cumulated, 0.9 * cumulated[-1])]
    recommended[:, 1] = peaks
    return _paced(course, recommended * (1 + MARGIN), per_hour)


def krr(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """One request for the run: percentile 95 of CPU, peak of memory and 15%, of the history."""
    history = np.concatenate([_used(other) for other in training])
    return _held(course, np.array([np.quantile(history[:, 0], 0.95), history[:, 1].max() * (1 + MARGIN)]))


def static_peak(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """One request for the run: the peak of the history."""
    return _held(course, np.max([_used(other).max(0) for other in training], axis=0))


def clairvoyant(course: ResourceCourse, training: Sequence[ResourceCourse], per_hour: float) -> Allocation:
    """The peak of each stretch between two resizes, which nobody can know before."""
    used = _used(course)
    stretch = ((course.times - course.times[0]) // (3600 / per_hour)).astype(np.int64)
    _, begins = np.unique(stretch, return_index=True)
    peaks = np.maximum.reduceat(used, begins, axis=0)
    requests = np.repeat(peaks, np.diff(np.r_[begins, len(used)]), axis=0)
    return Allocation(course, requests, tuple(int(at) for at in begins[1:]))


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
"""By the names that people read."""


def _used(course: ResourceCourse) -> Floats:
    return course.values[:, :RESOURCES]


def _moving_peak(course: ResourceCourse, training: Sequence[ResourceCourse], seconds: float) -> Floats:
    """The most within `seconds` before each sample, at least of the last one; at the first what training used as long."""
    used, times = _used(course), course.times
    peaks = np.empty_like(used)
    peaks[0] = np.max([_used(other)[other.times <= other.times[0] + seconds].max(0) for other in training], axis=0)
    for at in range(1, len(used)):
        begin = min(int(np.searchsorted(times, times[at - 1] - seconds)), at - 1)
        peaks[at] = used[begin:at].max(0)
    return peaks


def _held(course: ResourceCourse, request: Floats) -> Allocation:
    return Allocation(course, np.tile(request, (len(course.times), 1)), ())


def _paced(course: ResourceCourse, recommended: Floats, per_hour: float) -> Allocation:
    """Recommendations as far as the budget of resizes goes."""
    requests = recommended.copy()
    resized: list[int] = []
    for at in range(1, len(requests)):
        ratio = recommended[at] / np.maximum(requests[at - 1], 1e-9)
        earned = (course.times[at - 1] - course.times[0]) * per_hour / 3600
        changes = bool((np.abs(ratio - 1) > NOTICED).any()) and len(resized) + 1 <= earned
        requests[at] = recommended[at] if changes else requests[at - 1]
        if changes:
            resized.append(at)
    return Allocation(course, requests, tuple(resized))
