import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import SCORE, TEMPERATURE  # noqa: E402
from jpo.agent.sac.candidate_set import new_learner  # noqa: E402
from jpo.agent.sac.reinforce import update  # noqa: E402
from jpo.agent.sac.replay_buffer import Batch  # noqa: E402
from jpo.agent.state import WIDTH  # noqa: E402

torch.set_num_threads(1)  # faster than two on networks this small


def batch(n=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    allowed = rng.random((n, k)) < 0.6
    allowed[:, 0] = True
    allowed[0, 1] = False
    executed = np.array([1, *allowed[1:].argmax(axis=1)])  # the first executed what is not allowed any more
    features = rng.normal(size=(2, n, k, WIDTH)).astype(np.float32)
    features[..., SCORE] *= TEMPERATURE
    ended = np.zeros(n, np.float32)
    return Batch(features[0], allowed, executed, rng.uniform(-3, 0, n).astype(np.float32), features[1], allowed, ended)


def answers(critics, features, head):
    x = torch.from_numpy(features)
    for i in range(3):
        x = x @ critics[f"critics.w{i}"][head] + critics[f"critics.b{i}"][head]
        x = torch.relu(x) if i < 2 else x
    return x[..., 0]


def autograd(learner, b):
    """Loss and gradients by a loop over the batch and both networks: pi ~ pi0 exp(answer / T), pi0 the rule's softmax."""
    critics = {name: value.clone().requires_grad_() for name, value in learner.critics.items()}
    loss = 0.0
    for i in range(len(b.reward)):
        rows = np.flatnonzero(b.allowed[i]).tolist()
        log_anchor = torch.log_softmax(-torch.from_numpy(b.features[i, rows, SCORE]) / TEMPERATURE, 0)
        for head in (0, 1):
            log_pi = torch.log_softmax(log_anchor + answers(critics, b.features[i, rows], head) / TEMPERATURE, 0)
            loss = loss + TEMPERATURE * (log_pi.exp() * (log_pi - log_anchor)).sum() / 2
            if b.executed[i] in rows:
                loss = loss - (b.reward[i] - b.reward.mean()) * log_pi[rows.index(b.executed[i])] / 2
    loss = loss / len(b.reward)
    loss.backward()
    return loss.item(), critics


def test_one_update_is_that_of_autograd():
    learner, b = new_learner(3), batch()
    learner.critics["critics.w2"].mul_(10)
    loss, theirs = autograd(learner, b)
    found = update(learner, b, None)
    assert [one.item() for one in found] == [pytest.approx(loss, rel=1e-4), 0]
    for name, tensor in learner.critics.items():
        assert torch.allclose(tensor.grad, theirs[name].grad, rtol=1e-3, atol=1e-5), name


def test_forks_are_no_episodes_and_targets_stay_as_they_are():
    learner = new_learner(0)
    before = learner.critics.flat.clone(), learner.targets.flat.clone()
    update(learner, None, None)
    assert torch.equal(learner.critics.flat, before[0])
    update(learner, batch(), None)
    assert torch.equal(learner.targets.flat, before[1])
    assert not torch.equal(learner.critics.flat, before[0])


def test_it_learns_which_of_two_candidates_pays():
    learner, n = new_learner(0), 16
    features = np.zeros((n, 2, WIDTH), np.float32)
    features[:, 1, 0] = 1.0
    executed = np.arange(n) % 2
    reward, yes = np.where(executed == 1, 0.0, -1.0).astype(np.float32), np.ones((n, 2), bool)
    for _ in range(300):
        update(learner, Batch(features, yes, executed, reward, features, yes, np.ones(n, np.float32)), None)
    assert torch.softmax(answers(learner.critics, features[0], 0) / TEMPERATURE, 0)[1] > 0.95
