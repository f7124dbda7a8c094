from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.advisor.space import NumberedSpace, Range, numbered_space
from jpo.errors import UsageError


def test_parameters_of_jpo_come_first_and_values_ascend() -> None:
    choices = numbered_space({"momentum": [0.9, 0.5], "gpus": (4, 1), "batch_size": range(8, 25, 8)})
    assert choices.names == ("batch_size", "gpus", "momentum")
    assert choices.ladders == {"batch_size": (8, 16, 24), "gpus": (1, 4), "momentum": (0.5, 0.9)}


def test_words_are_numbered_in_the_order_given_and_come_back_as_they_were() -> None:
    choices = numbered_space({"gpu": ["v100", "a100", None, "v100"], "amp": [True, False], "batch_size": np.array([32, 64])})
    numbers = choices.numbers({"gpu": None, "amp": False, "batch_size": 64})
    assert numbers == {"batch_size": 64, "gpu": 2, "amp": 0}
    assert choices.meaning(numbers) == {"batch_size": 64, "gpu": None, "amp": False}
    assert choices.ladders["gpu"] == (0, 1, 2)


def test_a_number_among_words_is_a_word() -> None:
    choices = numbered_space({"precision": [16, "bf16"]})
    assert choices.numbers({"precision": 16}) == {"precision": 0}
    assert choices.meaning({"precision": 0.0}) == {"precision": 16}
    with pytest.raises(UsageError, match="has no 1"):
        choices.numbers({"precision": 1})


def test_a_number_outside_is_a_place_and_one_nearly_a_choice_is_that_choice() -> None:
    choices = numbered_space({"learning_rate": [0.1, 0.3]})
    assert choices.numbers({"learning_rate": 0.2}) == {"learning_rate": 0.2}
    assert choices.numbers({"learning_rate": 3 * 0.1}) == {"learning_rate": 0.3}
    assert choices.numbers({"learning_rate": Fraction(3, 10)}) == {"learning_rate": 0.3}
    assert choices.meaning({"learning_rate": 0.2}) == {"learning_rate": 0.2}


def test_a_word_outside_gets_a_number_when_it_is_met() -> None:
    choices = numbered_space({"gpu": ["v100", "a100"], "batch_size": [32]})
    with pytest.raises(UsageError, match="has no 'k80'"):
        choices.numbers({"gpu": "k80"})
    larger = choices.knowing({"gpu": "k80", "batch_size": 48})
    assert larger.numbers({"gpu": "k80"}) == {"gpu": 2}
    assert larger.meaning({"gpu": 2}) == {"gpu": "k80"}
    assert larger.ladders == choices.ladders
    assert larger.knowing({"gpu": "k80"}) is larger


def test_configurations_may_be_listed() -> None:
    choices = numbered_space(
        [{"gpu": "v100", "batch_size": 64}, {"batch_size": 32, "gpu": "a100"}, {"gpu": "v100", "batch_size": 64.0}]
    )
    assert choices.listed == ({"batch_size": 64, "gpu": 0}, {"batch_size": 32, "gpu": 1})
    assert not choices.ladders
    assert choices.meaning({"batch_size": 32.0, "gpu": 1.0}) == {"batch_size": 32, "gpu": "a100"}


def test_a_range_of_whole_numbers_gives_whole_numbers() -> None:
    value = numbered_space({"batch_size": Range(8, 16, integer=True, multiple_of=8)}).meaning({"batch_size": 16.0})["batch_size"]
    assert (value, type(value)) == (16, int)


@pytest.mark.parametrize(
    "space",
    [
        *({}, [], [{}], None, 5, "abc", {"a", "b"}, [1, 2], {1: [1, 2]}, {"": [1]}),
        *({"a": []}, {"a": "abc"}, {"a": 5}, {"a": None}, {"a": {1, 2}}, {"a": {"x": 1}}, {"a": iter([1])}, {"a": [[1], [2]]}),
        *({"a": [math.nan, 1]}, {"a": [math.inf]}, {"a": [10**400, 1]}, {"a": [math.nan, "x"]}),
        *([{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1, "b": 2}], [{"a": [1]}]),
    ],
)
def test_a_space_that_cannot_be_used_is_refused_in_one_line(space: object) -> None:
    with pytest.raises(UsageError) as caught:
        numbered_space(space)
    assert caught.value.code == "JPO-E720"
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "configuration", [None, 5, {"b": 1}, {"a": "32"}, {"a": math.nan}, {"a": None}, {"a": 10**400}, {"a": [1]}]
)
def test_a_configuration_that_cannot_be_used_is_refused(configuration: object) -> None:
    with pytest.raises(UsageError) as caught:
        numbered_space({"a": [32, 64]}).numbers(configuration)  # type: ignore[arg-type]
    assert caught.value.code == "JPO-E720"


@given(st.lists(st.one_of(st.integers(-1000, 1000), st.text(max_size=3), st.booleans(), st.none()), min_size=1, max_size=6))
def test_every_choice_comes_back_as_it_was_given(values: list[object]) -> None:
    choices: NumberedSpace = numbered_space({"a": values})
    for value in values:
        assert choices.meaning(choices.numbers({"a": value}))["a"] == value
