"""Each rule by hand: a proposal which it accepts and one which it does not."""

import math

import pytest

from constraints import rules
from constraints.limit import Limit
from constraints.limits import Card, Limits, Prices, Quota
from constraints.rules import Facts

NOW = {"batch_size": 64.0, "learning_rate": 0.01, "num_layers": 2.0, "gpus": 2.0, "cpus": 8.0, "memory_gib": 16.0}


def batch(**limit) -> Limits:
    return Limits(parameters={**Limits().parameters, "batch_size": Limit(**limit)})


CARD = Limits(card=Card(memory_gib=20, fixed_gib=2, gib_per_sample=0.25))  # 18 GiB to use: 64 samples per GPU
PRICED = Limits(quota=Quota(usd_per_hour=5), prices=Prices(usd_per_gpu_hour=2, usd_per_cpu_hour=0.1, usd_per_gib_hour=0.0125))

ROWS = [
    (rules.finite_number, Limits(), {"batch_size": 65}, {"batch_size": math.nan}),
    (rules.finite_number, Limits(), {"cpus": 4}, {"cpus": math.inf}),
    (rules.whole_number, Limits(), {"batch_size": 65, "cpus": 2.5}, {"batch_size": 65.5}),
    (rules.whole_number, Limits(), {"batch_size": 2.0**53 - 1}, {"batch_size": 2.0**53}),
    (rules.at_least_min, Limits(), {"batch_size": 1}, {"batch_size": 0}),
    (rules.at_least_min, Limits(), {"learning_rate": 1e-8}, {"learning_rate": 9e-9}),
    (rules.at_most_max, Limits(), {"learning_rate": 100}, {"learning_rate": 101}),
    (rules.at_most_max, batch(high=128), {"batch_size": 128}, {"batch_size": 129}),
    (rules.one_of_choices, batch(choices=(32, 64)), {"batch_size": 32}, {"batch_size": 48}),
    (rules.power_of_two, batch(power_of_two=True), {"batch_size": 128}, {"batch_size": 96}),
    (rules.power_of_two, batch(power_of_two=True), {"batch_size": 1}, {"batch_size": 0}),
    (rules.power_of_two, batch(power_of_two=True), {"batch_size": 0.5}, {"batch_size": -64}),
    (rules.multiple_of, batch(multiple_of=24), {"batch_size": 48}, {"batch_size": 64}),
    (rules.multiple_of, batch(multiple_of=24), {"batch_size": 0}, {"batch_size": 1}),
    (rules.multiple_of, batch(multiple_of=0.1), {"batch_size": 12345.7}, {"batch_size": 12345.75}),  # 0.1 is none of 2's
    (rules.largest_change, Limits(), {"batch_size": 256}, {"batch_size": 257}),
    (rules.largest_change, Limits(), {"batch_size": 16}, {"batch_size": 15}),
    (rules.not_held, batch(held="pinned in config.ini"), {"batch_size": 64}, {"batch_size": 65}),
    (rules.batch_divisible_by_gpus, Limits(), {"batch_size": 66, "gpus": 3}, {"batch_size": 64, "gpus": 3}),
    (rules.batch_divisible_by_gpus, Limits(), {"batch_size": 3, "gpus": 0}, {"batch_size": 3, "gpus": 2}),
    (rules.batch_divisible_by_gpus, Limits(), {"gradient_accumulation_steps": 8}, {"gradient_accumulation_steps": 3}),
    (rules.batch_divisible_by_gpus, Limits(), {"batch_size": 64.5, "gpus": 1}, {"batch_size": 64.5, "gpus": 3}),
    (rules.batch_per_gpu, Limits(), {"batch_size": 128, "gpus": 1}, {"batch_size": 129, "gpus": 1}),
    (rules.batch_per_gpu, Limits(), {"batch_size": 512, "gpus": 4}, {"batch_size": 516, "gpus": 4}),
    (rules.gpu_memory_within_card, CARD, {"batch_size": 128}, {"batch_size": 130}),
    (rules.gpu_memory_within_card, CARD, {"batch_size": 512, "gpus": 8}, {"batch_size": 512, "gpus": 4}),
    (rules.gpu_memory_within_card, CARD, {"batch_size": 512, "gpus": 0}, {"batch_size": 512, "gpus": 1}),
    (rules.gpu_memory_within_card, CARD, {"num_layers": 3}, {"num_layers": 4}),
    (rules.within_quota, Limits(quota=Quota(gpus=4)), {"gpus": 4}, {"gpus": 5}),
    (rules.within_quota, Limits(quota=Quota(gpus=8).within({"gpus": 4})), {"gpus": 4}, {"gpus": 5}),
    (rules.within_quota, Limits(quota=Quota(cpus=16)), {"cpus": 16}, {"cpus": 17}),
    (rules.within_quota, Limits(quota=Quota(memory_gib=32)), {"memory_gib": 32}, {"memory_gib": 33}),
    (rules.price_within_quota, PRICED, {"gpus": 2}, {"gpus": 3}),  # 2 x 2 + 8 x .1 + 16 x .0125 = 5
    (rules.price_within_quota, PRICED, {"cpus": 8}, {"cpus": 9}),
]


@pytest.mark.parametrize(("rule", "limits", "fine", "broken"), ROWS)
def test_a_rule_accepts_one_proposal_and_names_itself_about_the_other(rule, limits, fine, broken):
    assert list(rule(NOW, {**NOW, **fine}, limits, Facts())) == []
    violations = list(rule(NOW, {**NOW, **broken}, limits, Facts()))
    assert violations
    assert {v.rule for v in violations} == {rule.__name__}


def test_every_rule_is_tried_by_hand():
    assert {rule for rule, *_ in ROWS} | {rules.known_parameter, *rules.SLA_RULES} == set(rules.RULES)


def test_a_parameter_that_comes_goes_or_has_no_limits_is_named():
    found = rules.known_parameter({"gpus": 1.0, "cpus": 1.0}, {"gpus": 1.0, "momentum": 0.9}, Limits(), Facts())
    assert [v.message for v in found] == [
        "cpus is missing in the proposal",
        "momentum is missing in today's values",
        "momentum is a parameter without limits",
    ]


def test_a_rule_says_in_words_what_was_wanted_and_what_is_allowed():
    (found,) = rules.largest_change(NOW, {**NOW, "batch_size": 100_000.0}, Limits(), Facts())
    assert (found.parameter, found.wanted, found.allowed) == ("batch_size", "100000", "16 to 256")
    assert found.message == "batch_size = 100000 is too far from today's 64: one step is at most a factor of 4, so 16 to 256"


@pytest.mark.parametrize(
    ("card", "measured", "proposed", "need"),
    [
        (Card(80), None, {"batch_size": 128}, None),  # nothing known
        (Card(80), 10, {"batch_size": 128}, 20),  # twice the samples: at most twice the memory
        (Card(80), 10, {"batch_size": 32}, 10),  # half the samples may still need all of it
        (Card(80), 10, {"batch_size": 64, "gpus": 1}, 20),
        (Card(80), 10, {"num_layers": 4}, 20),
        (Card(80, 2, 0.25), None, {"batch_size": 128}, 18),
        (Card(80, 2, 0.25), 9, {"batch_size": 128}, 18),  # less was measured than the estimate says: believe the estimate
        (Card(80, 2, 0.25), 13, {"batch_size": 128}, 21),  # 3 GiB more was measured: they stay
        (Card(80, 2, 0.25), None, {"gpus": 0}, None),
        (Card(80, 0, 0.01), None, {"batch_size": 100}, 0.5),  # nothing was measured: nothing is unexplained
        (Card(80, 2, 0.25), None, {"gradient_accumulation_steps": 4}, 4),  # a fourth of the batch at one time
    ],
)
def test_gpu_memory_is_estimated_from_above(card, measured, proposed, need):
    facts = Facts(gpu_memory_gib_now=measured)
    assert rules.gpu_memory_gib(NOW, {**NOW, **proposed}, Limits(card=card), facts) == (
        need if need is None else pytest.approx(need)
    )


@pytest.mark.parametrize(
    ("now", "proposed", "need"),
    [
        ({"batch_size": 1.0}, {"batch_size": 3.0}, 30),  # without GPUs the whole batch is on one device
        ({"batch_size": 1.0, "gpus": 1.0}, {"batch_size": 2.0, "gpus": 2.0}, 10),
        ({"batch_size": 1.0, "num_layers": 1.0}, {"batch_size": 1.0, "num_layers": 4.0}, 40),
        ({"batch_size": 1.0, "num_layers": 0.0}, {"batch_size": 1.0, "num_layers": 3.0}, 30),
        ({"batch_size": 1.0, "num_layers": 4.0}, {"batch_size": 1.0, "num_layers": 1.0}, 10),
        ({"batch_size": 0.0}, {"batch_size": 1.0}, None),
    ],
)
def test_gpu_memory_grows_with_the_batch_of_each_device_and_with_layers(now, proposed, need):
    assert rules.gpu_memory_gib(now, proposed, Limits(), Facts(gpu_memory_gib_now=10.0)) == need


def test_a_resource_that_is_not_requested_costs_nothing():
    prices = [rules.price_usd_per_hour(values, PRICED) for values in ({}, {"gpus": 2.0}, {"cpus": 8.0}, {"memory_gib": 16.0})]
    assert prices == pytest.approx([0, 4, 0.8, 0.2])


def test_what_a_gpu_would_get_is_said_in_words():
    (found,) = rules.batch_per_gpu(NOW, {**NOW, "batch_size": 600.0, "gpus": 4.0}, Limits(), Facts())
    assert (found.allowed, found.involves) == ("<= 512", ("batch_size", "gpus"))
    assert found.message == (
        "batch_size = 600 on gpus = 4 is 150 samples per GPU, more than 4 times today's 32; at most 512 can be tried there"
    )


@pytest.mark.parametrize("now", [{"batch_size": 0.0}, {"gpus": 8.0}])
def test_a_step_of_the_batch_per_gpu_needs_a_batch_today_and_other_gpus(now):
    assert list(rules.batch_per_gpu({**NOW, **now}, {**NOW, "batch_size": 6000.0, "gpus": 8.0}, Limits(), Facts())) == []
    assert list(rules.batch_per_gpu({**NOW, "batch_size": 1.0}, {**NOW, "batch_size": 6000.0, "gpus": 8.0}, Limits(), Facts()))


@pytest.mark.parametrize(
    ("expected", "limit", "unit", "words"),
    [
        (90.0, 60.0, "s", ("90 s", "60 s")),
        (3700.0, 3599.0, "s", ("3700 s", "3599 s")),
        (5400.0, 3600.0, "s", ("1.5 h", "1 h")),
        (5400.0, 3600.0, "USD", ("5400 USD", "3600 USD")),
        (0.9, 0.8, "", ("0.9", "0.8")),
        (1.00001, 1.0, "GiB", ("1.00001 GiB", "1 GiB")),
        (1234.56, 1000.0, "GiB", ("1235 GiB", "1000 GiB")),  # four digits, and no more where these suffice
        (1.000000000123, 1.0, "GiB", ("1 GiB", "1 GiB")),
    ],
)
def test_two_different_numbers_have_the_digits_and_the_unit_that_tell_them_apart(expected, limit, unit, words):
    assert rules._distinct(expected, limit, unit) == words


@pytest.mark.parametrize(
    ("next_", "wanted"),
    [
        ({"val_loss": -3.0}, None),
        ({"val_loss": math.nan}, "a finite number;"),
        ({"cost_usd": 0.0}, None),
        ({"cost_usd": -1.0}, "a finite number of at least 0;"),
    ],
)
def test_a_forecast_is_a_finite_number_and_only_a_loss_may_be_below_zero(next_, wanted):
    if wanted is None:
        assert Facts(next=next_, now=next_).next == next_
    else:
        with pytest.raises(ValueError, match=rf"_next = .* is not {wanted}"):
            Facts(next=next_)


@pytest.mark.parametrize(
    ("expected", "now", "missed"),
    [(0.5, None, False), (0.6, None, True), (0.6, 0.7, False), (0.6, 0.55, True), (0.6, 0.5, True), (None, 0.9, False)],
)
def test_a_loss_above_its_limit_is_no_violation_where_todays_is_as_bad(expected, now, missed):
    limits = Limits(sla={"val_loss_max": 0.5})
    facts = Facts(
        next={} if expected is None else {"val_loss": expected},
        now={} if now is None else {"val_loss": now},
    )
    assert [v.rule for rule in rules.SLA_RULES for v in rule(NOW, NOW, limits, facts)] == ["val_loss_within_sla"] * missed
