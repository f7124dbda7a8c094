from __future__ import annotations

import pytest

from constraints.numbers import number_of


def test_numbers_may_be_texts_and_nothing_stays_nothing() -> None:
    assert (number_of(None, "x"), number_of("0.5", "x"), number_of(3, "x")) == (None, 0.5, 3.0)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "is not a number"),
        ("abc", "is not a number"),
        (float("inf"), "is not a number"),
        (0, "is too small; write a number above 0"),
        (3, "is too large; write a number of at most 2"),
    ],
)
def test_what_is_no_number_is_told_with_its_place(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=f"^here: .*{told}"):
        number_of(value, "here", above=0, high=2)
