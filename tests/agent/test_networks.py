import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.networks import initial, score  # noqa: E402
from jpo.agent.policy import SHAPES, Policy, load_policy, save_policy  # noqa: E402
from jpo.agent.state import WIDTH  # noqa: E402


def parameters(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {**initial(generator, "actor"), **initial(generator, "critics")}


def test_numpy_gives_what_torch_gives():
    torch_weights = parameters()
    policy = load_policy(save_policy({n: t.numpy() for n, t in torch_weights.items()}, released=(), card={}))
    features = np.random.default_rng(0).uniform(-5, 5, (40, WIDTH)).astype(np.float32)
    actor = score(torch_weights, "actor", torch.from_numpy(features)[None])[0]
    critics = score(torch_weights, "critics", torch.from_numpy(features)[None])[:, 0]
    assert policy.logits(features) == pytest.approx(actor.numpy(), abs=1e-5)
    assert policy.values(features) == pytest.approx(critics.numpy().min(axis=0), abs=1e-5)


def test_a_fresh_actor_is_nearly_indifferent_and_its_twins_differ():
    weights = parameters()
    assert {name: tuple(t.shape) for name, t in weights.items()} == dict(SHAPES)
    features = np.random.default_rng(1).normal(size=(10, WIDTH)).astype(np.float32)
    logits = Policy({n: t.numpy() for n, t in weights.items()}, released=(), card={}).logits(features)
    assert np.ptp(logits) < 0.02
    assert not torch.equal(weights["critics.w0"][0], weights["critics.w0"][1])
