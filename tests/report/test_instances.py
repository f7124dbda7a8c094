from __future__ import annotations

from dataclasses import replace

from jpo.cost.rented import Rented
from jpo.records import Currency
from jpo.report import instances as subject


def test_an_instance_is_said_with_its_prices_and_their_age() -> None:
    one = Rented("g5.xlarge", "us-east-1", 1.006, 0.45, False, "2026-11-20", 1)
    words = "g5.xlarge in us-east-1 (0.503 EUR/h, 0.225 EUR/h spot; prices of 2026-11-20, 1 day old)"
    assert subject.in_words(one, Currency("EUR", 0.5)) == words
    assert "spot price unknown" in subject.in_words(replace(one, usd_per_hour_spot=None), Currency())


def test_an_instance_now_and_another_next_are_told_apart() -> None:
    one = Rented("g5.xlarge", "us-east-1", 1.006, None, False, "2026-11-20", 1)
    other = replace(one, type="g5.12xlarge")
    assert subject.now_and_next(one, one, Currency()).endswith("now and next.")
    assert subject.now_and_next(one, other, Currency()).startswith("Now on g5.xlarge")
    assert "next on no known instance" in subject.now_and_next(one, None, Currency())
    assert subject.now_and_next(None, None, Currency()) == ""
