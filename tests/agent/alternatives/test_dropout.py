import numpy as np
import pytest

from jpo.agent.alternatives.judges import answers
from jpo.agent.policy import SHAPES, Policy
from jpo.agent.state import WIDTH


def policy():
    """Of two members."""
    rng = np.random.default_rng(0)
    one, other = ({name: rng.normal(0, 0.2, shape).astype(np.float32) for name, shape in SHAPES.items()} for _ in range(2))
    return Policy((one, other), released=(), card={})


def features(k=5):
    return np.random.default_rng(1).normal(size=(k, WIDTH)).astype(np.float32)


def uncertainty(*arguments, **options):
    """Mean and standard deviation over the passes."""
    said = answers(*arguments, **options)
    return said.mean(axis=0), said.std(axis=0)


def test_with_no_unit_left_out_it_is_what_the_critics_say():
    mean, sd = uncertainty(policy(), features(), np.random.default_rng(0), rate=0.0, passes=3)
    assert mean == pytest.approx(policy().values(features()).mean(axis=0), abs=1e-4)
    assert sd == pytest.approx(np.zeros(5), abs=1e-9)


def test_the_more_is_left_out_the_wider_the_answers_scatter():
    little, much = (uncertainty(policy(), features(), np.random.default_rng(0), rate=rate, passes=200)[1] for rate in (0.05, 0.4))
    assert (little > 0).all()
    assert (much > little).all()


def test_what_is_left_keeps_its_mean():
    """Twins that count their 64 hidden units: 64 on average, sd of their mean sqrt(64 rate / (1 - rate) / 2) at one half."""
    counting = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    counting["critics.b1"] += 1
    counting["critics.w2"] += 1
    mean, sd = uncertainty(Policy((counting,), (), {}), features(1), np.random.default_rng(0), rate=0.5, passes=4000)
    assert mean[0] == pytest.approx(64, abs=0.6)
    assert sd[0] == pytest.approx(8 / 2**0.5, rel=0.1)


def test_one_seed_gives_one_answer():
    one, same = (uncertainty(policy(), features(), np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, same)
