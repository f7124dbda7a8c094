from __future__ import annotations

import re

import pytest

from constraints import Limits, check, limits_from
from constraints.limit import Limit
from constraints.own import RESERVED, own_limit, read_value
from constraints.words import Word
from jpo.config.edit import WRITABLE
from jpo.records import MEASURED


def limit(**line: object) -> Limit:
    return own_limit("dropout", {"dropout": line})


def test_a_line_with_numbers_says_what_is_allowed() -> None:
    made = limit(key="model.dropout", min=0.0, max=0.5, max_change=3)
    assert (made.low, made.high, made.max_change, made.key, made.worded) == (0.0, 0.5, 3.0, "model.dropout", False)
    assert limit(choices=[0.3, "0.1"]).choices == (0.1, 0.3)
    assert limit(min=-5, max=5).low == -5
    assert limit(min=0, max=2000, integer=True, multiple_of=50).whole
    assert limit(min="0.1", max="0.4", integer="false").high == 0.4  # as an environment gives them
    assert limit(freeze=True).held == "frozen in jpo.toml"


def test_a_line_with_words_names_them() -> None:
    made = limit(choices=["adam", "sgd", "1e-3"])
    assert (made.worded, [str(word) for word in made.choices or ()]) == (True, ["adam", "sgd", "1e-3"])
    assert limit(choices=["true", "false"]).worded
    assert limit(choices=["adam"]).choices == (Word("adam"),)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({}, "nothing is known of it, and min and max not given"),
        ({"min": 0.1}, "and max not given"),
        ({"min": 0.5, "max": 0.1}, "min = 0.5 is above max = 0.1"),
        ({"min": 0, "max": 1, "scale": "log"}, "a logarithmic scale begins above 0, found min = 0"),
        ({"min": 0, "max": 1, "scale": "cubic"}, "scale: 'cubic' is not known"),
        ({"min": 0, "max": 1, "step": "pow3"}, "step: 'pow3' is not known"),
        ({"min": -1, "max": 1, "max_change": 2}, "is a factor, which values below 0"),
        ({"min": 0, "max": 1, "max_change": 1}, "max_change: 1 is too small"),
        ({"min": 0, "max": 1, "multiple_of": 0}, "multiple_of: 0 is too small"),
        ({"min": 3, "max": 5, "multiple_of": 7}, "no multiple of 7 is in 3 to 5"),
        ({"min": 0, "max": 5, "integer": True, "multiple_of": 0.5}, "not all numbers are whole"),
        ({"min": 0, "max": 5, "integer": "yes"}, "integer: 'yes' is neither true nor false"),
        ({"min": 0, "max": 5, "colour": 1}, "unknown key 'colour'"),
        ({"min": 0, "max": 5, "follow": "batch_size:sqrt"}, "unknown key 'follow'"),
        ({"min": float("nan"), "max": 5}, "min: nan is not a number"),
        ({"choices": [0.1, 0.2], "max": 0.05}, "choices: none is within"),
        ({"choices": []}, "[] is not a list"),
        ({"choices": "adam"}, "'adam' is not a list"),
        ({"choices": ["adam", 3]}, "3 is not a word, but others are"),
        ({"choices": [True, False]}, "true is not a word; write it in quotes"),
        ({"choices": ["adam", "adam"]}, "'adam' is listed twice"),
        ({"choices": ["adam", "sgd"], "min": 1}, "min: words have none"),
        *(
            ({"choices": [word, "sgd"]}, "cannot be written to a config.ini")
            for word in ("", " a", "a ", "a%b", "a;b", "a # b", "a\nb")
        ),
        *(
            ({"choices": [word, "sgd"]}, "cannot be written to a config.ini")
            for word in ('a"b', "a'b", "x" * 65, "a  b", "${a}", "[a]")
        ),
        ({"key": "dropout", "min": 0, "max": 1}, "key: 'dropout' is not section.option"),
    ],
)
def test_a_line_that_says_too_little_or_contradicts_itself_is_refused(line: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)) as refusal:
        limit(**line)
    assert str(refusal.value).startswith("[parameters] dropout")


@pytest.mark.parametrize("text", ["64,128", "0.9, 0.999", "(0.9, 0.999)", "16:9", "1/2"])
def test_a_list_of_numbers_is_a_word_and_can_be_written(text: str) -> None:
    assert own_limit("betas", {"betas": {"choices": [text, "none"]}}).choices == (Word(text), Word("none"))
    assert WRITABLE.fullmatch(text)


@pytest.mark.parametrize("name", ["Dropout", "drop-out", "model.dropout", "größe", "2nd", "_x", "x" * 65, "a b", ""])
def test_a_name_that_cannot_be_a_label_everywhere_is_refused_with_one_that_can(name: str) -> None:
    with pytest.raises(ValueError, match="a name is made of a-z"):
        own_limit(name, {name: {"min": 0, "max": 1}})


def test_names_of_what_is_recorded_of_a_run_are_refused() -> None:
    assert set(MEASURED) - {"memory_gib", "epochs"} <= RESERVED
    for name in ("dataset", "hardware", "run_id", "status", "val_loss", "job", "instance"):
        with pytest.raises(ValueError, match="JPO uses this name"):
            own_limit(name, {name: {"min": 0, "max": 1}})


@pytest.mark.parametrize("name", ["lr", "bs", "learning_rte", "batch_sizes", "epoch"])
def test_a_misspelt_name_does_not_become_a_parameter(name: str) -> None:
    with pytest.raises(ValueError, match="unknown key"):
        limits_from({"parameters": {name: {"min": 0, "max": 1}}})


def test_two_words_of_one_number_are_refused() -> None:
    seen: dict[float, str] = {}
    for word in (f"w{i}" for i in range(5000)):
        if (other := seen.setdefault(float(Word(word)), word)) != word:
            with pytest.raises(ValueError, match="cannot tell two of them apart"):
                limit(choices=[word, other])
            return
    raise AssertionError("no two of them have the same number")


@pytest.mark.parametrize(("text", "value"), [("0.1", 0.1), ('"0.1"', 0.1), ("1e-4", 1e-4), ("'5'", 5.0), ("-2", -2.0)])
def test_numbers_are_read_with_and_without_quotes(text: str, value: float) -> None:
    assert read_value("dropout", text, Limit()) == value


@pytest.mark.parametrize("text", ["", "''", "abc", "0.1s", "5%", "inf", "1e999", "0.1 0.2", "1_000", "٣"])
def test_what_is_no_number_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        read_value("dropout", text, Limit(low=0, high=1))


def test_words_are_read_without_quotes_and_a_choice_in_another_case_is_refused() -> None:
    made = limit(choices=["adam", "SGD"])
    assert [read_value("optimizer", text, made) for text in ("adam", '"adam"', "'SGD'", "lion")] == [
        "adam",
        "adam",
        "SGD",
        "lion",
    ]
    with pytest.raises(ValueError, match="is the choice 'SGD' of \\[parameters\\] but for its case"):
        read_value("optimizer", "sgd", made)


def test_the_guard_refuses_a_word_that_is_no_choice_and_names_words() -> None:
    limits = limits_from({"parameters": {"optimizer": {"choices": ["adam", "sgd"]}}})
    verdict = check({"optimizer": Word("sgd")}, {"optimizer": Word("lion")}, limits)
    assert [violation.message for violation in verdict.violations] == ["optimizer = lion is none of the choices adam, sgd"]
    assert verdict.parameters is None
    assert check({"optimizer": Word("sgd")}, {"optimizer": Word("adam")}, limits).approved
    assert check({"optimizer": Word("lion")}, {"optimizer": Word("lion")}, limits).approved  # today's may stay


def test_the_guard_keeps_whole_numbers_whole_and_says_what_would_be_allowed() -> None:
    limits = limits_from({"parameters": {"warmup_steps": {"min": 0, "max": 100, "integer": True}}})
    verdict = check({"warmup_steps": 10.0}, {"warmup_steps": 150.5}, limits)
    assert {violation.rule for violation in verdict.violations} == {"whole_number", "at_most_max"}
    assert verdict.parameters == {"warmup_steps": 100.0}


def test_without_own_parameters_nothing_is_added() -> None:
    assert limits_from({}).parameters == Limits().parameters
