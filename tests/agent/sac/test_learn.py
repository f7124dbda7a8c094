import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.change_detection import Chart  # noqa: E402
from jpo.agent.sac.checkpoint import load_checkpoint, save_checkpoint  # noqa: E402
from jpo.agent.sac.learn import REAL_BEFORE_HALF, _mixed, learn, new_agent, policy_of  # noqa: E402
from jpo.agent.sac.replay_buffer import Transition  # noqa: E402
from jpo.agent.state import WIDTH, Observation  # noqa: E402
from jpo.records import Preference  # noqa: E402


def transition(log_time, miss=None):
    seen = Observation(np.arange(1), np.zeros((1, WIDTH), np.float32), np.ones(1, bool))
    return Transition(seen, 0, np.array((log_time, 0, 0, 0, 0, 0)), Preference(1, 0, 0), 0.0, seen, miss=miss)


@pytest.mark.parametrize(("real", "share"), [(0, 0.0), (REAL_BEFORE_HALF // 2, 0.25), (REAL_BEFORE_HALF, 0.5), (100, 0.5)])
def test_half_of_a_batch_is_real_once_there_are_enough(real, share):
    agent = new_agent(0)
    agent.simulated.add([transition(0.0)])
    agent.real.add([transition(10.0)] * real)
    assert (_mixed(agent, 64).reward < 0).mean() == share


def taught(misses, agent=None, start=None):
    agent = agent or new_agent(0)
    told = [transition(0.1, miss) for miss in misses]
    learn(agent, told, lambda _policy, _rng: [transition(0.2)], out_of_time=lambda: False, start=start)
    return agent


def test_forecasts_that_miss_to_one_side_again_and_again_reset_the_agent():
    agent = taught([3.0, 3.0])
    assert (agent.resets, agent.real.size, agent.learner.updates) == (0, 2, 16)
    taught([3.0], agent)
    assert (agent.resets, agent.real.size, agent.learner.updates, agent.runs_learnt) == (1, 1, 8, 3)
    assert agent.chart == Chart()


def test_a_reset_agent_begins_from_the_given_policy():
    start = policy_of(new_agent(5))
    agent, other = taught([3.0] * 3, start=start), new_agent(5, start=start)
    assert agent.resets == 1
    drift = [float((agent.learner.actor[name] - other.learner.actor[name]).abs().max()) for name in agent.learner.actor]
    assert max(drift) < 0.01, "eight small steps away from it"


def test_neither_time_nor_misses_to_both_sides_reset_it():
    assert taught([None] * 10).resets == taught([2.0, -2.0] * 5).resets == 0


def test_a_reset_is_the_same_after_a_restart():
    through, stopped = taught([3.0, 3.0, 3.0, 1.0]), taught([3.0, 3.0])
    assert save_checkpoint(taught([3.0, 1.0], load_checkpoint(save_checkpoint(stopped)))) == save_checkpoint(through)
