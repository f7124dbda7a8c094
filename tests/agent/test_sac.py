"""The update against a straightforward reference: loops over the batch, two separate critics, formulas as in the papers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.replay_buffer import Batch  # noqa: E402
from jpo.agent.sac import ALPHA, GAMMA, TAU, new_learner, update  # noqa: E402
from jpo.agent.state import WIDTH  # noqa: E402


def batch(n=5, k=4, seed=0):
    rng = np.random.default_rng(seed)
    allowed = rng.random((2, n, k)) < 0.6
    allowed[:, :, 0] = True
    features = rng.normal(size=(2, n, k, WIDTH)).astype(np.float32)
    reward, ended = rng.uniform(-3, 0, n).astype(np.float32), np.array([0, 1, 0, 0, 0], np.float32)[:n]
    return Batch(features[0], allowed[0], rng.integers(k, size=n), reward, features[1], allowed[1], ended)


def net(parameters, name, x, head=None):
    for i in range(3):
        w, b = (parameters[f"{name}.{kind}{i}"] for kind in "wb")
        x = x @ (w if head is None else w[head]) + (b if head is None else b[head])
        x = torch.relu(x) if i < 2 else x
    return x[..., 0]


def reference_critic_loss(learner, b):
    critic = []
    for i in range(len(b.reward)):
        state, following = torch.from_numpy(b.features[i]), torch.from_numpy(b.next_features[i][b.next_allowed[i]])
        pi = torch.softmax(net(learner.actor, "actor", following), 0)
        q_next = torch.minimum(*(net(learner.targets, "critics", following, head) for head in (0, 1)))
        v = sum(p * (q - ALPHA * torch.log(p)) for p, q in zip(pi, q_next, strict=True))
        y = (b.reward[i] + GAMMA * (1 - b.terminated[i]) * v).detach()
        for head in (0, 1):
            error = abs(net(learner.critics, "critics", state, head)[b.executed[i]] - y)
            critic.append(0.5 * error**2 if error < 1 else error - 0.5)
    return sum(critic) / len(critic)


def reference_actor_loss(learner, b):
    terms = []
    for i in range(len(b.reward)):
        state = torch.from_numpy(b.features[i][b.allowed[i]])
        pi = torch.softmax(net(learner.actor, "actor", state), 0)
        q = torch.minimum(*(net(learner.critics, "critics", state, head) for head in (0, 1))).detach()
        terms.append(sum(p * (ALPHA * torch.log(p) - value) for p, value in zip(pi, q, strict=True)))
    return sum(terms) / len(terms)


def test_one_update_is_that_of_the_reference():
    ours, theirs, b = new_learner(3), new_learner(3), batch()
    critic_loss = reference_critic_loss(theirs, b)
    theirs.critic_optimiser.zero_grad()
    critic_loss.backward()
    theirs.critic_optimiser.step()
    actor_loss = reference_actor_loss(theirs, b)
    theirs.actor_optimiser.zero_grad()
    actor_loss.backward()
    theirs.actor_optimiser.step()
    found = update(ours, b)
    assert found == pytest.approx((critic_loss.item(), actor_loss.item()), abs=1e-5)
    for name in ours.actor:
        assert torch.allclose(ours.actor[name], theirs.actor[name], atol=2e-5), name
    for name in ours.critics:
        assert torch.allclose(ours.critics[name], theirs.critics[name], atol=2e-5), name
        assert torch.allclose(ours.targets[name], (1 - TAU) * theirs.targets[name] + TAU * theirs.critics[name], atol=1e-6), name


def test_what_is_not_allowed_does_not_matter():
    one, other, b = new_learner(0), new_learner(0), batch()
    changed = b.features.copy()
    changed[~b.allowed] += 7
    executed = b.allowed.argmax(axis=1)
    update(one, Batch(b.features, b.allowed, executed, b.reward, b.next_features, b.next_allowed, b.terminated))
    update(other, Batch(changed, b.allowed, executed, b.reward, b.next_features, b.next_allowed, b.terminated))
    assert all(torch.equal(one.actor[name], other.actor[name]) for name in one.actor)


def test_the_actor_learns_which_of_two_candidates_pays():
    learner, n = new_learner(0), 16
    features = np.zeros((n, 2, WIDTH), np.float32)
    features[:, 1, 0] = 1.0
    executed = np.arange(n) % 2
    reward = np.where(executed == 1, 0.0, -1.0).astype(np.float32)
    yes, ended = np.ones((n, 2), bool), np.ones(n, np.float32)
    for _ in range(300):
        update(learner, Batch(features, yes, executed, reward, features, yes, ended))
    x = torch.from_numpy(features[0])
    assert torch.softmax(net(learner.actor, "actor", x), 0)[1] > 0.95
    assert net(learner.critics, "critics", x, 0).tolist() == pytest.approx([-1.0, 0.0], abs=0.1)
