from __future__ import annotations

from datetime import date

from jpo.cost import Instance, Prices
from jpo.cost.price_list import Catalogue, Hourly, price_list
from jpo.records import USD

DAY = date(2026, 11, 21)
A10G = Instance("g5.xlarge", "g5", "a10g", 1, 22.4, 4.0, 16.0, "us-east-1", 1.0, 0.4, DAY, "a server")
T4 = Instance("g4dn.xlarge", "g4dn", "t4", 1, 16.0, 4.0, 16.0, "us-east-1", 0.5, None, date(2026, 11, 1), "a server")
NONE = Catalogue(None, False, ())


def test_sources_have_their_first_and_last_day() -> None:
    assert Catalogue("aws", True, (A10G, T4)).sources == ["a server: 2026-11-01 to 2026-11-21"]
    assert Catalogue("aws", True, (A10G,)).sources == ["a server: 2026-11-21"]


def test_without_prices_the_remedy_is_named() -> None:
    nothing = price_list([], Prices(), NONE, None, USD, today=DAY)
    (note,) = nothing.notes
    code, sentence = note.code, note.text
    assert code == "JPO-W803"
    assert 'write [prices] usd_per_gpu_hour, usd_per_cpu_hour, usd_per_gib_hour, or catalogue = "aws"' in sentence
    assert (nothing.on_demand, nothing.spot, nothing.in_force) == (Hourly(None), Hourly(None), "on demand")


def test_prices_that_are_more_than_a_year_old_are_called_old() -> None:
    catalogue = Catalogue("aws", True, (A10G,))
    old = price_list([], Prices(instances=(A10G,)), catalogue, None, USD, today=date(2027, 11, 22))
    assert [note.code for note in old.notes] == ["JPO-W801"]
    assert price_list([], Prices(instances=(A10G,)), catalogue, None, USD, today=DAY).notes == ()
