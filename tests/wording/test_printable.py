from __future__ import annotations

import pytest

from jpo.wording.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"), [("a\x1b[31m", "a [31m"), ("a\nb\tc\0", "a b c "), ("\u202eabc", " abc"), ("naïve 🦀", "naïve 🦀")]
)
def test_a_name_stays_in_its_line_and_steers_nothing(text: str, shown: str) -> None:
    assert printable(text) == shown
