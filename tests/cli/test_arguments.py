from __future__ import annotations

import pytest

from jpo.cli.arguments import pairs, seconds_until
from jpo.errors import UsageError

NOW = 1_795_305_600.0
"""2026-11-22T00:00Z."""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6h", 21_600),
        ("90", 90),
        ("2026-11-22T06:00Z", 21_600),
        ("2026-11-22 06:00+02:00", 14_400),
        ("9999-12-31T23:59:59Z", 251_606_995_199),
    ],
)
def test_a_deadline_is_a_duration_or_a_moment(text: str, seconds: float) -> None:
    assert seconds_until("--deadline", text, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("2026-11-22T00:00Z", "leaves no time"),
        ("2020-01-01T00:00Z", "leaves no time"),
        ("0h", "leaves no time"),
        ("9" * 400, "leaves no time"),
        ("2026-11-23T06:00", "has no time zone"),
        ("tomorrow", "neither a duration nor a moment"),
        ("-6h", "neither a duration nor a moment"),
        ("", "neither a duration nor a moment"),
        ("nan", "neither a duration nor a moment"),
    ],
)
def test_what_leaves_no_time_or_is_no_deadline_is_refused(text: str, finding: str) -> None:
    with pytest.raises(UsageError, match=finding) as caught:
        seconds_until("--deadline", text, NOW)
    assert (caught.value.code, caught.value.place) == ("JPO-E305", "--deadline")


def test_a_name_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="cpus is given twice"):
        pairs("--vary", ["cpus=1", " cpus =2"])
