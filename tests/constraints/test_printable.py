"""The guard knows nothing of jpo, and makes texts harmless in the same way."""

from __future__ import annotations

import json

import pytest

from constraints.printable import printable, printable_json
from jpo.report.forms.json import line
from jpo.wording import printable as jpo

ATTACKS = (
    *("a\x1b[31m\nb", "\u202eabc\u200b\u3164\udc80", "##[error]x ##vso[a]b ###[c]", "section_start:1:a section_end:1:a"),
    *("travis_fold:start", "a" + "\u0301" * 50, "n" * 100_000, "of words " * 20_000, "naïve 数字 🦀 ❤️", "# #a ## a::b"),
)


def test_what_does_not_print_becomes_a_blank() -> None:
    assert printable("a\x1b[31m\nb") == "a [31m b"


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: ascii(text)[:20])
def test_both_packages_make_the_same_of_a_text(text: str) -> None:
    assert printable(text) == jpo.printable(text)
    document = printable_json(json.dumps({"a": text}, sort_keys=True))
    assert document + "\n" == line({"a": text})
    assert json.loads(document) == {"a": text}
    assert not jpo.COMMANDS.search(document)
