from __future__ import annotations

from constraints.verdict import number
from constraints.words import Word, plain
from jpo import records


def test_a_word_is_a_number_that_is_written_as_the_word() -> None:
    assert (str(Word("adam")), number(Word("adam")), plain(Word("adam")), plain(0.1)) == ("adam", "adam", "adam", 0.1)


def test_guard_and_jpo_have_the_same_numbers() -> None:
    words = ["adam", "sgd", "größe", "1e-3", "a b", ""]
    assert [float(Word(word)) for word in words] == [float(records.Word(word)) for word in words]
