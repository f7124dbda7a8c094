import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.agent.policy import SHAPES, Policy, load_policy, mean_policy, save_policy
from jpo.agent.sealed import seal
from jpo.agent.state import WIDTH
from jpo.errors import JpoError, StoreError


def weights(seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


FILE = save_policy(weights(), released=("safe", "on"), card={"seed": 7})


def test_what_is_saved_is_loaded():
    policy = load_policy(FILE)
    assert policy.released == ("safe", "on")
    assert policy.card == {"seed": 7}
    assert all((policy.weights[name] == value).all() for name, value in weights().items())


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(FILE) - 1), st.integers(0, 7))
def test_any_flipped_bit_is_noticed(position, bit):
    data = bytearray(FILE)
    data[position] ^= 1 << bit
    with pytest.raises(JpoError):
        load_policy(bytes(data))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 100, len(FILE) // 2, len(FILE) - 1])
def test_a_truncated_file_is_noticed(length):
    with pytest.raises(StoreError, match="JPO's agent"):
        load_policy(FILE[:length])


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"\x80\x04K\x01.", b"{}" * 999, b"\xff" * 100])
def test_a_foreign_file_is_refused(data):
    with pytest.raises(StoreError) as caught:
        load_policy(data)
    assert caught.value.code == "JPO-E601"


@pytest.mark.parametrize("header", [{}, {"format": "jpo policy 1", "schema": "other", "released": ["safe"], "card": {}}])
def test_weights_for_other_features_are_refused(header):
    with pytest.raises(StoreError) as caught:
        load_policy(seal(weights(), header))
    assert caught.value.code == "JPO-E602"


def test_weights_that_are_not_finite_are_refused():
    broken = weights()
    broken["actor.b2"][:] = np.nan
    with pytest.raises(StoreError, match="not finite"):
        load_policy(save_policy(broken, released=("safe", "on"), card={}))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"none\.safetensors: cannot be read"):
        load_policy(tmp_path / "none.safetensors")


def test_the_shipped_policy_loads_and_tells_how_it_was_made():
    policy = load_policy()
    assert policy.card["command"].startswith("jpo learn --pretrain")
    passed = [name for name, test in policy.card["release_test"].items() if test["ratio"] + 1.96 * test["standard_error"] <= 1.01]
    assert policy.released == tuple(passed)


def test_the_mean_of_two_policies_is_that_of_their_weights():
    one, other = (Policy(weights(seed), released=("safe", "on"), card={}) for seed in (1, 2))
    mean = mean_policy([one, other])
    assert mean.weights["actor.b0"] == pytest.approx((one.weights["actor.b0"] + other.weights["actor.b0"]) / 2)
    assert not mean.released


def zeros(**changed):
    return Policy({**{name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}, **changed}, True, {})


def test_it_picks_the_best_that_is_allowed_and_draws_only_with_a_generator():
    column = np.zeros((WIDTH, 64), np.float32)
    column[0, 0] = 1.0  # the logit is the first feature
    through, out = np.zeros((64, 64), np.float32), np.zeros((64, 1), np.float32)
    through[0, 0] = out[0, 0] = 1.0
    policy = zeros(**{"actor.w0": column, "actor.w1": through, "actor.w2": out})
    features = np.zeros((3, WIDTH), np.float32)
    features[:, 0] = (1.0, 2.0, 3.0)
    assert policy.logits(features).tolist() == [1, 2, 3]
    assert policy.pick(features, np.array([True, True, False]), None) == 1
    drawn = [policy.pick(features, np.array([True, True, False]), rng) for rng in [np.random.default_rng(0)] for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(1 / (1 + np.exp(-1)), abs=0.04)
