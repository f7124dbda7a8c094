"""Comments that hold a value."""

from __future__ import annotations

import datetime

import pytest
from training_files import CONFIG, JOB, Read, message


@pytest.mark.parametrize(
    ("line", "held"),
    [
        (b"batch_size = 32  # jpo: pin", "pinned in config.ini"),
        (b"batch_size = 32\t; JPO: Pin, see #12", "pinned in config.ini"),
        (b"batch_size = 32  # fits a T4  # jpo:pin", "pinned in config.ini"),
        (b"# jpo: pin\n# since it fits\nbatch_size = 32", "pinned in config.ini"),
        (b"batch_size = 32 # jpo: ignore until 2026-05-05", "ignored until 2026-05-05 in config.ini"),
        (b"batch_size = 32 # jpo: ignore until 2026-05-04", None),
        (b"; jpo: ignore until 2026-01-01.\nbatch_size = 32", None),
        (b"    # jpo: pin\nbatch_size = 32", "pinned in config.ini"),
        (b"batch_size = 32 # pin", None),
        (b"batch_size = 32\n# jpo: pin\nlr = 1", None),
        (b"batch_size = 32 # see jpo: pin", None),
    ],
)
def test_pins_stand_behind_the_value_or_directly_above(read: Read, line: bytes, held: str | None) -> None:
    found = read(JOB + line + b"\n").parameter("batch_size")
    assert (found.held and found.held.text) == held


@pytest.mark.parametrize(
    "words", [b"pinned", b"ignore", b"ignore until tomorrow", b"ignore until 2027-02-30", b"ignore until 2027-1-1", b""]
)
def test_a_pin_that_is_not_understood_is_an_error(read: Read, words: bytes) -> None:
    said = message(read, JOB + b"batch_size = 32 # jpo: " + words + b"\n")
    assert said.endswith("is not understood; write # jpo: pin or # jpo: ignore until 2027-01-01")
    assert "config.ini:5: " in said


def test_what_is_pinned_and_no_number_is_no_parameter(read: Read) -> None:
    assert read(CONFIG.replace(b"cpus = 4", b"cpus = auto  # jpo: pin")).current.keys() == {
        "batch_size",
        "learning_rate",
        "memory_gib",
    }


def test_a_pin_holds_until_the_day_it_names(read: Read) -> None:
    data = JOB + b"batch_size = 32 # jpo: ignore until 2027-01-01\n"
    for day, held in ((datetime.date(2026, 12, 31), True), (datetime.date(2027, 1, 1), False)):
        assert (read(data, today=day).parameter("batch_size").held is not None) == held
