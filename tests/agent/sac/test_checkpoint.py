import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.checkpoint import FORMAT, load_checkpoint, save_checkpoint  # noqa: E402
from jpo.agent.sac.fork_replay import Fork, Practice  # noqa: E402
from jpo.agent.sac.learn import (  # noqa: E402
    MEMBERS,
    UPDATES_PER_RUN,
    WorkloadProgress,
    improve,
    learn,
    new_agent,
    policy_of,
    take_in,
)
from jpo.agent.sac.replay_buffer import Transition  # noqa: E402
from jpo.agent.sealed import header_of, seal, unseal  # noqa: E402
from jpo.agent.state import SCHEMA, SCHEMA_WITHOUT_PHASES, SCHEMA_WITHOUT_QUEUE, WIDTH, WITHOUT_PHASES, WITHOUT_QUEUE, Observation  # noqa: E402
from jpo.errors import StoreError  # noqa: E402
from jpo.records import Preference  # noqa: E402


def job(policy, rng):
    """A stand-in for a simulated job: three transitions whose executed row the policy draws, and a fork."""
    made = []
    for _ in range(3):
        seen, following = (
            Observation(np.arange(6), rng.normal(size=(6, WIDTH)).astype(np.float32), np.ones(6, bool)) for _ in range(2)
        )
        executed = policy.pick(seen.features, seen.allowed, rng)
        reward = np.array((0.1 * executed, 0.0, 0.0, 0.0, 0.0, 0.0))
        made.append(Transition(seen, executed, reward, Preference(1, 0, 0), 0.0, following))
    return Practice(made, [Fork(seen.features[:4], np.array((0.0, 1.0, -1.0, 0.5)))])


def real(n):
    return [one for i in range(n) for one in job(policy_of(new_agent(0)), np.random.default_rng(i)).transitions[:1]]


def practise(agent, jobs):
    for _ in range(jobs):
        take_in(agent, job(policy_of(agent), agent.rng))
        improve(agent, 1)


def never():
    return False


def trained():
    agent = new_agent(1, real_capacity=4, simulated_capacity=16, fork_capacity=4)
    taken = learn(agent, real(3), job, workload="a", out_of_time=never)
    agent.progress["a"] = WorkloadProgress(taken, "digest")
    return agent


def test_ten_updates_are_five_and_five_after_a_restart():
    """Of several members with their forks, whose rings are overwritten on the way."""
    through, stopped = (new_agent(1, simulated_capacity=16, fork_capacity=4) for _ in range(2))
    practise(through, 10)
    practise(stopped, 5)
    resumed = load_checkpoint(save_checkpoint(stopped))
    assert (resumed.forks.size, resumed.forks.written, len(resumed.learners)) == (4, 5, MEMBERS)
    practise(resumed, 5)
    assert save_checkpoint(resumed) == save_checkpoint(through)


def test_learning_in_one_go_is_learning_in_several():
    whole, parts = new_agent(2), new_agent(2)
    learn(whole, real(4), job, out_of_time=never)
    assert learn(parts, real(4), job, out_of_time=iter([False, False, True]).__next__) == 2
    resumed = load_checkpoint(save_checkpoint(parts))
    assert resumed.updates == 2 * UPDATES_PER_RUN
    assert learn(resumed, real(4)[2:], job, out_of_time=never) == 2
    assert save_checkpoint(resumed) == save_checkpoint(whole)


def test_a_fresh_agent_is_saved_too_and_can_start_from_a_policy():
    start = policy_of(trained())
    agent = load_checkpoint(save_checkpoint(new_agent(0, start=start)))
    assert policy_of(agent).digest == start.digest
    assert (agent.updates, agent.real.size, agent.progress) == (0, 0, {})


def test_what_was_taken_in_of_each_workload_is_kept():
    agent = trained()
    agent.progress["b"] = WorkloadProgress(7, "another")
    learn(agent, real(1), job, workload="b", out_of_time=never)
    loaded = load_checkpoint(save_checkpoint(agent))
    assert loaded.progress == {"a": WorkloadProgress(3, "digest"), "b": WorkloadProgress(7, "another")}
    loaded.real.forget("a")
    assert loaded.real.size == 1


FILE = save_checkpoint(trained())


def test_the_header_says_how_much_was_learnt():
    assert header_of(FILE)["progress"] == {"a": [3, "digest"]}
    assert header_of(FILE)["updates"] == [3 * UPDATES_PER_RUN] * MEMBERS


@settings(max_examples=100)
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
    for header in ({"format": "jpo agent 2", "schema": "other"}, {"format": FORMAT, "schema": SCHEMA, "updates": [1]}):
        with pytest.raises(StoreError) as caught:
            load_checkpoint(seal({"x": np.zeros(1)}, header))
        assert caught.value.code == "JPO-E603"


WHOLE, HEADER = unseal(FILE)
FIRST = WHOLE["online0.critics.w0"]


@pytest.mark.parametrize(
    "tensors",
    [
        {"online0.critics.w0": FIRST[:, :5]},
        {"target1.critics.w0": FIRST.astype(np.float64)},
        {"online0.critics.w0": FIRST * np.nan},
        {"exp_avg_sq2.critics.w0": WHOLE["exp_avg_sq2.critics.w0"][..., :1]},
        {"real.executed": WHOLE["real.executed"] + 1000},
    ],
)
def test_forged_tensors_are_refused_before_anything_learns_from_them(tensors):
    with pytest.raises(StoreError) as caught:
        load_checkpoint(seal({**WHOLE, **tensors}, HEADER))
    assert caught.value.code == "JPO-E603"


@pytest.mark.parametrize(
    "header",
    [
        {"updates": []},
        {"updates": [-1] * MEMBERS},
        {"progress": [1]},
        {"replays": {**HEADER["replays"], "real": [4, -1, 3]}},
        {"replays": {**HEADER["replays"], "real": [10**12, 1, 1]}},
        {"replays": {**HEADER["replays"], "real": [4, 3, 1]}},
    ],
)
def test_forged_headers_are_refused(header):
    with pytest.raises(StoreError) as caught:
        load_checkpoint(seal(WHOLE, {**HEADER, **header}))
    assert caught.value.code == "JPO-E603"


def blind(job, width):
    """The same job where nothing is known of what stands behind that width in the state: queue, or phases and queue."""

    def played(policy, rng):
        practice = job(policy, rng)
        for one in practice.transitions:
            one.seen.features[:, width:] = one.following.features[:, width:] = 0
        for fork in practice.forks:
            fork.features[:, width:] = 0
        return practice

    return played


@pytest.mark.parametrize(("schema", "width"), [(SCHEMA_WITHOUT_PHASES, WITHOUT_PHASES), (SCHEMA_WITHOUT_QUEUE, WITHOUT_QUEUE)])
def test_a_checkpoint_from_before_phases_or_queue_goes_on_as_it_would_have(schema, width):
    agent = new_agent(1, simulated_capacity=16, fork_capacity=4)
    for _ in range(5):
        take_in(agent, blind(job, width)(policy_of(agent), agent.rng))
        improve(agent, 1)
    tensors, header = unseal(save_checkpoint(agent))
    narrow = {}
    for name, tensor in tensors.items():
        weight, feature = name.endswith("critics.w0"), name.endswith("features")
        narrow[name] = np.ascontiguousarray(tensor[:, :width] if weight else tensor[..., :width] if feature else tensor)
    resumed = load_checkpoint(seal(narrow, {**header, "schema": schema}))
    assert save_checkpoint(resumed) == save_checkpoint(agent)
