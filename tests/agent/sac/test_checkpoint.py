import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.checkpoint import load_checkpoint, save_checkpoint  # noqa: E402
from jpo.agent.sac.learn import UPDATES_PER_RUN, learn, new_agent, policy_of, practise  # noqa: E402
from jpo.agent.sac.replay_buffer import Transition  # noqa: E402
from jpo.agent.sealed import header_of, seal  # noqa: E402
from jpo.agent.state import WIDTH, Observation  # noqa: E402
from jpo.errors import StoreError  # noqa: E402
from jpo.records import Preference  # noqa: E402


def job(policy, rng):
    """A stand-in for a simulated job: three transitions whose executed row the policy draws."""
    made = []
    for _ in range(3):
        seen, following = (
            Observation(np.arange(6), rng.normal(size=(6, WIDTH)).astype(np.float32), np.ones(6, bool)) for _ in range(2)
        )
        executed = policy.pick(seen.features, seen.allowed, rng)
        reward = np.array((0.1 * executed, 0.0, 0.0, 0.0, 0.0, 0.0))
        made.append(Transition(seen, executed, reward, Preference(1, 0, 0), 0.0, following))
    return made


def real(n):
    return [one for i in range(n) for one in job(policy_of(new_agent(0)), np.random.default_rng(i))[:1]]


def never():
    return False


def trained():
    agent = new_agent(1, real_capacity=4, simulated_capacity=16)
    learn(agent, real(3), job, out_of_time=never)
    return agent


def test_ten_updates_are_five_and_five_after_a_restart():
    through, stopped = new_agent(1, simulated_capacity=16), new_agent(1, simulated_capacity=16)
    practise(through, job, jobs=10, batch=8)
    practise(stopped, job, jobs=5, batch=8)
    resumed = load_checkpoint(save_checkpoint(stopped))
    practise(resumed, job, jobs=5, batch=8)
    assert save_checkpoint(resumed) == save_checkpoint(through)


def test_learning_in_one_go_is_learning_in_several():
    whole, parts = new_agent(2), new_agent(2)
    learn(whole, real(4), job, out_of_time=never)
    assert learn(parts, real(4), job, out_of_time=iter([False, False, True]).__next__) == 2
    resumed = load_checkpoint(save_checkpoint(parts))
    assert resumed.runs_learnt == 2
    assert learn(resumed, real(4)[2:], job, out_of_time=never) == 2
    assert save_checkpoint(resumed) == save_checkpoint(whole)


def test_a_fresh_agent_is_saved_too_and_can_start_from_a_policy():
    start = policy_of(trained())
    agent = load_checkpoint(save_checkpoint(new_agent(0, start=start)))
    assert all((policy_of(agent).weights[name] == value).all() for name, value in start.weights.items())
    assert (agent.learner.updates, agent.real.size) == (0, 0)


FILE = save_checkpoint(trained())


def test_the_header_says_how_much_was_learnt():
    assert (header_of(FILE)["runs_learnt"], header_of(FILE)["updates"]) == (3, 3 * UPDATES_PER_RUN)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(FILE) - 1), st.integers(0, 7))
def test_any_flipped_bit_is_noticed(position, bit):
    data = bytearray(FILE)
    data[position] ^= 1 << bit
    with pytest.raises(StoreError, match="--rebuild"):
        load_checkpoint(bytes(data))


@pytest.mark.parametrize("length", [0, 8, 1000, len(FILE) - 1])
def test_a_truncated_checkpoint_is_noticed(length):
    with pytest.raises(StoreError) as caught:
        load_checkpoint(FILE[:length])
    assert caught.value.code == "JPO-E601"


def test_a_checkpoint_without_its_parts_is_refused():
    with pytest.raises(StoreError) as caught:
        load_checkpoint(seal({"x": np.zeros(1)}, {"format": "jpo agent 2", "schema": "other"}))
    assert caught.value.code == "JPO-E603"
