import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.learn import REAL_BEFORE_HALF, _mixed, new_agent  # noqa: E402
from jpo.agent.replay_buffer import Transition  # noqa: E402
from jpo.agent.state import WIDTH, Observation  # noqa: E402
from jpo.records import Preference  # noqa: E402


def transition(log_time):
    seen = Observation(np.arange(1), np.zeros((1, WIDTH), np.float32), np.ones(1, bool))
    return Transition(seen, 0, np.array((log_time, 0, 0, 0, 0)), Preference(1, 0, 0), 0.0, seen)


@pytest.mark.parametrize(("real", "share"), [(0, 0.0), (REAL_BEFORE_HALF // 2, 0.25), (REAL_BEFORE_HALF, 0.5), (100, 0.5)])
def test_half_of_a_batch_is_real_once_there_are_enough(real, share):
    agent = new_agent(0)
    agent.simulated.add([transition(0.0)])
    agent.real.add([transition(10.0)] * real)
    assert (_mixed(agent, 64).reward < 0).mean() == share
