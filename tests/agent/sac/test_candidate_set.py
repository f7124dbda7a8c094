"""The update against a straightforward reference: loops over the batch, two separate critics, formulas as in the papers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.candidate_set import ACTOR_RATE, ALPHA, CRITIC_RATE, GAMMA, TAU, fit, follow, new_learner, update  # noqa: E402
from jpo.agent.sac.replay_buffer import Batch  # noqa: E402
from jpo.agent.state import WIDTH  # noqa: E402

torch.set_num_threads(1)  # faster than two on networks this small

EPS = 1e-3
"""Of Adam, here only: with the usual 1e-8 it makes a full step of a gradient that is nothing but rounding."""


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


def reference_critic_loss(actor, critics, targets, b):
    critic = []
    for i in range(len(b.reward)):
        state, following = torch.from_numpy(b.features[i]), torch.from_numpy(b.next_features[i][b.next_allowed[i]])
        pi = torch.softmax(net(actor, "actor", following), 0)
        q_next = torch.minimum(*(net(targets, "critics", following, head) for head in (0, 1)))
        v = sum(p * (q - ALPHA * torch.log(p)) for p, q in zip(pi, q_next, strict=True))
        y = (b.reward[i] + GAMMA * (1 - b.terminated[i]) * v).detach()
        for head in (0, 1):
            error = abs(net(critics, "critics", state, head)[b.executed[i]] - y)
            critic.append(0.5 * error**2 if error < 1 else error - 0.5)
    return sum(critic) / len(critic)


def reference_actor_loss(actor, critics, b):
    terms = []
    for i in range(len(b.reward)):
        state = torch.from_numpy(b.features[i][b.allowed[i]])
        pi = torch.softmax(net(actor, "actor", state), 0)
        q = torch.minimum(*(net(critics, "critics", state, head) for head in (0, 1))).detach()
        terms.append(sum(p * (ALPHA * torch.log(p) - value) for p, value in zip(pi, q, strict=True)))
    return sum(terms) / len(terms)


def copies(network):
    return {name: value.clone().requires_grad_() for name, value in network.items()}


def step(loss, parameters, rate):
    optimiser = torch.optim.Adam(parameters, lr=rate, eps=EPS)
    loss.backward(inputs=parameters)
    optimiser.step()
    return loss.item()


def learner_away_from_the_start():
    """The last layers are nearly 0 at first, which would hide mistakes in the layers before them."""
    learner = new_learner(3)
    for network in (learner.actor, learner.critics):
        network.flat.mul_(3)
        network[[*network][-2]].mul_(30)
    for optimiser in (learner.actor_optimiser, learner.critic_optimiser):
        optimiser.param_groups[0]["eps"] = EPS
    return learner


def test_one_update_is_that_of_the_reference():
    ours, b = learner_away_from_the_start(), batch()
    actor, critics, targets = (copies(network) for network in (ours.actor, ours.critics, ours.targets))
    critic_loss = step(reference_critic_loss(actor, critics, targets, b), list(critics.values()), CRITIC_RATE)
    actor_loss = step(reference_actor_loss(actor, critics, b), list(actor.values()), ACTOR_RATE)
    found = update(ours, b)
    assert [loss.item() for loss in found] == pytest.approx([critic_loss, actor_loss], abs=1e-5)
    for network, theirs in ((ours.actor, actor), (ours.critics, critics)):
        for name, tensor in network.items():
            assert torch.allclose(tensor.grad, theirs[name].grad, atol=1e-5), name
            assert torch.allclose(tensor, theirs[name], atol=1e-5), name
    for name, tensor in ours.targets.items():
        assert torch.allclose(tensor, (1 - TAU) * targets[name] + TAU * critics[name], atol=1e-5), name


def test_the_same_seed_gives_the_same_learner_to_the_bit():
    one, same, other = new_learner(1), new_learner(1), new_learner(2)
    for learner in (one, same, other):
        for seed in range(5):
            update(learner, batch(seed=seed))
    assert torch.equal(one.actor.flat, same.actor.flat)
    assert torch.equal(one.targets.flat, same.targets.flat)
    assert not torch.equal(one.actor.flat, other.actor.flat)


def test_beyond_one_a_critics_error_pulls_no_harder():
    learner, x = new_learner(0), torch.zeros(1, WIDTH)
    for y, pull in ((0.25, 0.25), (1.0, 1.0), (100.0, 1.0)):
        error = fit(learner.critics, learner.critic_optimiser, x, learner.critics.forward(x)[-1][0] + y, huber=1.0)
        assert error[0].item() == pytest.approx(-y, abs=1e-4)
        assert learner.critics["critics.b2"].grad[0].item() == pytest.approx(-pull / 2, abs=1e-4)


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


def test_targets_follow_by_a_tenth_of_the_way():
    targets, critics = new_learner(0).targets, new_learner(1).critics
    targets.flat.fill_(1.0)
    critics.flat.fill_(2.0)
    follow(targets, critics, 0.1)
    assert torch.allclose(targets["critics.w1"], torch.full((2, 64, 64), 1.1))
