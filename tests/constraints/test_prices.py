from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from constraints import Facts, approves, limits_from
from constraints.second_look import main

NOW, MORE = {"gpus": 1.0, "cpus": 4.0}, {"gpus": 2.0, "cpus": 4.0}


def allowed(prices: dict[str, Any], facts: Facts = Facts(), most: float = 3.0) -> bool:  # noqa: B008 - frozen
    return approves(NOW, MORE, limits_from({"prices": prices, "quota": {"usd_per_hour": most}}), facts)


def test_the_chosen_gpu_type_counts() -> None:
    types = {"a10g": 1.0, "A100": "4.0"}
    assert allowed({"usd_per_gpu_hour_of": types, "gpu_type": "A10G"})
    assert not allowed({"usd_per_gpu_hour_of": types, "gpu_type": "a100"})


def test_spot_prices_count_where_they_are_in_force() -> None:
    prices = {"usd_per_gpu_hour": 2.0, "spot_share": 0.5}
    assert not allowed(prices)
    assert allowed({**prices, "spot": True})
    assert allowed({**prices, "spot": "true"})


def test_by_a_catalogue_the_guard_believes_the_price_it_is_given() -> None:
    assert allowed({"catalogue": "aws"}, Facts(usd_per_hour_next=2.9))
    assert not allowed({"catalogue": "aws"}, Facts(usd_per_hour_next=3.1))
    assert allowed({"catalogue": "aws"})  # nothing is known, and nothing said


def test_without_a_catalogue_it_does_not() -> None:
    assert allowed({"usd_per_gpu_hour": 1.0}, Facts(usd_per_hour_next=100.0))


def test_what_it_does_not_need_may_stand_there() -> None:
    more = {"usd_per_kwh": 0.3, "region": "us-east-1", "currency": "EUR", "per_usd": 0.9, "gpu_type": "a10g"}
    assert allowed({"usd_per_gpu_hour": 1.0, **more})


@pytest.mark.parametrize(
    ("prices", "finding"),
    [
        ({"usd_per_gpu_hour_of": {"t4": 1.0}, "gpu_type": "v9"}, "has no price in usd_per_gpu_hour_of; known are t4"),
        ({"usd_per_gpu_hour_of": {"t4": -1.0}, "gpu_type": "t4"}, "is too small"),
        ({"usd_per_gpu_hour_of": {"t4": float("nan")}, "gpu_type": "t4"}, "is not a number"),
        ({"usd_per_gpu_hour_of": "t4"}, "is not a table"),
        ({"usd_per_gpu_hour": 1.0, "spot": "perhaps"}, "is neither true nor false"),
        ({"usd_per_gpu_hour": 1.0, "spot_share": 1.5}, "is above 1"),
        ({"usd_per_gpu_hour": 1.0, "spot_share": 0}, "is too small"),
        ({"usd_per_kwh": -0.1}, "is too small"),
        ({"usd_per_gpu": 1.0}, "unknown key"),
        ({"usd_per_kwh": 0.1}, "no price is known"),
    ],
)
def test_what_cannot_be_understood_is_an_error(prices: dict[str, Any], finding: str) -> None:
    with pytest.raises(ValueError, match=finding):
        allowed(prices)


def test_the_second_look_says_that_it_cannot_judge_by_a_catalogue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.ini").write_text("[training]\nbatch_size = 16\n")
    (tmp_path / "jpo.toml").write_text('[prices]\ncatalogue = "aws"\n[quota]\nusd_per_hour = 1\n')
    config = str(tmp_path / "config.ini")
    assert main([config, config, "--limits", str(tmp_path / "jpo.toml")], date(2026, 11, 21)) == 0
    assert "notice: [quota] usd_per_hour was not checked here" in capsys.readouterr().out
