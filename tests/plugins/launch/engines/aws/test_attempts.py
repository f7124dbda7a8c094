from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.attempts import EXHAUSTED, Tried, read, write
from jpo.plugins.launch.engines.aws.offers import Attempt


def test_a_line_without_an_answer_is_pending_and_keeps_its_number(tmp_path: Path) -> None:
    write(tmp_path, ("g5.xlarge spot us-east-1 InsufficientInstanceCapacity", "g5.2xlarge spot us-east-1"))
    tried = read(tmp_path)
    assert tried.pending == Attempt("g5.2xlarge", spot=True, where="us-east-1")
    assert tried.number == 1
    assert tried.refused == ("g5.xlarge spot us-east-1 InsufficientInstanceCapacity",)


def test_after_everything_was_tried_it_begins_anew_under_new_numbers() -> None:
    tried = Tried(("g5.xlarge spot us-east-1 Unsupported", EXHAUSTED))
    assert (tried.pending, tried.number, tried.refused) == (None, 2, ())


def test_nothing_was_tried_where_there_is_no_file(tmp_path: Path) -> None:
    assert read(tmp_path) == Tried()
    assert Tried().number == 0


def test_a_damaged_file_starts_nothing(tmp_path: Path) -> None:
    write(tmp_path, ("one two three four five",))
    with pytest.raises(LaunchError, match="damaged"):
        read(tmp_path)
