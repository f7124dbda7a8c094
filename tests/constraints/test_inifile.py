import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints.inifile import find_parameters, held_by, other_changes, read, split_comment
from constraints.limit import Limit
from constraints.limits import DEFAULTS, Limits


def ini(folder: Path, text: str, name: str = "config.ini"):
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("64", ("64", "")),
        ("64  # note", ("64", "# note")),
        ("64\t; note", ("64", "; note")),
        ("64#note", ("64#note", "")),
        ("a;b # c ; d", ("a;b", "# c ; d")),
        ("# nothing", ("", "# nothing")),
        ("", ("", "")),
    ],
)
def test_a_comment_starts_after_a_blank(written, parts):
    assert split_comment(written) == parts


@given(st.text())
def test_splitting_loses_nothing_but_blanks(written):
    assert "".join("".join(split_comment(written)).split()) == "".join(written.split())


def test_well_known_names_are_found_in_any_section(tmp_path):
    found, notices = find_parameters(
        ini(tmp_path, "[a]\nBS = 8\n[b]\nmax_epochs = 3\n[c]\nthreads = 2\nmem_gb = 4 # x\n"), Limits()
    )
    assert {name: (f.key, f.value) for name, f in found.items() if name != "memory_gib"} == {
        "batch_size": (("a", "bs"), 8.0),
        "epochs": (("b", "max_epochs"), 3.0),
        "cpus": (("c", "threads"), 2.0),
    }
    assert found["memory_gib"].comment == "# x"
    assert notices == []


@pytest.mark.parametrize(
    ("key", "text", "place"),
    [
        ("my.train.size", "[my.train]\nsize = 8\n", ("my.train", "size")),
        ("my.train.size", "[my]\ntrain.size = 8\n", ("my", "train.size")),
        ("train.Size", "[train]\nSIZE = 8\n", ("train", "size")),
    ],
)
def test_a_key_of_jpo_toml_is_found_with_dots_in_either_name(tmp_path, key, text, place):
    limits = Limits(parameters={**DEFAULTS, "batch_size": Limit(key=key)})
    found, notices = find_parameters(ini(tmp_path, text), limits)
    assert found["batch_size"].key == place
    assert notices == []


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("[a]\nbatch_size\n", "a.batch_size has no value"),
        ("[a]\nbatch_size = 48\n  lr = 0.1\n", "a.batch_size spans several lines"),
        ("[a]\nbatch_size =\n", "batch_size = '' is not a whole number"),
        ("[a]\nmemory = 8\n", "a.memory = '8' has no unit"),
        ("[a]\nbatch_size = 8\nbs = 8\n", "batch_size is in a.batch_size and a.bs"),
    ],
)
def test_what_is_not_understood_is_no_parameter_and_is_said(tmp_path, text, notice):
    found, notices = find_parameters(ini(tmp_path, text), Limits())
    assert found == {}
    assert notice in notices[0]


def test_a_memory_size_without_unit_does_not_hide_one_with(tmp_path):
    found, _ = find_parameters(ini(tmp_path, "[a]\nmemory = 8\nmem_gib = 16\n"), Limits())
    assert found["memory_gib"].key == ("a", "mem_gib")


def test_a_key_that_is_not_there_is_said(tmp_path):
    limits = Limits(parameters={**DEFAULTS, "gpus": Limit(key="resources.gpus")})
    found, notices = find_parameters(ini(tmp_path, "[a]\ngpus = 8\n"), limits)
    assert found == {}
    assert "there is no resources.gpus, which [parameters] gpus key names" in notices[0]


def test_comments_hold_a_value_until_their_day():
    today = datetime.date(2026, 12, 31)
    assert held_by("# jpo: pin", today) == "pinned in config.ini"
    assert held_by("; note #JPO:Pin because of the paper", today) == "pinned in config.ini"
    assert (
        held_by("# jpo: ignore until 2026-01-01 ; jpo: ignore until 2027-01-01", today) == "frozen in config.ini until 2027-01-01"
    )
    assert held_by("# jpo: ignore until 2027-01-01", today) == "frozen in config.ini until 2027-01-01"
    assert held_by("# jpo: ignore until 2026-12-31", today) is None
    assert held_by("# jpo: ignore until summer", today) == "frozen in config.ini until summer"
    assert held_by("# do not pin", today) is None


def test_a_pin_may_stand_on_the_lines_directly_above(tmp_path):
    text = "[a]\n# jpo: pin\n; for the paper\nbatch_size = 8\n# jpo: pin\n\nlr = 0.1\n[b] ; jpo: pin\nepochs = 3\n"
    found, _ = find_parameters(ini(tmp_path, text), Limits())
    held = {name: held_by(f.comment, datetime.date(2026, 12, 31)) for name, f in found.items()}
    assert held == {"batch_size": "pinned in config.ini", "learning_rate": None, "epochs": None}


def test_the_same_values_in_another_order_are_no_change(tmp_path):
    before, after = ini(tmp_path, "[a]\nx = 1\ny = 2\n"), ini(tmp_path, "[a]\ny = 2\nx = 1\n")
    assert list(other_changes(before, after, frozenset())) == []
