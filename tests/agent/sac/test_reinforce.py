import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.candidate_set import ALPHA, new_learner  # noqa: E402
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
    ended = np.zeros(n, np.float32)
    return Batch(features[0], allowed, executed, rng.uniform(-3, 0, n).astype(np.float32), features[1], allowed, ended)


def logits_of(actor, features):
    x = torch.from_numpy(features)
    for i in range(3):
        x = x @ actor[f"actor.w{i}"] + actor[f"actor.b{i}"]
        x = torch.relu(x) if i < 2 else x
    return x[..., 0]


def autograd(learner, b):
    """Loss and gradients by a loop over the batch."""
    actor = {name: value.clone().requires_grad_() for name, value in learner.actor.items()}
    logits = logits_of(actor, b.features)
    loss = 0.0
    for i in range(len(b.reward)):
        rows = np.flatnonzero(b.allowed[i]).tolist()
        log_pi = torch.log_softmax(logits[i, rows], 0)
        loss = loss + ALPHA * (log_pi.exp() * log_pi).sum()
        if b.executed[i] in rows:
            loss = loss - (b.reward[i] - b.reward.mean()) * log_pi[rows.index(b.executed[i])]
    loss = loss / len(b.reward)
    loss.backward()
    return loss.item(), actor


def test_one_update_is_that_of_autograd():
    learner, b = new_learner(3), batch()
    learner.actor["actor.w2"].mul_(100)
    loss, theirs = autograd(learner, b)
    found = update(learner, b)
    assert [one.item() for one in found] == [0, pytest.approx(loss, abs=1e-5)]
    assert all(torch.allclose(tensor.grad, theirs[name].grad, atol=1e-5) for name, tensor in learner.actor.items())


def test_the_critics_stay_as_they_are():
    learner = new_learner(0)
    before = learner.critics.flat.clone(), learner.targets.flat.clone(), learner.actor.flat.clone()
    update(learner, batch())
    assert torch.equal(learner.critics.flat, before[0])
    assert torch.equal(learner.targets.flat, before[1])
    assert not torch.equal(learner.actor.flat, before[2])


def test_the_actor_learns_which_of_two_candidates_pays():
    learner, n = new_learner(0), 16
    features = np.zeros((n, 2, WIDTH), np.float32)
    features[:, 1, 0] = 1.0
    executed = np.arange(n) % 2
    reward, yes = np.where(executed == 1, 0.0, -1.0).astype(np.float32), np.ones((n, 2), bool)
    for _ in range(300):
        update(learner, Batch(features, yes, executed, reward, features, yes, np.ones(n, np.float32)))
    assert torch.softmax(logits_of(learner.actor, features[0]), 0)[1] > 0.95
