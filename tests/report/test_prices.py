from __future__ import annotations

from datetime import date

from jpo.cli.output import rendered
from jpo.cost import Instance
from jpo.cost.price_list import Catalogue, Hourly, Priced, PriceList
from jpo.records import Currency, Note
from jpo.report import prices as subject

A10G = Instance("g5.xlarge", "g5", "a10g", 1, 22.4, 4.0, 16.0, "us-east-1", 1.006, None, date(2026, 11, 21), "a server")
C7 = Instance("c7.large", "c7", "", 0, 0.0, 2.0, 4.0, "us-east-1", 0.085, 0.03, date(2026, 11, 20), "a server")
LIST = PriceList(
    prices=(Priced("usd_per_kwh", 0.3, "jpo.toml"), Priced("usd_per_gpu_hour_of", 0.5, "jpo.toml", "t4", in_force=False)),
    workload="digits/cnn/torch",
    today={"gpus": 1.0, "cpus": 4.0},
    on_demand=Hourly(1.006, "g5.xlarge"),
    spot=Hourly(None),
    in_force="on demand",
    catalogue=Catalogue("aws", True, (A10G, C7)),
    notes=(Note("JPO-W802", "An hour is priced here without energy"),),
    currency=Currency("EUR", 0.5),
)
TEXT = """\
Prices

price of a              set in
kWh           0.15 EUR  jpo.toml
GPU hour, t4  0.25 EUR  jpo.toml, not in force

An hour of digits/cnn/torch
  with gpus = 1, cpus = 4

  on demand  0.503 EUR/h  g5.xlarge  in force
  spot           unknown

Note: An hour is priced here without energy [JPO-W802]

Catalogue aws
  a server: 2026-11-20 to 2026-11-21

  instance   GPUs  each           vCPU  memory         price         spot  region     as of
  g5.xlarge     1  a10g 22.4 GiB     4  16 GiB   0.503 EUR/h      unknown  us-east-1  2026-11-21
  c7.large      0                    2   4 GiB  0.0425 EUR/h  0.015 EUR/h  us-east-1  2026-11-20
"""


def test_the_text_shows_prices_todays_hour_and_instances() -> None:
    assert rendered(subject, LIST, "text") == TEXT


def test_a_narrow_terminal_does_without_region_and_date() -> None:
    text = rendered(subject, LIST, "text", columns=80)
    assert "  g5.xlarge    1 a10g 22.4 GiB    4 16 GiB  0.503 EUR/h     unknown us-east-1\n" in text
    assert "  hidden at 80 columns: as of\n" in text
    assert max(map(len, text.splitlines())) <= 80


def test_markdown_and_html_show_the_same() -> None:
    assert "| GPU hour, t4 | 0.25 EUR | jpo.toml, not in force |" in rendered(subject, LIST, "markdown").replace("`", "")
    assert "0.503 EUR/h" in rendered(subject, LIST, "html")


def test_the_json_is_in_usd_and_says_what_is_unknown() -> None:
    document = subject.as_json(LIST)
    assert document["currency"] == {"code": "EUR", "per_usd": 0.5}
    assert document["today"] == {
        "workload": "digits/cnn/torch",
        "parameters": {"gpus": 1.0, "cpus": 4.0},
        "in_force": "on demand",
        "on_demand": {"usd_per_hour": 1.006, "instance": "g5.xlarge"},
        "spot": {"usd_per_hour": None, "instance": None},
    }
    assert document["sources"] == ["a server: 2026-11-20 to 2026-11-21"]
