import math

from hypothesis import example, given
from hypothesis import strategies as st

from constraints import JPO_GUARD, Facts, Limits, approves, check
from constraints.limit import Limit
from constraints.limits import DEFAULTS, Card, Quota
from constraints.names import WHOLE

NOW = {"batch_size": 64.0, "learning_rate": 0.01, "gpus": 2.0}


def test_the_package_says_whose_it_is():
    assert JPO_GUARD == "jpo"


def test_a_proposal_within_all_rules_is_approved_as_it_is():
    proposed = {"batch_size": 128.0, "learning_rate": 0.014, "gpus": 2.0}
    verdict = check(NOW, proposed, Limits())
    assert verdict.approved
    assert verdict.parameters == proposed
    assert verdict.violations == verdict.notices == ()


def test_a_pinned_value_stays_and_the_rest_of_the_proposal_is_offered():
    verdict = check(NOW, {**NOW, "batch_size": 128.0, "learning_rate": 0.02}, Limits().holding(["batch_size"]))
    assert [v.message for v in verdict.violations] == ["batch_size = 128 must stay 64: it is pinned in config.ini"]
    assert verdict.parameters == {**NOW, "learning_rate": 0.02}


def test_todays_values_beyond_a_limit_are_a_notice_and_may_be_kept():
    limits = Limits(parameters={**DEFAULTS, "batch_size": Limit(high=32)}, quota=Quota(gpus=1))
    verdict = check(NOW, {**NOW, "learning_rate": 0.02}, limits)
    assert verdict.approved
    assert [v.rule for v in verdict.notices] == ["at_most_max", "within_quota"]


def test_a_value_beyond_its_limits_may_come_back_in_one_step_and_not_halfway():
    limits = Limits(parameters={**DEFAULTS, "batch_size": Limit(low=1, high=32, max_change=1.5)})
    assert check(NOW, {**NOW, "batch_size": 32.0}, limits).approved
    assert check(NOW, {**NOW, "batch_size": 48.0}, limits).parameters == {**NOW, "batch_size": 32}


def test_keeping_is_approved_even_if_its_forecast_breaks_the_sla():
    limits, facts = Limits(sla={"cost_max": 1, "gpu_util_min": 0.5}), Facts(next={"cost_usd": 2, "gpu_utilisation": 0.1})
    kept = check(NOW, NOW, limits, facts)
    assert kept.approved
    assert [notice.rule for notice in kept.notices] == ["cost_within_budget", "gpu_utilisation_within_sla"]
    assert not check(NOW, {**NOW, "batch_size": 32.0}, limits, facts).approved


def test_values_that_are_no_numbers_and_foreign_parameters_are_rejected_without_an_alternative():
    for proposed in ({**NOW, "gpus": math.nan}, {**NOW, "momentum": 0.9}, {"gpus": 2.0}):
        verdict = check(NOW, proposed, Limits())
        assert (verdict.approved, verdict.parameters) == (False, None)


def test_nan_is_rejected_even_as_todays_value():
    assert not check({"gpus": math.nan}, {"gpus": math.nan}, Limits()).approved


# --- properties ---------------------------------------------------------------------------------------------------------------

WIDE = st.floats(-1e6, 1e12) | st.integers(-5, 5000).map(float) | st.floats()


def values(names: list[str], number: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, float]]:
    return st.fixed_dictionaries(dict.fromkeys(names, number))


@st.composite
def limit(draw: st.DrawFn, name: str) -> Limit:
    low = draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    return Limit(
        low=low,
        high=low + draw(st.sampled_from([0.0, 0.01, 7.0, 100.0, math.inf])),
        choices=draw(st.none() | st.lists(st.integers(1, 64).map(float), min_size=1, max_size=4).map(sorted).map(tuple)),
        power_of_two=draw(st.booleans()),
        multiple_of=draw(st.none() | st.sampled_from([1.0, 2.0, 3.0, 24.0] if name in WHOLE else [0.1, 0.25, 3.0])),
        max_change=draw(st.none() | st.sampled_from([1.1, 2.0, 4.0])),
        held=draw(st.none() | st.just("pinned")) if draw(st.booleans()) else None,
    )


some_limits = st.builds(
    Limits,
    parameters=st.fixed_dictionaries({name: limit(name) for name in DEFAULTS}) | st.just(dict(DEFAULTS)),
    quota=st.builds(Quota, gpus=st.sampled_from([1.0, 4.0, math.inf]), cpus=st.sampled_from([2.0, math.inf])),
    card=st.builds(Card, st.sampled_from([None, 16.0]), st.sampled_from([None, 1.0]), st.sampled_from([None, 0.1])),
)


@given(values(sorted(DEFAULTS), st.floats(0, 1e6)), some_limits)
def test_keeping_everything_is_approved_under_any_limits(current, limits):
    verdict = check(current, current, limits)
    assert verdict.approved
    assert verdict.parameters == current


@given(values(sorted(DEFAULTS), st.integers(1, 500).map(float)), values(sorted(DEFAULTS), WIDE), some_limits, st.booleans())
def test_what_is_offered_obeys_every_rule_and_is_within_the_limits(current, proposed, limits, measured):
    facts = Facts(gpu_memory_gib_now=8.0 if measured else None)
    verdict = check(current, proposed, limits, facts)
    assert approves(current, proposed, limits, facts) == verdict.approved
    offered = verdict.parameters
    if offered is None:
        return
    assert check(current, offered, limits, facts).approved
    for name, value in offered.items():
        low, high = limits.parameters[name].low, limits.parameters[name].high
        assert value == current[name] or low * (1 - 1e-9) <= value <= high * (1 + 1e-9)
        assert value == current[name] or name not in WHOLE or value == int(value)


@given(st.integers(1, 10**6), st.integers(-(10**7), 10**7))
@example(3, 1)
def test_under_the_built_in_limits_any_batch_size_has_a_nearest_one(now, wanted):
    offered = check({"batch_size": now}, {"batch_size": wanted}, Limits()).parameters
    assert offered is not None
    nearest = min(max(wanted, 1, math.ceil(now / 4)), now * 4)
    assert offered == {"batch_size": nearest}


def test_whole_numbers_of_any_size_and_the_largest_floats_are_judged():
    assert check({"batch_size": 64}, {"batch_size": 128}, Limits()).approved
    limits = Limits(parameters={**DEFAULTS, "memory_gib": Limit(multiple_of=0.1)})
    for huge in (10**400, 1.7e308):
        assert not check({"batch_size": 64}, {"batch_size": huge}, limits).approved
        check({"memory_gib": 64}, {"memory_gib": huge}, limits)
