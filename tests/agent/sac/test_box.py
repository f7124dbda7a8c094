"""The update against a straightforward reference: two separate critics, torch's distributions, autograd, the paper's formulas."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.box import act, new_box_learner, update  # noqa: E402
from jpo.agent.sac.box_replay import BoxBatch, BoxReplay  # noqa: E402

torch.set_num_threads(1)  # faster than two on networks this small

STATES, ACTIONS, RATE, GAMMA, TAU = 3, 2, 1e-3, 0.9, 0.1

EPS = 1e-3
"""Of Adam, here only: with the usual 1e-8 it makes a full step of a gradient that is nothing but rounding."""


def new(seed=4):
    learner = new_box_learner(STATES, ACTIONS, hidden=(16, 8), seed=seed, rate=RATE, gamma=GAMMA, tau=TAU)
    learner.actor.flat.mul_(3)  # away from the start, where the last layer is nearly 0
    learner.log_alpha.fill_(-1.0)
    for optimiser in (learner.actor_optimiser, learner.critic_optimiser):
        optimiser.eps = EPS
    return learner


def batch(n=6, seed=0):
    rng = torch.Generator().manual_seed(seed)
    state, next_state = torch.randn((2, n, STATES), generator=rng)
    action = torch.rand((n, ACTIONS), generator=rng) * 2 - 1
    goes_on = torch.tensor([[1.0], [0.0], [1.0], [1.0], [1.0], [0.0]])[:n]
    return BoxBatch(torch.cat((state, action), 1), state, next_state, -torch.rand((n, 1), generator=rng), goes_on)


def copies(network):
    return {name: value.clone().requires_grad_() for name, value in network.items()}


def net(parameters, x, head=...):
    for i in range(3):
        w, b = (next(value for name, value in parameters.items() if name.endswith(f"{kind}{i}"))[head] for kind in "wb")
        x = torch.relu(x @ w + b) if i < 2 else x @ w + b
    return x


def smaller(parameters, state, action):
    return torch.minimum(*(net(parameters, torch.cat((state, action), 1), head) for head in (0, 1)))


def sampled(actor, state, noise):
    """Action and its log density, by torch.distributions."""
    mean, log_sd = net(actor, state).chunk(2, 1)
    tanh = torch.distributions.TanhTransform(cache_size=1)
    action = tanh(mean + log_sd.exp() * noise)
    density = torch.distributions.TransformedDistribution(torch.distributions.Normal(mean, log_sd.exp()), tanh)
    return action, density.log_prob(action).sum(1, keepdim=True)


def step(loss, parameters):
    optimiser = torch.optim.Adam(parameters, lr=RATE, eps=EPS)
    loss.backward(inputs=parameters)
    optimiser.step()


def reference(learner, b):
    """Actor, critics, targets and log alpha after one update; the first three hold their gradients too."""
    actor, critics, targets = (copies(made) for made in (learner.actor, learner.critics, learner.targets))
    log_alpha = learner.log_alpha.clone().requires_grad_()
    alpha, n = log_alpha.exp().detach(), len(b.state)
    noise = torch.randn((2 * n, ACTIONS), generator=learner.generator.clone_state())
    next_action, next_log_pi = sampled(actor, b.next_state, noise[n:])
    y = (b.reward + GAMMA * b.goes_on * (smaller(targets, b.next_state, next_action) - alpha * next_log_pi)).detach()
    errors = torch.stack([net(critics, b.executed, head) - y for head in (0, 1)])
    step((errors**2).mean() / 2, list(critics.values()))
    action, log_pi = sampled(actor, b.state, noise[:n])
    step((alpha * log_pi - smaller(critics, b.state, action)).mean(), list(actor.values()))
    step(-(log_alpha * (log_pi.detach() - ACTIONS)).mean(), [log_alpha])
    targets = {name: (1 - TAU) * targets[name] + TAU * critics[name] for name in targets}
    return actor, critics, targets, log_alpha, errors


def test_one_update_is_that_of_the_reference():
    learner, b = new(), batch()
    actor, critics, targets, log_alpha, errors = reference(learner, b)
    found = update(learner, b)
    assert torch.allclose(found, errors, atol=1e-5)
    assert torch.allclose(learner.log_alpha.grad, log_alpha.grad, atol=1e-5)
    assert torch.allclose(learner.log_alpha, log_alpha, atol=1e-5)
    for ours, theirs in ((learner.actor, actor), (learner.critics, critics)):
        for name, tensor in ours.items():
            assert torch.allclose(tensor.grad, theirs[name].grad, atol=1e-5), name
            assert torch.allclose(tensor, theirs[name], atol=1e-5), name
    assert all(torch.allclose(tensor, targets[name], atol=1e-5) for name, tensor in learner.targets.items())


def test_the_same_seed_gives_the_same_learner_to_the_bit():
    one, same, other = new(), new(), new(seed=5)
    for learner in (one, same, other):
        for seed in range(5):
            update(learner, batch(seed=seed))
    state = batch().state
    assert torch.equal(one.actor.flat, same.actor.flat)
    assert torch.equal(one.targets.flat, same.targets.flat)
    assert torch.equal(act(one, state, deterministic=False), act(same, state, deterministic=False))
    assert not torch.equal(one.actor.flat, other.actor.flat)


def test_actions_are_in_the_box_and_the_deterministic_one_needs_no_draw():
    learner = new()
    states = 50 * torch.randn((40, STATES), generator=torch.Generator().manual_seed(0))
    drawn, again = (act(learner, states, deterministic=False) for _ in range(2))
    assert drawn.shape == (40, ACTIONS)
    assert drawn.abs().max() <= 1
    assert not torch.equal(drawn, again)
    assert torch.equal(act(learner, states, deterministic=True), act(learner, states, deterministic=True))


def test_the_actor_finds_the_action_that_pays():
    learner = new_box_learner(1, 1, hidden=(16, 16), seed=0, rate=1e-2, gamma=0.0)
    replay, rng = BoxReplay(1, 1, 1000, seed=0), np.random.default_rng(0)
    for state, action in rng.uniform(-1, 1, (1000, 2)):
        replay.add([state], [action], -10 * (action - state / 2) ** 2, [state], True)
    for _ in range(300):
        update(learner, replay.sample(64))
    states = torch.tensor([[-0.8], [0.0], [0.8]])
    assert act(learner, states, deterministic=True).numpy() == pytest.approx(states.numpy() / 2, abs=0.1)


def test_the_temperature_falls_while_the_actor_is_more_random_than_wanted():
    learner = new_box_learner(STATES, ACTIONS, seed=0)
    update(learner, batch())  # entropy of the first policy is about 1.2, of which -2 is wanted
    assert learner.log_alpha.item() == pytest.approx(-3e-4, rel=0.01)
