import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.errors import StoreError
from jpo.history.canonical import canonical
from jpo.records import Preference

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_the_text_is_sorted_without_blanks_and_ascii() -> None:
    assert canonical({"b": (1, 2.0), "a": None, "ü": "–"}) == r'{"a":null,"b":[1,2.0],"\u00fc":"\u2013"}'


def test_records_and_any_mapping_are_written_as_objects() -> None:
    assert canonical(Preference(0.25, 0.75)) == '{"cost":0.75,"efficiency":0.0,"energy":0.0,"loss":0.0,"time":0.25}'
    assert canonical(MappingProxyType({"a": 1})) == '{"a":1}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", {"a": 1, 2: "b"}])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(StoreError, match="cannot be recorded") as caught:
        canonical({"value": value})
    assert caught.value.code == "JPO-E508"


@given(values)
def test_the_text_reads_back_equal_and_is_its_own_canonical_form(value: object) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text
