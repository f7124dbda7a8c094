from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.project.prices import catalogue_of, currency_of, prices_of, usd_of_text
from jpo.records import USD, Currency

EUR = Currency("EUR", 0.8)


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


@pytest.mark.parametrize(
    ("text", "currency", "usd"),
    [
        ("20", USD, 20.0),
        (" 2.5 USD ", USD, 2.5),
        ("$20", EUR, 20.0),
        ("20EUR", EUR, 25.0),
        ("8 eur", EUR, 10.0),
        (".5", USD, 0.5),
    ],
)
def test_an_amount_of_an_option_is_read_as_one_of_sla(text, currency, usd):
    assert usd_of_text(text, currency, option="--max-cost") == pytest.approx(usd)


@pytest.mark.parametrize("text", ["", "EUR", "0", "-3", "nan", "inf", "20 dollars", "9" * 400, "²", "1,5", "20CHF"])
def test_what_is_no_amount_is_refused_with_what_to_write(text):
    with pytest.raises(UsageError, match=r"^--max-cost: .*; write ") as refused:
        usd_of_text(text, EUR, option="--max-cost")
    assert refused.value.code == "JPO-E803"
