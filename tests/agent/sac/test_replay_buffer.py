import math

import numpy as np
import pytest

from jpo.agent.sac.replay_buffer import ReplayBuffer, Transition, concatenate
from jpo.agent.state import SHORTLIST, WIDTH, Observation
from jpo.records import Preference


def seen(k, fill):
    return Observation(np.arange(k), np.full((k, WIDTH), fill, np.float32), np.ones(k, bool))


def transition(log_time, k=3, fill=0.5):
    reward = np.array((log_time, math.nan, math.nan, math.nan, 0.0, 0.0))
    return Transition(seen(k, fill), 1, reward, Preference(1, 0, 0), 0.0, seen(k + 1, 2 * fill))


def test_a_sample_is_what_was_stored():
    replay = ReplayBuffer(4)
    replay.add([transition(math.log(1.5))])
    batch = replay.sample(2, np.random.default_rng(0))
    assert batch.features.shape == (2, SHORTLIST, WIDTH)
    assert batch.features.dtype == np.float32
    assert batch.features[0, :, 0].tolist() == [0.5] * 3 + [0.0] * (SHORTLIST - 3)
    assert batch.allowed.sum(axis=1).tolist() == [3, 3]
    assert batch.next_allowed.sum(axis=1).tolist() == [4, 4]
    assert batch.executed.tolist() == [1, 1]
    assert batch.reward == pytest.approx([-0.5, -0.5])


def test_the_oldest_is_overwritten_without_traces():
    replay = ReplayBuffer(2)
    replay.add([transition(0.0, k=9), transition(0.0), transition(math.log(2), k=2)])
    assert (replay.size, replay.written) == (2, 3)
    assert replay.arrays["reward"] == pytest.approx([-1.0, 0.0])
    assert replay.arrays["allowed"].sum(axis=1).tolist() == [2, 3]
    assert not replay.arrays["features"][0, 2:].any()


def test_a_run_without_a_known_reward_is_left_out():
    replay = ReplayBuffer(2)
    replay.add([transition(math.nan)])
    assert replay.size == 0


def test_batches_are_joined_in_order():
    one, other = ReplayBuffer(1), ReplayBuffer(1)
    one.add([transition(0.0)])
    other.add([transition(math.log(2))])
    rng = np.random.default_rng(0)
    assert concatenate(one.sample(1, rng), other.sample(2, rng)).reward == pytest.approx([0, -1, -1])


def test_one_workload_is_forgotten_and_the_others_keep_their_order_of_age():
    replay = ReplayBuffer(4)
    for number, workload in enumerate(["mine", "theirs", "mine", "theirs", "theirs"], 1):
        replay.add([transition(math.log(1 + number / 4))], workload)
    replay.forget("mine")
    assert (replay.size, replay.written) == (3, 3)
    assert replay.arrays["reward"] == pytest.approx([-0.5, -1, -1.25, 0], abs=1e-6)
    replay.add([transition(0.0)], "mine")
    replay.add([transition(math.log(3))], "mine")
    assert replay.arrays["reward"] == pytest.approx([-2, -1, -1.25, 0], abs=1e-6)


def test_nobody_else_is_forgotten_with_an_unknown_workload():
    replay = ReplayBuffer(4)
    replay.add([transition(0.0), transition(0.1)], "mine")
    before = {name: array.copy() for name, array in replay.arrays.items()}
    replay.forget("theirs")
    assert all(np.array_equal(before[name], array) for name, array in replay.arrays.items())
