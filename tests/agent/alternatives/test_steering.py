import numpy as np
import pytest

from jpo.agent.acquisition import WORTH
from jpo.agent.alternatives import steering
from jpo.agent.policy import SCORE, Policy
from jpo.agent.state import observe
from jpo.records import NAMED_PREFERENCES
from tests.asked import a_problem


@pytest.fixture
def seen(grid, belief):
    """One measured candidate, and two of which particles think differently."""
    problem = a_problem(grid(), belief([[0.0, -0.3, 0.1], [0.0, 0.2, -0.4]]), NAMED_PREFERENCES["time"])
    return problem, observe(problem, problem.allowed | True)


def test_an_action_of_nothing_is_the_rule(seen):
    problem, observation = seen
    scores = steering.steered_scores(observation.features, np.zeros(2))
    assert scores == pytest.approx(problem.acquisition.score, rel=1e-4)


def test_an_action_of_one_looks_eight_times_as_far_and_asks_eight_times_as_much_of_a_trial(seen):
    problem, observation = seen
    far = problem.acquisition.within(min(8 * problem.acquisition.horizon, steering.MOST)).score
    steered = steering.steered_scores(observation.features, np.array([1.0, 0.0]))
    asked = steering.steered_scores(observation.features, np.array([0.0, 1.0]))
    assert steered == pytest.approx(far, rel=1e-3)
    assert asked - problem.acquisition.score == pytest.approx([0, 7 * WORTH, 7 * WORTH], abs=1e-3)


def test_the_actor_in_numpy_is_that_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    from jpo.agent.sac.box import act, new_box_learner

    learner = new_box_learner(len(steering.SHARED), steering.ACTIONS, hidden=steering.HIDDEN, seed=3)
    actor = {name: learner.actor[name].numpy() for name in steering.SHAPES}
    state = np.random.default_rng(0).normal(size=len(steering.SHARED)).astype(np.float32)
    expected = act(learner, torch.from_numpy(state)[None], deterministic=True)[0].numpy()
    assert steering.action(actor, state) == pytest.approx(expected, abs=1e-6)


def test_a_network_of_zeros_decides_as_the_rule(seen):
    _, observation = seen
    actor = {name: np.zeros(shape, np.float32) for name, shape in steering.SHAPES.items()}
    policy = Policy((actor,), (), {}, name="steering", judge=steering.steered)
    choice = policy.pick(observation.features, observation.allowed, None)
    assert choice == int(np.argmin(np.where(observation.allowed, observation.features[:, SCORE], np.inf)))
