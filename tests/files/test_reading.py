"""What others wrote is read without waiting, up to a limit, and no parser follows it for hours."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.files import reading

KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "No such file"),
    "directory": (Path.mkdir, "is a directory"),
    "pipe without a writer": (os.mkfifo, "is not a regular file"),
    "endless device": (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
    "link to itself": (lambda path: path.symlink_to(path), "cannot be read"),
    "too large": (lambda path: path.write_bytes(b"x" * 1025), "is larger than 1 KiB"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_or_too_large_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    make, words = KINDS[kind]
    path = tmp_path / "file"
    make(path)
    with pytest.raises(UsageError, match=words):
        reading.contents(path, 1024, partial(UsageError, str(path), code="JPO-E301"))


def test_a_file_of_the_largest_size_is_read_and_a_name_with_a_nul_is_not(tmp_path: Path) -> None:
    refusal = partial(UsageError, "here", code="JPO-E301")
    (tmp_path / "file").write_bytes(b"x" * 1024)
    assert len(reading.contents(tmp_path / "file", 1024, refusal)) == 1024
    assert reading.beginning(tmp_path / "file", 3, refusal) == b"xxx"
    with pytest.raises(UsageError, match="null"):
        reading.contents(Path("a\0b"), 1024, refusal)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = " + "[" * 100_000, "deeper than 32"),
        ("a = " + "{ a = " * 50_000, "deeper than 32"),
        ("a" + ".a" * 50_000 + " = 1", "line 1 has 50000 dots"),
        ("[a" + ".a" * 3000 + "]\n" + "".join(f"b{n} = 1\n" for n in range(9000)), "too many parts"),
        ("a" + ".a" * 40 + " = 1", "deeper than 32"),
        ("a = " + "9" * 5000, "thousands of digits"),
        ("[s]\nkey = 0x" + "f" * 17, "s.key is a whole number beyond 64 bits"),
        ("a = [[1, 9223372036854775808]]", "a is a whole number beyond 64 bits"),
        ("a = 1\na = 2\n", "is not TOML: Cannot overwrite a value .at line 2"),
        ("a = \ud800", "is not TOML"),
    ],
)
def test_toml_that_would_take_hours_or_break_what_comes_after_it_is_refused(text: str, words: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ValueError, match=words) as refused:
        reading.toml(text)
    assert time.perf_counter() - started < 4
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(("text", "steps"), [("a.b = 1", 4), ("[s.t]\nk.x = 1", 12), ("[s.t]\n[u]\nk.x = 1", 11), ("\n", 2)])
def test_the_work_on_dotted_keys_is_counted_by_their_parts_and_those_of_their_table(
    text: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_STEPS", steps)
    reading.refuse_endless_keys(text)
    monkeypatch.setattr(reading, "MOST_STEPS", steps - 1)
    with pytest.raises(ValueError, match="too many parts"):
        reading.refuse_endless_keys(text)


def test_tables_may_be_as_deep_and_numbers_as_small_as_is_said() -> None:
    deepest = reading.DEEPEST - 1
    assert reading.toml("a" + ".a" * deepest + " = -9223372036854775808")
    with pytest.raises(ValueError, match=f"nested deeper than {reading.DEEPEST}"):
        reading.toml("a" + ".a" * (deepest + 1) + " = 1")
    with pytest.raises(ValueError, match="beyond 64 bits"):
        reading.toml("a = -9223372036854775809")


@pytest.mark.parametrize(
    ("size", "words"), [(1023, "0 KiB"), (1024, "1 KiB"), (2**20 - 1, "1023 KiB"), (2**20, "1 MiB"), (3 * 2**20, "3 MiB")]
)
def test_a_limit_is_said_in_its_unit(size: int, words: str) -> None:
    assert reading.in_words(size) == words


def test_a_small_file_may_have_the_largest_size_and_a_pipe_that_stays_open_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"x" * 100)
    assert reading.soon_read(file, 100, seconds=60) == b"x" * 100
    with pytest.raises(OSError, match="too large"):
        reading.soon_read(file, 99, seconds=60)
    os.mkfifo(pipe)
    kept_open = os.open(pipe, os.O_RDWR)
    os.write(kept_open, b"x" * 100)
    assert reading.soon_read(pipe, 100, seconds=0.1) == b"x" * 100
    os.close(kept_open)


@pytest.mark.parametrize(("digits", "read"), [(reading.MOST_DIGITS, True), (reading.MOST_DIGITS + 1, False)])
def test_a_whole_number_in_json_has_so_many_digits(digits: int, read: bool) -> None:
    if read:
        assert reading.json_value("9" * digits) == 10**digits - 1
    else:
        with pytest.raises(ValueError, match=f"{digits} digits"):
            reading.json_value("9" * digits)


def test_a_number_has_so_many_characters() -> None:
    assert reading.number("9" * reading.LONGEST_NUMBER) == pytest.approx(1e64)


def test_ordinary_toml_is_read_with_dotted_keys_long_lists_and_the_largest_numbers() -> None:
    choices = ", ".join(f"{n / 8}" for n in range(1000))
    text = f'a.b.c = 9223372036854775807\n[tool.x]\nchoices = [{choices}]\nurl = "http://a.b.c.d/e.f"\n'
    assert reading.toml(text)["a"]["b"]["c"] == 2**63 - 1
    assert len(reading.toml(text)["tool"]["x"]["choices"]) == 1000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a":1,"b":{"c":1,"c":2}}', "names 'c' twice in one object"),
        ('{"a":NaN}', "NaN"),
        ('{"a":-Infinity}', "-Infinity"),
        ('{"a":1e999}', "1e999"),
        ('{"a":' + "9" * 5000 + "}", "5000 digits"),
        ('{"a":' * 100_000, "nested too deep"),
        ("[" * 100_000, "nested too deep"),
        ("[]", "is not a JSON object"),
        ("", "is not JSON"),
        (b'{"a":"\xff"}', "is not JSON"),
        ("{" + ",".join(f'"k{n}":1' for n in range(100_000)) + ',"k99999":2}', "<6 characters> twice"),
    ],
)
def test_json_that_two_readers_could_understand_differently_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        reading.json_object(text)
    assert len(str(refused.value)) < 300


def test_ordinary_json_is_read_exactly() -> None:
    assert reading.json_object('{"a":[1,2.5,null,true],"b":1180591620717411303424}') == {"a": [1, 2.5, None, True], "b": 2**70}


def test_two_names_of_one_file_are_the_same_and_a_link_to_itself_is_no_error(tmp_path: Path) -> None:
    file, link, loop = (tmp_path / name for name in ("file", "link", "loop"))
    link.symlink_to("file")
    loop.symlink_to("loop")
    assert reading.same_file(link, file)  # which is not there yet
    file.touch()
    os.link(file, tmp_path / "hard")
    assert reading.same_file(tmp_path / "hard", link)
    assert not reading.same_file(loop, file)


def test_a_pipe_is_waited_for_as_long_as_is_said_and_no_longer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Timer(0.1, lambda: pipe.write_bytes(b"t0ken"))
    writer.start()
    assert reading.soon_read(pipe, 100, seconds=5) == b"t0ken"
    writer.join()
    started = time.monotonic()
    with pytest.raises(OSError, match="in time"):
        reading.soon_read(pipe, 100, seconds=0.2)
    with pytest.raises(OSError, match="too large"):
        reading.soon_read(Path("/dev/zero"), 100, seconds=5)
    assert time.monotonic() - started < 3
    assert reading.soon_read(Path("/dev/null"), 100, seconds=5) == b""


@pytest.mark.parametrize("text", ["32", "-1.5", "-0.5", "0.001", "1e-3", "1e-05", "1E+22", ".5", "5."])
def test_numbers_are_those_that_people_and_programs_write(text: str) -> None:
    assert reading.number(text) == float(text)


@pytest.mark.parametrize("text", ["NaN", "nan", "+Inf", "-inf", "Infinity"])
def test_what_is_not_finite_is_written_out(text: str) -> None:
    assert not math.isfinite(reading.number(text))


@pytest.mark.parametrize(
    "text", ["\u0663\u0662", "3_2", " 32 ", "32\n", "1e400", "-1e999", "0x10", "+5", "", "1,5", "\uff13", "9" * 65, "\u0131nf"]
)
def test_what_only_python_would_read_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        reading.number(text)


def test_what_is_no_number_may_count_as_nan() -> None:
    assert reading.number_or_nan("1.5") == 1.5
    assert math.isnan(reading.number_or_nan("1,5"))
