from __future__ import annotations

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.dates import is_day_first, moment, unfolded

BEGIN = 1_565_962_220


@pytest.mark.parametrize(
    ("text", "is_local"),
    [
        ("2019-08-16T13:30:20Z", False),
        ("2019-08-16T15:30:20.000000000+02:00", False),
        ("2019-08-16 13:30:20 +0000 UTC", False),
        ("2019-08-16 13:30:20", True),
        ("2019/08/16 13:30:20", True),
        ("16.08.2019 13:30:20", True),
        ("16.8.2019, 13:30:20", True),
        ("16/08/2019, 13:30:20", True),
    ],
)
def test_dates_are_read_as_exporters_write_them(text: str, is_local: bool) -> None:
    assert moment("t.csv:2", text, day_first=True) == (BEGIN, True, is_local)


@pytest.mark.parametrize("space", [" ", "\u202f"])
def test_so_are_those_of_america(space: str) -> None:
    assert moment("t.csv:2", f"8/16/2019, 1:30:20{space}PM", day_first=False) == (BEGIN, True, True)
    assert moment("t.csv:2", "8/16/2019, 12:30:20 AM", day_first=False).value == BEGIN - 13 * 3600


@pytest.mark.parametrize(
    ("texts", "known"),
    [
        (["3/4/2024 1:00:00", "13/4/2024 1:00:00"], True),
        (["3/4/2024 1:00:00", "3/14/2024 1:00:00"], False),
        (["3/4/2024, 1:00:00 PM"], False),
        (["3/4/2024 1:00:00", "2024/4/13 1:00:00", "soon"], None),
    ],
)
def test_days_and_months_are_told_apart_by_what_can_be_only_one(texts: list[str], known: bool | None) -> None:
    assert is_day_first(texts) is known


@pytest.mark.parametrize(
    "text", ["yesterday", "", "2019-08-16", "31/31/2024 1:00:00", "32.1.2024 1:00:00", "nan", "3/4/2024 1:00:00"]
)
def test_what_is_no_date_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(UsageError, match=r"t.csv:2.*time = ") as error:
        moment("t.csv:2", text)
    assert error.value.code == "JPO-E730"


@pytest.mark.parametrize("text", [" " * 2_000_000 + "x", "2019-08-16 13:30:20" + " " * 2_000_000 + "+0100", "1" * 2_000_000])
def test_long_cells_are_refused_before_any_pattern_looks_at_them(text: str) -> None:
    """A pattern that begins anew at each space would take hours."""
    with pytest.raises(UsageError):
        moment("t.csv:2", text)
    assert is_day_first([text]) is None


def test_the_hour_that_comes_twice_in_autumn_goes_on() -> None:
    real = np.arange(0.0, 7200, 15)
    local = np.where(real < 3600, real, real - 3600)
    times, at = unfolded(local, is_local=True)
    assert times.tolist() == real.tolist()
    assert at == 240
    assert unfolded(local, is_local=False)[1] is None


@pytest.mark.parametrize("times", [[0, 15, 30, 20], [0, 15, 30, -3000], [0, 15, 30, -5000], [0, 3600, 3615, 30, 3700, 130]])
def test_other_ways_back_stay(times: list[float]) -> None:
    assert unfolded(np.array(times, dtype=float), is_local=True)[1] is None
