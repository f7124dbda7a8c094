from __future__ import annotations

import pytest

from jpo.wording.printable import LONGEST_TEXT, LONGEST_WORD, encodable, one_line, printable, released


@pytest.mark.parametrize(
    ("text", "shown"), [("a\x1b[31m", "a [31m"), ("a\nb\tc\0", "a b c "), ("\u202eabc", " abc"), ("naïve 🦀", "naïve 🦀")]
)
def test_a_name_stays_in_its_line_and_steers_nothing(text: str, shown: str) -> None:
    assert printable(text) == shown


UNSEEN = ("\u200b", "\u200d", "\u2060", "\ufeff", "\xad", "\u3164", "\u115f", "\u2800", "\ue000", "\udc80", "\u2028", "\x85")


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_nothing_is_in_a_name_that_nobody_sees(unseen: str) -> None:
    assert printable(f"a{unseen}b") == "a b"


@pytest.mark.parametrize(
    "name",
    ["digits", "naïve", "数字/小さい", "שלום", "مرحبا", "Việt", "e\u0301\u0323\u0308", "❤️ 👩🏽 1️⃣", "x::y", "#1 ##", "C:\\x"],
)
def test_what_people_write_stays(name: str) -> None:
    assert printable(name) == released(name) == name


def test_marks_do_not_grow_into_other_lines() -> None:
    assert printable("a" + "\u0301" * 500 + "b") == "a\u0301\u0301\u0301b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x ##[error]y", "x # #[error]y"),
        ("###[group]", "## #[group]"),
        ("##vso[task.setvariable variable=a]b", "# #vso[task.setvariable variable=a]b"),
        ("##TeamCity[x]", "# #TeamCity[x]"),
        ("section_start:1:a", "section_start :1:a"),
        ("section_end:1:a", "section_end :1:a"),
        ("travis_fold:start:a", "travis_fold :start:a"),
        ("##\u200b[error]", "## [error]"),
    ],
)
def test_commands_to_a_ci_are_read_and_not_obeyed(text: str, shown: str) -> None:
    assert printable(text) == released(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize("blanks", ["", " ", "\t", "\xa0", "  "])
def test_no_line_begins_a_command(blanks: str) -> None:
    assert released(f"a\n{blanks}::error file=a::b\n::c\n").split("\n")[1:3] == [f"{' ' * len(blanks)}: :error file=a::b", ": :c"]


def test_a_whole_text_keeps_its_lines_and_gets_no_others() -> None:
    assert released("a\n b\r\x85c\u2028d\n\ne\x1b[2J\n") == "a\n b  c d\n\ne [2J\n"


def test_colours_stay_where_somebody_sees_them() -> None:
    text = "\x1b[31m::a\x1b[0m \x1b[2J\x1b]0;t\x07"
    assert released(text, colours=True) == "\x1b[31m: :a\x1b[0m  [2J ]0;t "
    assert "\x1b" not in released(text)


def test_a_long_name_loses_its_middle() -> None:
    assert printable("n" * LONGEST_WORD) == "n" * LONGEST_WORD
    shown = printable("a" * 50_000 + "z" * 50_000)
    assert len(shown) < LONGEST_WORD
    assert (shown[0], shown[-1], shown.count("…")) == ("a", "z", 1)
    assert len(printable("of words " * 20_000)) <= LONGEST_TEXT
    assert len(printable("a key " * 20_000, longest=LONGEST_WORD)) <= LONGEST_WORD


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_sign_of_reports_is_seen_in_every_encoding(encoding: str) -> None:
    """A "?" would say nothing, and ≤ 3h as ? 3h the opposite of what is meant."""
    shown = encodable("a → b ≥ 1 ≤ 2 × 3 ± 4 – 5 … résumé 数", encoding)
    assert "?" not in shown
    shown.encode(encoding)
    assert encoding != "ascii" or shown == "a -> b >= 1 <= 2 x 3 +- 4 - 5 ... r\\xe9sum\\xe9 \\u6570"


@pytest.mark.parametrize(
    ("parts", "said"),
    [(("A", "b\nc"), "A: b c"), (("A", "A"), "A"), (("", "b"), "b"), (("\x1b[31mred",), "[31mred"), ((), "")],
)
def test_words_of_others_are_one_line_without_commands_to_a_terminal(parts: tuple[str, ...], said: str) -> None:
    assert one_line(*parts) == said


def test_long_words_are_cut() -> None:
    assert len(one_line("x" * 10_000)) < 500
