from __future__ import annotations

import numpy as np
import pytest

from jpo.phases.requests.peers import PEERS, autopilot, clairvoyant, krr, reactive, static_peak, vertical_pod_autoscaler
from jpo.phases.traces import ResourceCourse

TRAINING = (ResourceCourse("old", np.arange(5) * 60.0, np.array([[1.0, 10], [2, 20], [1, 10], [1, 10], [4, 40]])),)
COURSE = ResourceCourse(
    "new", np.arange(8) * 60.0, np.array([[1.0, 10], [1, 10], [8, 80], [1, 10], [1, 10], [1, 10], [1, 10], [1, 10]])
)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_allocates_for_each_sample_within_the_budget(name: str) -> None:
    allocation = PEERS[name](COURSE, TRAINING, 30.0)
    assert allocation.requests.shape == (8, 2)
    assert len(allocation.resized) <= COURSE.seconds / 120
    changes = np.flatnonzero((np.diff(allocation.requests, axis=0) != 0).any(1)) + 1
    assert set(changes) <= set(allocation.resized)


@pytest.mark.parametrize("peer", [reactive, autopilot, vertical_pod_autoscaler, krr, static_peak])
@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_peer_knows_nothing_of_what_comes(peer, at: int) -> None:  # type: ignore[no-untyped-def]
    values = COURSE.values.copy()
    values[at:] = 99
    changed = ResourceCourse("new", COURSE.times, values)
    one, other = (peer(course, TRAINING, 30.0).requests for course in (COURSE, changed))
    assert (one[: at + 1] == other[: at + 1]).all()


def test_the_last_window_begins_with_what_training_used() -> None:
    requests = reactive(COURSE, TRAINING, 30.0).requests
    assert requests[0].tolist() == pytest.approx([2 * 1.15, 20 * 1.15])
    assert requests[4, 0] == pytest.approx(8 * 1.15)


def test_static_ones_hold() -> None:
    assert static_peak(COURSE, TRAINING, 30.0).requests.tolist() == [[4, 40]] * 8
    assert krr(COURSE, TRAINING, 30.0).requests[0].tolist() == pytest.approx([3.6, 46])


def test_the_clairvoyant_meets_all_demand() -> None:
    allocation = clairvoyant(COURSE, TRAINING, 30.0)
    assert allocation.requests[:, 0].tolist() == [1, 1, 8, 8, 1, 1, 1, 1]
