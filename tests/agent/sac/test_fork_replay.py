import numpy as np
import pytest

from jpo.agent.sac.fork_replay import MOST, Fork, ForkReplay
from jpo.agent.state import WIDTH


def fork(n, fill=0.5):
    saved = np.arange(n, dtype=float) * fill
    return Fork(np.full((n, WIDTH), fill, np.float32), saved)


def test_a_sample_is_what_was_stored_and_says_what_is_there():
    replay = ForkReplay(4)
    replay.add([fork(3)])
    batch = replay.sample(2, np.random.default_rng(0))
    assert batch.features.shape == (2, MOST, WIDTH)
    assert batch.features.dtype == np.float32
    assert batch.saved[0].tolist() == [0.0, 0.5, 1.0] + [0.0] * (MOST - 3)
    assert batch.there[1].tolist() == [True] * 3 + [False] * (MOST - 3)
    assert batch.features[0, :, 0].tolist() == [0.5] * 3 + [0.0] * (MOST - 3)


def test_the_oldest_is_overwritten_without_traces():
    replay = ForkReplay(2)
    replay.add([fork(MOST), fork(3), fork(2, 0.25)])
    assert (replay.size, replay.written) == (2, 3)
    assert replay.arrays["there"].sum(axis=1).tolist() == [2, 3]
    assert not replay.arrays["features"][0, 2:].any()
    assert replay.arrays["saved"][0].tolist() == pytest.approx([0.0, 0.25] + [0.0] * (MOST - 2))


def test_each_fork_is_drawn_as_often_as_another():
    replay = ForkReplay(8)
    replay.add([fork(2, fill) for fill in (0.25, 0.5, 0.75)])
    drawn = replay.sample(3000, np.random.default_rng(0)).saved[:, 1]
    assert [float(np.mean(drawn == fill)) for fill in (0.25, 0.5, 0.75)] == pytest.approx([1 / 3] * 3, abs=0.04)
