import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.agent.policy import MARGIN, SCORE, SHAPES, Policy, ensemble, load_policy, mean_policy, save_policy
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


@pytest.mark.parametrize("header", [{}, {"format": "jpo policy 2", "schema": "other", "released": ["safe"], "card": {}}])
def test_weights_for_other_features_are_refused(header):
    with pytest.raises(StoreError) as caught:
        load_policy(seal({f"0.{name}": array for name, array in weights().items()}, header))
    assert caught.value.code == "JPO-E602"


def test_weights_that_are_not_finite_are_refused():
    broken = weights()
    broken["actor.b2"][:] = np.nan
    with pytest.raises(StoreError, match="not finite"):
        load_policy(save_policy(broken, released=("safe", "on"), card={}))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"none\.safetensors: cannot be read"):
        load_policy(tmp_path / "none.safetensors")


def test_the_shipped_policy_loads_and_says_how_it_was_made():
    policy = load_policy()
    assert policy.card["command"].startswith("jpo learn --pretrain")
    tests = policy.card["release_test"]
    passed = [name for name, test in tests.items() if test["ratio"] + 1.96 * test["standard_error"] <= 1.01]
    assert policy.released == (tuple(passed) if "drift" in passed else ())


def test_the_mean_of_two_policies_is_that_of_their_weights():
    one, other = (Policy(weights(seed), released=("safe", "on"), card={}) for seed in (1, 2))
    mean = mean_policy([one, other])
    assert mean.weights["actor.b0"] == pytest.approx((one.weights["actor.b0"] + other.weights["actor.b0"]) / 2)
    assert not mean.released


def test_several_members_are_saved_together_and_decide_by_the_mean_of_their_logits():
    three = ensemble([Policy(weights(seed), released=("safe",), card={}) for seed in (1, 2, 3)])
    loaded = load_policy(save_policy(*three.members, released=(), card={}))
    features = np.random.default_rng(0).normal(size=(4, WIDTH)).astype(np.float32)
    alone = [Policy(one, (), {}).logits(features) for one in loaded.members]
    assert loaded.logits(features) == pytest.approx(sum(alone) / 3)
    assert not three.released


def of_score(slope):
    """An actor whose logit is `slope` times the belief rule's score + 5."""
    through = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    through["actor.w0"][SCORE, 0] = through["actor.w1"][0, 0] = 1.0
    through["actor.b0"][0, 0], through["actor.w2"][0, 0] = 5.0, slope
    return Policy(through, (), {})


def test_several_members_depart_from_the_rule_only_together_and_where_it_matters():
    features, yes = np.zeros((2, WIDTH), np.float32), np.ones(2, bool)
    features[1, SCORE] = 1.0  # the rule's choice is the first
    for slopes, choice in (((9, 8), 1), ((9, -1), 0), ((9, 1), 0), ((1,), 1), ((-1,), 0)):
        assert ensemble([of_score(slope) for slope in slopes]).pick(features, yes, None) == choice
    assert ensemble([of_score(9), of_score(8)]).preferred(features, yes).tolist() == [0.0, 8.0 - MARGIN]


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
