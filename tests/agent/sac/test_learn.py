import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.change_detection import Chart  # noqa: E402
from jpo.agent.policy import SCORE, SCORE_HERE  # noqa: E402
from jpo.agent.sac.checkpoint import load_checkpoint, save_checkpoint  # noqa: E402
from jpo.agent.sac.fork_replay import Fork, Practice  # noqa: E402
from jpo.agent.sac.learn import MEMBERS, REAL_BEFORE_HALF, _mixed, improve, learn, new_agent, policy_of, take_in  # noqa: E402
from jpo.agent.sac.replay_buffer import Transition  # noqa: E402
from jpo.agent.state import BOUND, WIDTH, Observation  # noqa: E402
from jpo.records import Preference  # noqa: E402


def transition(log_time, miss=None):
    seen = Observation(np.arange(1), np.zeros((1, WIDTH), np.float32), np.ones(1, bool))
    return Transition(seen, 0, np.array((log_time, 0, 0, 0, 0, 0)), Preference(1, 0, 0), 0.0, seen, miss=miss)


def simulated(_policy, _rng):
    features = np.random.default_rng(0).normal(size=(3, WIDTH)).astype(np.float32)
    return Practice([transition(0.2)], [Fork(features, np.array((0.0, 0.5, -1.0)))])


@pytest.mark.parametrize(("real", "share"), [(0, 0.0), (REAL_BEFORE_HALF // 2, 0.25), (REAL_BEFORE_HALF, 0.5), (100, 0.5)])
def test_half_of_a_batch_is_real_once_there_are_enough(real, share):
    agent = new_agent(0)
    agent.simulated.add([transition(0.0)])
    agent.real.add([transition(10.0)] * real)
    assert (_mixed(agent, 64).reward < 0).mean() == share


def random_states(n=20, k=30, seed=0):
    """Features up to their bounds; no two scores nearer to each other than the fresh networks' murmur."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        features = rng.uniform(-BOUND, BOUND, (k, WIDTH)).astype(np.float32)
        features[:, SCORE] = rng.permutation(np.linspace(-BOUND, BOUND, k))
        yield features, rng.random(k) < 0.5


def test_a_new_agent_decides_as_the_belief_rule_on_any_state():
    policy = policy_of(new_agent(0))
    assert len(policy.members) == MEMBERS
    for features, allowed in random_states():
        features[:, SCORE_HERE] = features[:, SCORE]  # no jobs ran here before
        assert policy.pick(features, allowed, None) == np.argmin(np.where(allowed, features[:, SCORE], np.inf))
        assert policy.values(features) == pytest.approx(np.broadcast_to(-features[:, SCORE] - BOUND, (2 * MEMBERS, 30)), abs=0.3)


def test_a_new_agent_departs_only_for_what_earlier_jobs_here_make_better():
    policy = policy_of(new_agent(0))
    for features, allowed in random_states():
        choice, rule = policy.pick(features, allowed, None), np.argmin(np.where(allowed, features[:, SCORE], np.inf))
        assert choice == rule or features[choice, SCORE_HERE] < features[rule, SCORE_HERE]


def test_members_differ_and_draw_batches_of_their_own():
    agent = new_agent(0)
    assert len({one["critics.w0"].tobytes() for one in policy_of(agent).members}) == MEMBERS
    agent.simulated.add([transition(at / 10) for at in range(20)])
    start = new_agent(1, start=policy_of(new_agent(1, members=1)), members=2)
    assert len(start.learners) == 1, "as many as the policy that it begins from"
    improve(agent, 1)
    assert [learner.updates for learner in agent.learners] == [1] * MEMBERS


def test_practice_goes_to_the_replays_of_simulated_jobs_and_forks():
    agent = new_agent(0)
    take_in(agent, simulated(None, None))
    assert (agent.real.size, agent.simulated.size, agent.forks.size) == (0, 1, 1)


def test_learning_moves_the_networks_and_what_was_not_released_is_not():
    agent = new_agent(0)
    before = policy_of(agent)
    take_in(agent, simulated(None, None))
    improve(agent, 3)
    after = policy_of(agent)
    assert after.released == ()
    assert not any(np.array_equal(a["critics.w1"], b["critics.w1"]) for a, b in zip(before.members, after.members, strict=True))


def taught(misses, agent=None, start=None, workload="a", begin_anew=None):
    agent, runs = agent or new_agent(0), [transition(0.1, miss) for miss in misses]
    learn(agent, runs, simulated, workload=workload, out_of_time=lambda: False, start=start, begin_anew=begin_anew)
    return agent


def test_a_run_that_teaches_nothing_counts_as_taken_in():
    agent = new_agent(0)
    assert learn(agent, [None, transition(0.1), None], simulated, out_of_time=lambda: False) == 3
    assert (agent.real.size, agent.updates) == (1, 8)


def test_what_a_workload_taught_is_forgotten_when_its_forecasts_miss_to_one_side_again_and_again():
    agent = new_agent(0)
    learn(agent, [transition(0.1)], simulated, workload="another", out_of_time=lambda: False)
    taught([3.0, 3.0], agent)
    assert (agent.resets, agent.real.size, agent.updates) == (0, 3, 24)
    taught([3.0], agent)
    assert (agent.resets, agent.real.size, agent.updates) == (1, 2, 32), "the other workload's run and the newest stay"
    assert agent.charts["a"] == Chart()


def test_who_wants_resets_by_another_rule_gets_those_and_no_others():
    agent = new_agent(0)
    runs, begin_anew = [transition(0.1, miss=3.0)] * 4, [False, False, False, True]
    learn(agent, runs, simulated, out_of_time=lambda: False, begin_anew=begin_anew)
    assert (agent.resets, agent.real.size, agent.updates) == (1, 1, 8)


def test_a_reset_agent_begins_from_the_given_policy():
    start = policy_of(new_agent(5))
    agent, other = taught([None], start=start, begin_anew=[True]), new_agent(5, start=start)
    assert agent.resets == 1
    for learner, begun in zip(agent.learners, other.learners, strict=True):
        drift = [float((learner.critics[name] - begun.critics[name]).abs().max()) for name in begun.critics]
        assert 0 < max(drift) < 0.01, "eight small steps away from it"


def test_neither_time_nor_misses_to_both_sides_reset_it(monkeypatch):
    monkeypatch.setattr("jpo.agent.sac.learn.UPDATES_PER_RUN", 1)
    assert taught([None] * 10).resets == taught([2.0, -2.0] * 5).resets == 0


def test_a_reset_is_the_same_after_a_restart():
    through, stopped = taught([3.0, 3.0, 3.0, 1.0]), taught([3.0, 3.0])
    assert save_checkpoint(taught([3.0, 1.0], load_checkpoint(save_checkpoint(stopped)))) == save_checkpoint(through)
