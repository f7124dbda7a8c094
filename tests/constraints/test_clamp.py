"""The nearest values that obey every rule."""

from constraints import Limits, check
from constraints.limit import Limit
from constraints.limits import DEFAULTS, Card, Prices, Quota

NOW = {"batch_size": 64.0, "learning_rate": 0.01, "gpus": 2.0}


def test_a_batch_size_far_too_large_is_answered_by_the_largest_one_allowed():
    verdict = check(NOW, {**NOW, "batch_size": 100_000}, Limits())
    assert not verdict.approved
    assert [v.rule for v in verdict.violations] == ["largest_change"]
    assert verdict.parameters == {**NOW, "batch_size": 256}


def test_the_card_caps_the_batch_size():
    verdict = check(NOW, {**NOW, "batch_size": 256.0}, Limits(card=Card(20, fixed_gib=2, gib_per_sample=0.25)))
    assert verdict.parameters == {**NOW, "batch_size": 128}


def test_the_batch_size_follows_to_what_the_gpus_divide():
    verdict = check(NOW, {**NOW, "gpus": 3.0}, Limits())
    assert verdict.parameters == {**NOW, "batch_size": 63, "gpus": 3}


def test_gpus_are_clamped_before_the_batch_size_is():
    limits = Limits(quota=Quota(gpus=6))
    assert check(NOW, {**NOW, "gpus": 100.0}, limits).parameters == {**NOW, "batch_size": 66, "gpus": 6}


def test_of_two_choices_equally_near_the_one_nearer_to_today_is_taken():
    limits = Limits(parameters={**DEFAULTS, "gpus": Limit(choices=(1, 2, 4, 8))})
    assert check(NOW, {**NOW, "gpus": 3.0}, limits).parameters == NOW


def test_a_price_above_the_quota_has_no_nearest_values():
    limits = Limits(quota=Quota(usd_per_hour=5), prices=Prices(usd_per_gpu_hour=2))
    verdict = check(NOW, {**NOW, "gpus": 4.0}, limits)
    assert [v.rule for v in verdict.violations] == ["price_within_quota"]
    assert verdict.parameters is None
