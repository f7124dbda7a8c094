import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import SHAPES, Policy, load_policy, save_policy  # noqa: E402
from jpo.agent.sac.networks import Perceptron, initial, uniform  # noqa: E402
from jpo.agent.state import WIDTH  # noqa: E402


def twins(seed=0):
    return Perceptron("critics", initial(torch.Generator().manual_seed(seed)))


def test_numpy_gives_what_torch_gives():
    both = [twins(seed) for seed in (0, 1)]
    policy = load_policy(save_policy(*({n: t.numpy() for n, t in one.items()} for one in both), released=(), card={}))
    features = np.random.default_rng(0).uniform(-5, 5, (40, WIDTH)).astype(np.float32)
    theirs = np.concatenate([one.forward(torch.from_numpy(features))[-1][..., 0].numpy() for one in both])  # (4, 40)
    assert policy.values(features) == pytest.approx(theirs, abs=1e-5)


def test_fresh_critics_say_next_to_nothing_and_the_twins_differ():
    weights = twins()
    assert {name: tuple(t.shape) for name, t in weights.items()} == dict(SHAPES)
    features = np.random.default_rng(1).normal(size=(10, WIDTH)).astype(np.float32)
    values = Policy(({n: t.numpy() for n, t in weights.items()},), released=(), card={}).values(features)
    assert np.ptp(values) < 0.02
    assert not torch.equal(weights["critics.w0"][0], weights["critics.w0"][1])


def small(heads=(2,), seed=0):
    shapes = {"q.w0": (*heads, 3, 5), "q.b0": (*heads, 1, 5), "q.w1": (*heads, 5, 4), "q.b1": (*heads, 1, 4)}
    return Perceptron("q", uniform(torch.Generator().manual_seed(seed), shapes))


def test_two_heads_by_hand():
    weights = torch.tensor([[[1.0], [2.0]], [[-1.0], [0.5]]])  # (2, 2, 1)
    line = Perceptron("q", {"q.w0": weights, "q.b0": torch.tensor([[[0.5]], [[0.0]]])})
    seen = line.forward(torch.tensor([[1.0, 10.0]]))
    assert seen[-1].tolist() == [[[21.5]], [[4.0]]]
    line.backward(seen, torch.tensor([[[1.0]], [[2.0]]]))
    assert line["q.w0"].grad.tolist() == [[[1.0], [10.0]], [[2.0], [20.0]]]
    assert line["q.b0"].grad.tolist() == [[[1.0]], [[2.0]]]
    assert line.input_slope(seen, torch.tensor([[[1.0]], [[2.0]]])).tolist() == [[-1.0, 3.0]]


@pytest.mark.parametrize("heads", [(2,), ()])
def test_gradients_are_those_of_autograd(heads):
    network, x = small(heads), torch.randn((7, 3), generator=torch.Generator().manual_seed(2)).requires_grad_()
    named = {name: tensor.clone().requires_grad_() for name, tensor in network.items()}
    out = torch.relu(x @ named["q.w0"] + named["q.b0"]) @ named["q.w1"] + named["q.b1"]  # (2, 7, 4) or (7, 4)
    slope = torch.randn(out.shape, generator=torch.Generator().manual_seed(3))
    (out * slope).sum().backward()
    seen = network.forward(x.detach())
    network.backward(seen, slope.view(-1, 7, 4))
    assert torch.allclose(seen[-1].view(out.shape), out, atol=1e-6)
    assert all(torch.allclose(network[name].grad, tensor.grad, atol=1e-5) for name, tensor in named.items())
    assert torch.allclose(network.input_slope(seen, slope.view(-1, 7, 4)), x.grad, atol=1e-5)


def test_asking_for_the_slope_of_inputs_leaves_the_critics_alone():
    network = small()
    before = network.flat.clone()
    network.input_slope(network.forward(torch.ones(2, 3)), torch.ones(2, 2, 4))
    assert torch.equal(network.flat, before)
    assert not network.slopes.any()


def test_flat_and_named_tensors_are_the_same_memory_in_the_order_of_the_layers():
    tensors = {name: torch.ones(shape) for name, shape in (("q.b0", (1, 2)), ("q.w0", (3, 2)))}
    network = Perceptron("q", tensors)
    assert list(network) == ["q.w0", "q.b0"]
    network.flat.copy_(torch.arange(8.0))
    assert tensors["q.b0"].tolist() == [[6.0, 7.0]]
    network.slopes.fill_(1.0)
    torch.optim.SGD([network["q.w0"]], lr=1.0).step()
    assert network.flat.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0]
