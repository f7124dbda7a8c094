from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.phases.requests import peers
from jpo.plugins.phases.requests.peers import (
    PEERS,
    _percentiles,
    autopilot,
    clairvoyant,
    krr,
    reactive,
    static_peak,
    vertical_pod_autoscaler,
)
from jpo.plugins.phases.traces import ExecutionTrace

TRAINING = (ExecutionTrace("old", np.arange(5) * 60.0, np.array([[1.0, 10], [2, 20], [1, 10], [1, 10], [4, 40]])),)
EXECUTION = ExecutionTrace(
    "new", np.arange(8) * 60.0, np.array([[1.0, 10], [1, 10], [8, 80], [1, 10], [1, 10], [1, 10], [1, 10], [1, 10]])
)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_allocates_for_each_sample_within_the_budget(name: str) -> None:
    allocation = PEERS[name](TRAINING, 30.0)(EXECUTION)
    assert allocation.requests.shape == (8, 2)
    assert len(allocation.resized) <= EXECUTION.seconds / 120
    changes = np.flatnonzero((np.diff(allocation.requests, axis=0) != 0).any(1)) + 1
    assert set(changes) <= set(allocation.resized)


@pytest.mark.parametrize("peer", [reactive, autopilot, vertical_pod_autoscaler, krr, static_peak])
@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_peer_knows_nothing_of_what_comes(peer, at: int) -> None:  # type: ignore[no-untyped-def]
    values = EXECUTION.values.copy()
    values[at:] = 99
    changed = ExecutionTrace("new", EXECUTION.times, values)
    one, other = (peer(TRAINING, 30.0)(execution).requests for execution in (EXECUTION, changed))
    assert (one[: at + 1] == other[: at + 1]).all()


def test_the_last_window_begins_with_what_training_used() -> None:
    requests = reactive(TRAINING, 30.0)(EXECUTION).requests
    assert requests[0].tolist() == pytest.approx([2 * 1.15, 20 * 1.15])
    assert requests[4, 0] == pytest.approx(8 * 1.15)


def test_static_ones_hold() -> None:
    assert static_peak(TRAINING, 30.0)(EXECUTION).requests.tolist() == [[4, 40]] * 8
    assert krr(TRAINING, 30.0)(EXECUTION).requests[0].tolist() == pytest.approx([3.6, 46])


def test_the_clairvoyant_meets_all_demand() -> None:
    allocation = clairvoyant(TRAINING, 30.0)(EXECUTION)
    assert allocation.requests[:, 0].tolist() == [1, 1, 8, 8, 1, 1, 1, 1]


def test_percentiles_of_what_came_before_are_those_of_their_definition() -> None:
    rng = np.random.default_rng(0)
    history, used, weights = np.sort(rng.integers(0, 9, 40) / 2), rng.integers(0, 9, 60) / 2, 2.0 ** np.linspace(0, 3, 60)
    found = _percentiles(history, used, weights)
    for at in range(60):
        together = np.r_[history, used[:at]]
        order = np.argsort(together, kind="stable")
        cumulated = np.cumsum(np.r_[np.ones(40), weights[:at]][order])
        assert found[at] == together[order][np.searchsorted(cumulated, 0.9 * cumulated[-1])]


def test_what_training_says_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    used = peers._used
    monkeypatch.setattr(peers, "_used", lambda execution: looked.append(execution.name) or used(execution))
    for peer in PEERS.values():
        allocate = peer(TRAINING, 30.0)
        looked.clear()
        for _ in range(3):
            allocate(EXECUTION)
        assert "old" not in looked
