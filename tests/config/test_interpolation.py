"""References: what `%(lr)s` says, where it comes from, and who else would change with it."""

from __future__ import annotations

import configparser
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_files import JOB, Read, message

from jpo.config.interpolation import Interpolation
from jpo.config.locate import locate
from jpo.config.source import decode
from jpo.errors import UsageError


def rate(read: Read, text: bytes, **options: object) -> tuple[str, float, str | None]:
    """Key that would be edited, value and why it is held, of the learning rate."""
    found = read(JOB + text, **options).parameter("learning_rate")
    return found.key, found.value, found.held and found.held.text


def test_a_reference_is_edited_at_its_origin(read: Read) -> None:
    assert rate(read, b"[t]\nbase = 0.1 # warm\nlearning_rate = %(base)s\n") == ("t.base", 0.1, None)
    assert rate(read, b"[DEFAULT]\nBase = 0.1\n[t]\nlearning_rate = %(BASE)s\n") == ("DEFAULT.Base", 0.1, None)
    assert rate(read, b"[t]\na = 0.1\nb = %(a)s\nlearning_rate = %(b)s\n") == ("t.a", 0.1, None)


def test_an_option_of_the_section_comes_before_the_default(read: Read) -> None:
    assert rate(read, b"[DEFAULT]\nbase = 1\n[t]\nbase = 0.1\nlearning_rate = %(base)s\n")[:2] == ("t.base", 0.1)
    assert rate(read, b"[DEFAULT]\nlearning_rate = %(base)s\n[t]\nbase = 0.1\n")[:2] == ("t.base", 0.1)


def test_a_reference_to_an_option_of_a_known_name_is_one_parameter(read: Read) -> None:
    assert rate(read, b"[t]\nlr = 0.1\nlearning_rate = %(lr)s\n") == ("t.lr", 0.1, None)


@pytest.mark.parametrize("other", [b"warmup = %(base)s", b"out = runs/%(base)s", b"half = %(learning_rate)s"], ids=repr)
def test_an_origin_that_others_use_stays_unless_it_is_named_itself(read: Read, other: bytes) -> None:
    text = b"[DEFAULT]\nbase = 0.1\n[t]\nlearning_rate = %(base)s\n" + other + b"\n"
    key, value, held = rate(read, text)
    name = other.split()[0].decode()
    assert (key, value) == ("t.learning_rate", 0.1)
    assert held == (
        f"also the value of t.{name} (line 9); "
        'if they may change together, write [parameters] learning_rate = { key = "DEFAULT.base" }'
    )
    assert rate(read, text, keys={"learning_rate": "DEFAULT.base"}) == ("DEFAULT.base", 0.1, None)


def test_a_plain_value_that_others_refer_to_stays_too(read: Read) -> None:
    assert "also the value of t.warmup (line 7)" in str(rate(read, b"[t]\nlr = 0.1\nwarmup = %(lr)s\n")[2])
    assert rate(read, b"[t]\nlr = 0.1\nshare = 50%%\nwhat = %%(lr)s\n[u]\nlr2 = %(lr)s\n") == ("t.lr", 0.1, None)


def test_two_readers_of_one_default_are_two_options(read: Read) -> None:
    said = message(read, JOB + b"[DEFAULT]\nbase = 1\n[a]\nlr = %(base)s\n[b]\nlr = %(base)s\n")
    assert "learning_rate could be 'a.lr' (line 8) and 'b.lr' (line 10)" in said


def test_a_value_put_together_is_read_and_stays(read: Read) -> None:
    key, value, held = rate(read, b"[t]\nn = 3\nlearning_rate = 1e-%(n)s\n")
    assert (key, value) == ("t.learning_rate", 0.001)
    assert held == "put together as <8 characters>; write it out to free it"


def test_a_size_whose_unit_is_in_the_name_of_the_reference_stays(read: Read) -> None:
    found = read(JOB + b"[t]\nsize = 16000\nmemory_mb = %(size)s\n").parameter("memory_gib")
    assert (found.key, round(found.value, 3)) == ("t.memory_mb", 14.901)
    assert found.held
    assert found.held.text == "taken from t.size (line 6), where it has no unit; write it there to free it"
    assert read(JOB + b"[t]\nsize = 16Gi\nmemory = %(size)s\n").parameter("memory_gib").key == "t.size"


def test_a_pin_holds_at_either_end(read: Read) -> None:
    assert rate(read, b"[t]\nbase = 0.1 # jpo: pin\nlearning_rate = %(base)s\n")[2] == "pinned in config.ini"
    assert rate(read, b"[t]\nbase = 0.1\nlearning_rate = %(base)s # jpo: pin\n")[2] == "pinned in config.ini"


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (b"[t]\nlearning_rate = %(base)s\n[u]\nbase = 1\n", "refers to 'base', which is neither in [t] nor in [DEFAULT]"),
        (b"[t]\nlearning_rate = %(learning_rate)s\n", "refers to itself or too deep"),
        (b"[t]\na = %(b)s\nb = %(a)s\nlearning_rate = 1%(a)s\n", "refers to itself or too deep"),
        (b"[t]\na = 1\nlearning_rate = %(a)d\n", "has a % that configparser does not understand"),
        (b"[DEFAULT]\nlr = %(a)s\n[t]\na = 1\n[u]\na = 2\n", "has another value in each section that reads it"),
        (b"[t]\na = 1\n  2\nlearning_rate = %(a)s\n", "'t.a' is not a value on one line"),
        (b"[t]\nlearning_rate = ${u:lr}\n", "is not what Python's configparser resolves by default"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_line(read: Read, text: bytes, finding: str) -> None:
    said = message(read, JOB + text)
    assert finding in said
    assert said.startswith("…/config.ini:")
    pinned = read(JOB + b"[p]\ncpus = 2\n" + text.replace(b"s\n[u]", b"s # jpo: pin\n[u]", 1)) if b"s\n[u]" in text else None
    assert pinned is None or "learning_rate" not in pinned.current


def test_references_that_grow_without_end_are_refused_at_once(read: Read) -> None:
    laughs = b"".join(b"a%d = %s\n" % (i, b"%%(a%d)s" % (i + 1) * 50) for i in range(8)) + b"a8 = x\n"
    assert "becomes longer than 1000 characters" in message(read, JOB + b"[t]\n" + laughs + b"learning_rate = %(a0)s\n")


def test_long_chains_and_many_sections_cost_no_more_than_their_lines(read: Read) -> None:
    def chain(length: int) -> bytes:
        return b"".join(b"o%d = %%(o%d)s\n" % (i, i + 1) for i in range(length))

    started = time.process_time()
    assert rate(read, b"[t]\nlr = 0.1\n" + chain(20000))[2] is None
    sections = b"".join(b"[s%d]\nx = %%(o0)s\n" % i for i in range(2000))
    assert rate(read, b"[DEFAULT]\nlr = 0.1\n" + chain(2000) + sections)[2] is None
    assert "also the value of t.o100 " in str(rate(read, b"[t]\nlr = 0.1\n" + chain(100) + b"o100 = %(lr)s\n")[2])
    assert time.process_time() - started < 10, "a minute and more where it is quadratic"


NAMES = ("a", "b", "c")
PIECES = st.sampled_from(["%(a)s", "%(b)s", "%(c)s", "%(d)s", "%%", "1", "x"])


@given(
    st.dictionaries(st.sampled_from(NAMES), st.lists(PIECES, min_size=1, max_size=3)), st.lists(PIECES, min_size=1, max_size=2)
)
def test_every_value_is_what_configparser_reads(defaults: dict[str, list[str]], own: list[str]) -> None:
    lines = ["[DEFAULT]", *(f"{name} = {''.join(text)}" for name, text in defaults.items()), "[t]", f"b = {''.join(own)}"]
    text = "\n".join([*lines, "asked = %(b)s"])
    parser = configparser.ConfigParser()
    parser.read_string(text)
    options = locate(decode(text.encode(), "c.ini"), "c.ini")
    asked = next(option for option in options if option.name == "asked")
    try:
        expected = parser["t"]["asked"]
    except configparser.InterpolationError:
        with pytest.raises(UsageError):
            Interpolation(options, "c.ini").read(asked)
    else:
        assert Interpolation(options, "c.ini").read(asked).text == expected
