from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.project.tables.parameters import ParameterTable, is_own
from jpo.records import Word


def table(**line: object) -> ParameterTable:
    return ParameterTable.model_validate(line)


def test_a_parameter_is_ones_own_where_jpo_gives_it_no_meaning() -> None:
    assert [name for name in ("dropout", "batch_size", "nodes", "optimizer") if is_own(name)] == ["dropout", "optimizer"]


def test_choices_are_numbers_where_all_of_them_are_and_else_words() -> None:
    assert table(choices=[1, "2", 0.5]).values == (1.0, 2.0, 0.5)
    words = table(choices=["1e-3", "adam"])
    assert (words.worded, [str(word) for word in words.values or ()]) == (True, ["1e-3", "adam"])
    assert table().values is None


@pytest.mark.parametrize("choices", [[], "adam", [True, False], ["adam", 3], [[1]], 3])
def test_other_choices_are_refused_in_words(choices: object) -> None:
    with pytest.raises(ValidationError, match=r"write e\.g\.|in quotes"):
        table(choices=choices)


@pytest.mark.parametrize(
    ("line", "text", "whole"),
    [
        ({"min": 0, "max": 10}, "3", True),
        ({"min": 0, "max": 0.5}, "0", False),
        ({"min": 0, "max": 10}, "3.0", False),
        ({"min": 0, "max": 10, "integer": False}, "3", False),
        ({"min": 0, "max": 10, "multiple_of": 0.5}, "3", False),
        ({"min": 0, "max": 10}, '"3"', True),
        ({"choices": [1, 2.5]}, "1", False),
    ],
)
def test_a_whole_number_stays_one_where_nothing_says_otherwise(line: dict[str, object], text: str, whole: bool) -> None:
    assert table(**line).is_whole(text) is whole


def test_what_is_tried_are_the_choices_or_round_steps() -> None:
    assert table(min=0.0, max=0.2).ladder("0.1")[:3] == (0.0, 0.02, 0.04)
    assert table(min=0, max=4).ladder("2") == (0, 1, 2, 3, 4)
    assert table(min=2, max=40, step="pow2").ladder("8") == (2, 4, 8, 16, 32)
    assert table(choices=["adam", "sgd"]).ladder("sgd") == (Word("adam"), Word("sgd"))
    assert table(freeze=True).ladder("3") == ()
