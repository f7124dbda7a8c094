from __future__ import annotations

import json as standard
import math
from collections.abc import Callable, Mapping

import pytest

from jpo.report.forms import json
from jpo.wording.printable import released

DOCUMENT = {"schema_version": 1, "workload": "naïve \x1b[31m\u202e<script>\n", "runs": [{"cost_usd": None, "ok": True, "n": 0.1}]}


def test_a_document_is_indented_and_ends_with_a_line_feed() -> None:
    assert json.dumps({"b": "ï", "a": [1, None]}) == '{\n  "b": "ï",\n  "a": [\n    1,\n    null\n  ]\n}\n'


def test_what_is_written_is_read_back() -> None:
    assert standard.loads(json.dumps(DOCUMENT)) == DOCUMENT
    assert standard.loads(json.line(DOCUMENT)) == DOCUMENT


def test_control_characters_are_escaped() -> None:
    assert "\x1b" not in json.dumps(DOCUMENT)
    assert r"\u001b[31m" in json.dumps(DOCUMENT)


STEERING = "\x7f\x9b31m \u202eb\u200bc\u2028\u3164 \U000e0041 \ud800 ##[error]a ##vso[b]c section_start:1:d \\##[e]"


@pytest.mark.parametrize("written", [json.dumps, json.line])
def test_what_steers_is_escaped_and_reads_back_the_same(written: Callable[[Mapping[str, object]], str]) -> None:
    text = written({"a": STEERING, STEERING: "naïve 数字 🦀"})
    assert standard.loads(text) == {"a": STEERING, STEERING: "naïve 数字 🦀"}
    assert all(character.isprintable() or character == "\n" for character in text)
    assert released(text) == text, "nothing is left to the gate, which would change the data"
    assert "##[" not in text


def test_letters_of_all_languages_stay_in_a_document() -> None:
    assert "naïve 数字 🦀" in json.dumps({"a": "naïve 数字 🦀 \u200b"})


def test_a_line_is_one_line_in_ascii_with_sorted_keys() -> None:
    assert json.line({"b": "ï", "a": 1}) == '{"a": 1, "b": "\\u00ef"}\n'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_say_is_refused_with_its_place(number: float) -> None:
    with pytest.raises(ValueError, match=r"runs\[1\]\.cost_usd is -?(nan|inf), which JSON cannot say"):
        json.dumps({"runs": [{}, {"cost_usd": number}]})
    with pytest.raises(ValueError, match=r"^cost is "):
        json.line({"cost": number})


def test_in_an_encoding_that_has_not_all_letters_the_data_stay() -> None:
    text = json.dumps({"name": "naïve → 数字 🦀"})
    assert json.in_encoding(text, "utf-8") == text
    for encoding in ("ascii", "latin-1"):
        written = json.in_encoding(text, encoding)
        assert standard.loads(written.encode(encoding).decode(encoding)) == {"name": "naïve → 数字 🦀"}
