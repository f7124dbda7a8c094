import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.agent.acquisition import WORTH
from jpo.agent.policy import (
    FORMAT,
    SCORE,
    SHAPES,
    TEMPERATURE,
    Policy,
    anchor,
    load_policy,
    mean_policy,
    rule_choice,
    save_policy,
    shipped_policy,
)
from jpo.agent.sealed import seal, unseal
from jpo.agent.state import SCHEMA, SCHEMA_WITHOUT_PHASES, SCHEMA_WITHOUT_QUEUE, WIDTH, WITHOUT_PHASES, WITHOUT_QUEUE
from jpo.errors import JpoError, StoreError


def weights(seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


FILE = save_policy(weights(), released=("safe", "on"), card={"seed": 7})


def test_what_is_saved_is_loaded():
    policy = load_policy(FILE)
    assert policy.released == ("safe", "on")
    assert policy.card == {"seed": 7}
    assert all((policy.members[0][name] == value).all() for name, value in weights().items())


@settings(max_examples=200)
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


HEADER = {"format": FORMAT, "schema": SCHEMA, "released": ["safe"], "card": {}}
NAMED = {f"0.{name}": array for name, array in weights().items()}


@pytest.mark.parametrize("other", [{"format": "jpo policy 2"}, {"schema": "other"}, {"released": "safe"}, {"card": None}])
def test_weights_for_other_features_or_without_their_card_are_refused(other):
    assert load_policy(seal(NAMED, HEADER)).released == ("safe",)
    with pytest.raises(StoreError) as caught:
        load_policy(seal(NAMED, HEADER | other))
    assert caught.value.code == "JPO-E602"


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {**NAMED, "1.critics.w0": NAMED["0.critics.w0"]},
        {**NAMED, "0.critics.b2": np.zeros(2)},
        {**NAMED, "0.critics.b2": NAMED["0.critics.b2"].astype(np.float64) + 1e300},  # which is infinite where it is used
    ],
)
def test_weights_of_other_networks_are_refused(tensors):
    with pytest.raises(StoreError) as caught:
        load_policy(seal(tensors, HEADER))
    assert caught.value.code == "JPO-E602"


def test_weights_that_are_not_finite_are_refused():
    broken = weights()
    broken["critics.b2"][:] = np.nan
    with pytest.raises(StoreError, match="not finite"):
        load_policy(save_policy(broken, released=("safe", "on"), card={}))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"none\.safetensors: cannot be read"):
        load_policy(tmp_path / "none.safetensors")


def test_the_shipped_policy_loads_and_says_how_it_was_made():
    policy = load_policy()
    assert policy.card["command"].startswith("jpo learn --pretrain")
    test = policy.card["release_test"].get("pooled")
    passed = test and test["ratio"] * np.exp(2.41 * test["standard_error"]) <= 1.01 and test["harm"] <= test["rule_harm"] + 0.01
    assert passed or not policy.released


def test_without_the_shipped_file_there_is_no_policy(monkeypatch, tmp_path):
    monkeypatch.setattr("jpo.agent.policy.SHIPPED", tmp_path / "none.safetensors")
    assert shipped_policy() is None


def test_the_mean_of_two_policies_is_that_of_their_weights():
    one, other = (Policy((weights(seed), weights(seed + 9)), released=("safe", "on"), card={}) for seed in (1, 2))
    mean = mean_policy([one, other])
    for member in (0, 1):
        of_both = (one.members[member]["critics.b0"] + other.members[member]["critics.b0"]) / 2
        assert mean.members[member]["critics.b0"] == pytest.approx(of_both)
    assert not mean.released


def test_several_members_are_saved_together_and_each_has_a_say():
    members = [weights(seed) for seed in (1, 2, 3)]
    loaded = load_policy(save_policy(*members, released=(), card={}))
    features = np.random.default_rng(0).normal(size=(4, WIDTH)).astype(np.float32)
    alone = [Policy((one,), (), {}).values(features) for one in members]
    assert loaded.values(features) == pytest.approx(np.concatenate(alone), rel=1e-6)
    assert loaded.values(features).shape == (6, 4)


def test_the_digest_is_that_of_all_weights():
    assert load_policy(FILE).digest == Policy((weights(),), (), {}).digest
    assert len({Policy(tuple(map(weights, seeds)), (), {}).digest for seeds in ((0,), (1,), (0, 1), (1, 0))}) == 4


def of_feature(*slopes, bias=10.0):
    """Critics, a member for each pair, which expect `slope` times the first feature (at least -bias), in runs."""
    members = []
    for pair in zip(slopes[::2], slopes[1::2], strict=True):
        through = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
        through["critics.w0"][:, 0, 0] = through["critics.w1"][:, 0, 0] = 1.0
        through["critics.b0"][:, 0, 0] = bias
        through["critics.w2"][:, 0, 0] = pair
        members.append(through)
    return Policy(tuple(members), (), {})


def candidates(*first, scores):
    features = np.zeros((len(first), WIDTH), np.float32)
    features[:, 0], features[:, SCORE] = first, scores
    return features


def test_savings_are_differences_to_the_rules_choice_among_the_allowed():
    features = candidates(0.0, 1.0, 3.0, scores=(2.0, 1.0, 0.0))
    policy = of_feature(1.0, 0.5)
    assert policy.savings(features, np.ones(3, bool)).tolist() == [[-3, -2, 0], [-1.5, -1, 0]]
    assert policy.savings(features, np.array([True, True, False])).tolist() == [[-1, 0, 2], [-0.5, 0, 1]]


@pytest.mark.parametrize(
    ("slopes", "departs"),
    [
        ((0.5, 0.5), True),  # mean .5, no spread
        ((0.05, 0.05), False),  # agreed on, and too little to matter
        ((0.5, 0.5, 0.08, 0.08), False),  # mean .29 - sd .21 = .08
        ((0.5, 0.5, 0.14, 0.14), True),  # mean .32 - sd .18 = .14
        ((5.0, 5.0, -1.0, -1.0), False),  # mean 2 - sd 3: they do not agree
        ((-1.0, -1.0), False),
    ],
)
def test_it_departs_only_where_mean_less_a_standard_deviation_exceeds_the_margin(slopes, departs):
    features, yes = candidates(0.0, 1.0, scores=(0.0, 1.0)), np.ones(2, bool)
    policy = of_feature(*slopes)
    assert policy.pick(features, yes, None) == int(departs) == int(np.mean(slopes) - np.std(slopes) > WORTH)
    assert policy.preferred(features, yes) == pytest.approx([0.0, np.mean(slopes) - np.std(slopes) - WORTH], abs=1e-5)


def test_of_several_departures_the_one_that_surely_saves_most_is_taken():
    features = candidates(0.0, 1.0, 2.0, 3.0, scores=(0.0, 1.0, 2.0, 3.0))
    assert of_feature(1.0, 1.0).pick(features, np.ones(4, bool), None) == 3
    assert of_feature(1.0, 1.0).pick(features, np.array([True, True, True, False]), None) == 2


def test_a_draw_is_from_the_rules_softmax_times_e_to_the_savings():
    """Scores favour the first by T ln 3, savings the second by T ln 6: 1 to 2. The third is forbidden."""
    features = candidates(0.0, 1.0, 9.0, scores=(0.0, TEMPERATURE * np.log(3), -1.0))
    policy, allowed = of_feature(TEMPERATURE * np.log(6), TEMPERATURE * np.log(6)), np.array([True, True, False])
    assert rule_choice(features, allowed) == 0
    assert anchor(features)[0] - anchor(features)[1] == pytest.approx(np.log(3))
    rng = np.random.default_rng(0)
    drawn = [policy.pick(features, allowed, rng) for _ in range(4000)]
    assert set(drawn) == {0, 1}
    assert np.mean(drawn) == pytest.approx(2 / 3, abs=0.03)


EARLIER = pytest.mark.parametrize(
    ("schema", "width"), [(SCHEMA_WITHOUT_PHASES, WITHOUT_PHASES), (SCHEMA_WITHOUT_QUEUE, WITHOUT_QUEUE)]
)


def of_earlier(schema, width):
    """Weights as they were before phases, or the queue, were part of the state, and the file that they had."""
    narrow = weights()
    narrow["critics.w0"] = narrow["critics.w0"][:, :width].copy()
    header = {**unseal(FILE)[1], "schema": schema}
    return narrow, seal({f"0.{name}": value for name, value in narrow.items()}, header)


def test_weights_from_before_phases_answer_as_they_did_to_the_last_bit():
    narrow, file = of_earlier(SCHEMA_WITHOUT_PHASES, WITHOUT_PHASES)
    policy = load_policy(file)
    features = np.random.default_rng(1).normal(size=(7, WIDTH)).astype(np.float32)
    features[:, WITHOUT_PHASES:] = 0
    x = features[:, :WITHOUT_PHASES].copy()
    for layer in range(3):
        x = x @ narrow[f"critics.w{layer}"] + narrow[f"critics.b{layer}"]
        x = np.maximum(x, 0) if layer < 2 else x
    assert (policy.values(features) == x[..., 0]).all()
    assert not policy.members[0]["critics.w0"][:, WITHOUT_PHASES:].any()


def test_weights_that_know_phases_answer_as_they_did_where_no_queue_is_known():
    """The product that they had: of all but the phases, and of these."""
    narrow, file = of_earlier(SCHEMA_WITHOUT_QUEUE, WITHOUT_QUEUE)
    features = np.random.default_rng(1).normal(size=(7, WIDTH)).astype(np.float32)
    features[:, WITHOUT_QUEUE:] = 0
    first, phases = features[:, :WITHOUT_PHASES], features[:, WITHOUT_PHASES:WITHOUT_QUEUE]
    w = narrow["critics.w0"]
    x = np.maximum(first @ w[:, :WITHOUT_PHASES] + narrow["critics.b0"] + phases @ w[:, WITHOUT_PHASES:], 0)
    x = np.maximum(x @ narrow["critics.w1"] + narrow["critics.b1"], 0)
    policy = load_policy(file)
    assert (policy.values(features) == (x @ narrow["critics.w2"] + narrow["critics.b2"])[..., 0]).all()
    assert policy.digest == Policy((narrow,), (), {}).digest


@EARLIER
def test_phases_and_queue_change_neither_answer_nor_name_until_they_have_any_weight(schema, width):
    narrow, file = of_earlier(schema, width)
    policy, features = load_policy(file), np.ones((3, WIDTH), np.float32)
    assert policy.digest == Policy((narrow,), (), {}).digest
    masked = features.copy()
    masked[:, width:] = 0
    assert (policy.values(features) == policy.values(masked)).all()
    policy.members[0]["critics.w0"][0, -1, 0] = 9.0
    assert (policy.values(features) != policy.values(masked)).any()
    assert policy.digest != Policy((narrow,), (), {}).digest


@pytest.mark.parametrize("schema", ["state 2", SCHEMA_WITHOUT_PHASES, SCHEMA_WITHOUT_QUEUE])
def test_weights_of_another_width_than_their_schemas_are_refused(schema):
    narrow, _ = of_earlier(SCHEMA_WITHOUT_PHASES, WITHOUT_PHASES)
    narrow["critics.w0"] = narrow["critics.w0"][:, 1:].copy()
    file = seal({f"0.{name}": value for name, value in narrow.items()}, {**unseal(FILE)[1], "schema": schema})
    with pytest.raises(StoreError) as caught:
        load_policy(file)
    assert caught.value.code == "JPO-E602"
