"""Values as TOML: what is written reads back the same, and nothing in it steers who prints it."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.records import Word
from jpo.report.forms import toml
from jpo.wording.printable import printable

VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(name=st.text(), value=VALUES)
def test_any_value_reads_back_the_same(name: str, value: object) -> None:
    line = f"{toml.key(name)} = {toml.value(value)}"
    assert "\n" not in line
    assert tomllib.loads(line) == {name: value}


@pytest.mark.parametrize("attack", ["\x1b[31m", "##[error]", "section_start:1:x", "a\u202eb", "\U000e0041", '"\n[sla]\nx = 1'])
def test_nothing_steers_whoever_prints_it(attack: str) -> None:
    line = toml.value(attack)
    assert printable(line) == line
    assert tomllib.loads(f"v = {line}") == {"v": attack}


def test_words_are_texts_and_what_toml_has_not_is_an_error() -> None:
    assert toml.value(Word("adam")) == '"adam"'
    assert toml.value("/etc/ssl/our-ca.pem – naïve") == '"/etc/ssl/our-ca.pem – naïve"', "what people see stays as it is"
    with pytest.raises(TypeError, match="NoneType"):
        toml.value(None)
