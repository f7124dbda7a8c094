"""Where each option is in the text."""

from __future__ import annotations

import pytest
from training_files import CONFIG, JOB, Read, message

from jpo.config.locate import IniOption, ambiguous, locate, named, values_with_inline_comments
from jpo.config.source import decode
from jpo.errors import UsageError


def located(data: bytes) -> tuple[IniOption, ...]:
    return locate(decode(data, "config.ini"), "config.ini")


def test_the_columns_are_those_of_the_value() -> None:
    (option,) = located(b"[t]\n  batch_size =  64  # steps\n")
    assert (option.key, option.line, option.text) == ("t.batch_size", 2, "64")
    assert "  batch_size =  64  # steps"[option.start : option.end] == "64"
    assert option.tail == "  # steps"


def test_comment_lines_directly_above_belong_to_an_option() -> None:
    first, second = located(b"[t]\n# far\n\n# one\n; two\na = 1\nb = 2\n")
    assert [number for number, _ in first.above] == [4, 5]
    assert second.above == ()


def test_a_value_over_several_lines_is_known_as_such() -> None:
    one, several, none = located(b"[t]\na = 1\nb = 1\n  2\nc =\n")
    assert (one.one_line, several.one_line, none.one_line, none.text) == (True, False, True, "")


def test_default_is_a_section_like_others() -> None:
    assert [option.key for option in located(b"[DEFAULT]\na = 1\n[t]\nb = 2\n")] == ["DEFAULT.a", "t.b"]


def test_inline_comments_are_stripped_as_configparser_does() -> None:
    source = decode(b"[t]\nA = 64 # steps\nb = 1;2\n", "config.ini")
    assert values_with_inline_comments(source) == {("t", "a"): "64", ("t", "b"): "1;2"}


def test_a_file_that_configparser_cannot_read_is_refused_with_its_line() -> None:
    with pytest.raises(UsageError) as caught:
        located(b"[t]\na = 1\n\nA = 2\n")
    assert (caught.value.place, caught.value.code) == ("config.ini:4", "JPO-E203")


def test_keys_may_hold_dots(read: Read) -> None:
    found = read(JOB + b"[a.b]\nc.d = 8\n", keys={"batch_size": "a.b.c.d"})
    assert found.parameter("batch_size").value == 8


def test_a_key_that_is_absent_is_named_with_its_file(read: Read) -> None:
    said = message(read, CONFIG, keys={"batch_size": "training.batchsize"})
    assert said.startswith("…/jpo.toml: parameters.batch_size.key = 'training.batchsize' is not in /")
    assert said.endswith("config.ini; write section and option as the file has them, or add the option to it")


def test_well_known_names_count_in_every_section_and_in_any_case() -> None:
    options = locate(decode(b"[a]\nLR = 1\n[b]\nlr = 2\nlrs = 3\n", "config.ini"), "config.ini")
    assert [option.key for option in named(options, {"lr"})] == ["a.LR", "b.lr"]


def test_the_line_that_decides_names_the_first_of_several() -> None:
    options = locate(decode(b"[a]\nlr = 1\n[b]\nlr = 2\n", "config.ini"), "config.ini")
    error = ambiguous("learning_rate", options, "config.ini", "[parameters] learning_rate = { key = KEY }")
    assert error.finding == "learning_rate could be 'a.lr' (line 2) and 'b.lr' (line 4)"
    assert error.remedy == 'say which in jpo.toml: [parameters] learning_rate = { key = "a.lr" }'
