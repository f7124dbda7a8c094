from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.project.tables.prices import PricesTable


@pytest.mark.parametrize(
    ("table", "finding"),
    [
        ({"catalogue": "aws", "usd_per_cpu_hour": 0.04}, "catalogue and usd_per_cpu_hour both say"),
        ({"usd_per_gpu_hour": 2.0, "usd_per_gpu_hour_of": {"t4": 0.5}, "gpu_type": "t4"}, "both say what a GPU costs"),
        ({"usd_per_gpu_hour_of": {"t4": 0.5}}, "needs gpu_type; write one of t4"),
        ({"usd_per_gpu_hour_of": {"t4": 0.5, " T4": 0.6}, "gpu_type": "t4"}, "names a type twice"),
    ],
)
def test_what_says_a_price_twice_or_not_at_all_is_refused(table: dict[str, object], finding: str) -> None:
    with pytest.raises(ValidationError, match=finding):
        PricesTable.model_validate(table)


def test_nothing_is_priced_by_default() -> None:
    table = PricesTable()
    assert (table.usd_per_gpu_hour, table.catalogue, table.currency, table.per_usd) == (None, None, "USD", None)
