from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.project.prices import prices_of
from jpo.project.shown_prices import catalogue_shown, named_prices


def test_each_price_has_its_origin_and_one_gpu_type_is_in_force(repository, tmp_path):
    _, settings = repository(
        '[prices]\nusd_per_cpu_hour = 0.04\ngpu_type = "T4"\nusd_per_gpu_hour_of = { t4 = 0.5, a100 = 3.0 }\n'
    )
    prices = {(price.name, price.gpu_type): (price.usd, price.in_force) for price in named_prices(settings)}
    assert prices["usd_per_gpu_hour_of", "t4"] == (0.5, True)
    assert prices["usd_per_gpu_hour_of", "a100"] == (3.0, False)
    assert {price.origin for price in named_prices(settings)} == {str(tmp_path / "jpo.toml")}


def test_who_asks_for_a_gpu_type_sees_instances_without_a_catalogue_of_ones_own(repository):
    _, settings = repository("")
    assert catalogue_shown(settings, prices_of(settings), None).instances == ()
    shown = catalogue_shown(settings, prices_of(settings), "a10g").instances
    assert {instance.gpu_type for instance in shown} == {"a10g"}
    with pytest.raises(UsageError, match="--gpu-type"):
        catalogue_shown(settings, prices_of(settings), "v9")
