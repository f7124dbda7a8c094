from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.project.prices import catalogue_of, currency_of, prices_of


def test_one_gpu_type_of_several_is_priced(repository):
    _, settings = repository('[prices]\ngpu_type = "t4"\nusd_per_gpu_hour_of = { t4 = 0.5, a100 = 3.0 }\n')
    assert prices_of(settings).usd_per_gpu_hour == 0.5


def test_a_catalogue_is_limited_to_region_and_gpu_type(repository):
    _, settings = repository('[prices]\ncatalogue = "aws"\ngpu_type = "a10g"\n')
    chosen = prices_of(settings).instances
    assert chosen
    assert {one.gpu_type for one in chosen} == {"a10g"}
    assert len(catalogue_of(settings)) > len(chosen)


def test_an_unknown_gpu_type_is_refused_with_its_place(repository, tmp_path):
    _, settings = repository('[prices]\ncatalogue = "aws"\ngpu_type = "v9"\n')
    with pytest.raises(UsageError, match="v9") as refused:
        prices_of(settings)
    assert refused.value.place == f"{tmp_path / 'jpo.toml'} [prices]"


def test_amounts_are_in_usd_unless_a_currency_is_named(repository):
    assert (currency_of(repository()[1]).code, currency_of(repository()[1]).per_usd) == ("USD", 1.0)
    assert currency_of(repository('[prices]\ncurrency = "EUR"\nper_usd = 0.9\n')[1]).per_usd == 0.9
