"""Options by name."""

from __future__ import annotations

from training_files import CONFIG, JOB, Read, message

from jpo.config.locate import locate
from jpo.config.lookup import ambiguous, named
from jpo.config.source import decode


def test_keys_may_hold_dots(read: Read) -> None:
    found = read(JOB + b"[a.b]\nc.d = 8\n", keys={"batch_size": "a.b.c.d"})
    assert found.parameter("batch_size").value == 8


def test_a_key_that_is_absent_is_named_with_its_file(read: Read) -> None:
    said = message(read, CONFIG, keys={"batch_size": "training.batchsize"})
    assert said.startswith("…/jpo.toml: parameters.batch_size.key = 'training.batchsize' is not in /")
    assert said.endswith("config.ini; correct the entry, or add that option to the file")


def test_well_known_names_count_in_every_section_and_in_any_case() -> None:
    options = locate(decode(b"[a]\nLR = 1\n[b]\nlr = 2\nlrs = 3\n", "config.ini"), "config.ini")
    assert [option.key for option in named(options, {"lr"})] == ["a.LR", "b.lr"]


def test_the_line_that_decides_names_the_first_of_several() -> None:
    options = locate(decode(b"[a]\nlr = 1\n[b]\nlr = 2\n", "config.ini"), "config.ini")
    error = ambiguous("learning_rate", options, "config.ini", "[parameters] learning_rate = { key = KEY }")
    assert error.finding == "learning_rate could be 'a.lr' (line 2) and 'b.lr' (line 4)"
    assert error.remedy == 'say which in jpo.toml: [parameters] learning_rate = { key = "a.lr" }'
