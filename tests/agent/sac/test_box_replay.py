import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.box_replay import BoxReplay  # noqa: E402


def filled(n, capacity=100, seed=0):
    replay = BoxReplay(2, 1, capacity, seed)
    for i in range(n):
        replay.add([i, i + 0.5], [0.01 * i], -i, [i + 1, i + 1.5], i % 2 == 0)
    return replay


def test_a_batch_holds_transitions_as_they_were_added():
    batch = filled(5).sample(20)
    i = batch.state[:, :1]
    assert torch.equal(batch.executed, torch.cat((i, i + 0.5, 0.01 * i), 1))
    assert torch.equal(batch.next_state, torch.cat((i + 1, i + 1.5), 1))
    assert torch.allclose(batch.reward, -0.1 * i / 6**0.5)  # 6 is the mean square of 0, 1, 2, 3, 4
    assert torch.equal(batch.goes_on, i % 2)
    assert set(i.flatten().tolist()) == {0, 1, 2, 3, 4}


def test_the_oldest_are_overwritten():
    replay = filled(7, capacity=3)
    assert (replay.size, replay.written) == (3, 7)
    assert set(replay.sample(50).state[:, 0].tolist()) == {4, 5, 6}


def test_one_seed_gives_one_order():
    one, same, other = (filled(50, seed=seed).sample(8).reward.flatten().tolist() for seed in (1, 1, 2))
    assert one == same != other


def test_what_was_drawn_is_a_copy():
    replay = filled(1)
    batch = replay.sample(1)
    replay.rows[:] = np.nan
    assert batch.state.tolist() == [[0, 0.5]]
