import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.squashed_gaussian import draw, mode, slope  # noqa: E402


def generator():
    return torch.Generator().manual_seed(0)


def outputs(n=50, actions=2, spread=1.0):
    return spread * torch.randn((n, 2 * actions), generator=torch.Generator().manual_seed(1))


def by_torch(x):
    """The same draw, from torch.distributions."""
    mean, log_sd = x.chunk(2, 1)
    log_sd = log_sd.clamp(-20, 2)
    tanh = torch.distributions.TanhTransform(cache_size=1)
    action = tanh(mean + log_sd.exp() * torch.randn(mean.shape, generator=generator()))
    density = torch.distributions.TransformedDistribution(torch.distributions.Normal(mean, log_sd.exp()), tanh)
    return action, density.log_prob(action).sum(1, keepdim=True)


def test_density_of_one_action_by_hand():
    noise = torch.randn((1, 1), generator=generator()).item()
    found = draw(torch.tensor([[0.3, math.log(0.5)]]), generator())
    u = 0.3 + 0.5 * noise
    density = math.exp(-(noise**2) / 2) / math.sqrt(2 * math.pi) / 0.5 / (1 - math.tanh(u) ** 2)
    assert found.action.item() == pytest.approx(math.tanh(u), abs=1e-6)
    assert found.log_pi.item() == pytest.approx(math.log(density), abs=1e-5)


def test_densities_are_those_of_torch():
    action, log_pi = by_torch(outputs())
    found = draw(outputs(), generator())
    assert torch.allclose(found.action, action, atol=1e-6)
    assert torch.allclose(found.log_pi, log_pi, atol=1e-4)


def test_far_from_the_origin_the_density_stays_finite():
    found = draw(outputs(spread=100.0), generator())
    assert found.log_pi.isfinite().all()
    assert found.action.abs().max() == 1.0  # rounded; the density knows better


@pytest.mark.parametrize("spread", [0.5, 1.5])
def test_gradients_are_those_of_autograd_also_where_the_spread_is_bounded(spread):
    x = outputs(spread=spread).requires_grad_()
    weights = torch.randn((50, 2), generator=generator())
    action, log_pi = by_torch(x)
    (0.3 * log_pi.sum() + (weights * action).sum()).backward()
    found = slope(draw(x.detach(), generator()), weights, torch.tensor(0.3))
    assert ((x[:, 2:] > 2).any()) == (spread == 1.5)
    assert torch.allclose(found, x.grad, atol=1e-4)


def test_the_mode_is_the_squashed_mean():
    assert mode(torch.tensor([[0.5, -4.0, 0.0, 1.0]])).tolist() == [pytest.approx([math.tanh(0.5), math.tanh(-4.0)])]


def test_the_first_draws_are_cut_from_all():
    found = draw(outputs(), generator())
    first = found.first(3)
    assert torch.equal(first.action, found.action[:3])
    assert [len(part) for part in (first.action, first.log_pi, first.deviation, first.bounded)] == [3, 3, 3, 3]
