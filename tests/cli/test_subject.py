"""CONFIG.INI comes first in every command, and a path in the place of an id (or the other way round) gets a clear answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_lines import leaves

from jpo.cli.main import cli
from jpo.cli.subject import config_and_id, config_first, looks_like_config, looks_like_config_file, named_once
from jpo.errors import UsageError

ID = "20261121-060000-3fa9c1"
WITHOUT = {"completion", "lab simulate", "prices refresh", "config schema", "lab replay"}
"""Commands that are about no config.ini, or (replay) about any number of traces and config.inis; so are the labs'."""
LABS = ("cluster ", "phases ")


@pytest.mark.parametrize(("name", "command"), [one for one in leaves() if one[0] not in WITHOUT and not one[0].startswith(LABS)])
def test_every_command_takes_config_ini_in_the_first_place(name: str, command: click.Command) -> None:
    first = next(parameter for parameter in command.params if isinstance(parameter, click.Argument))
    assert str(first.metavar).startswith("[CONFIG.INI]"), name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (None, None)),
        ([ID], (None, ID)),
        (["train/config.ini"], (Path("train/config.ini"), None)),
        (["train/config.ini", ID], (Path("train/config.ini"), ID)),
        (["here"], (Path("here"), None)),
        (["a/b"], (Path("a/b"), None)),
        (["JOB.CFG", "x"], (Path("JOB.CFG"), "x")),
    ],
)
def test_a_path_is_told_from_an_id(
    words: Sequence[str], expected: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").touch()
    assert config_and_id(words, "ID", looks_like_config) == expected


def test_a_run_may_be_called_like_a_path_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for run in ("team/run-3", "", "train", "\0", "x" * 5000):
        assert config_and_id([run], "RUN", looks_like_config_file) == (None, run)
    assert config_and_id(["a.ini", "b.ini"], "RUN", looks_like_config_file) == (Path("a.ini"), "b.ini")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([ID, "a.ini"], f"write CONFIG.INI first: a.ini {ID}"),
        (["a.ini", "b.ini"], "write [CONFIG.INI] [ID]"),
        (["a", "b", "c"], "write [CONFIG.INI] [ID]"),
        (["jpo.toml"], "did you mean --config jpo.toml?"),
    ],
)
def test_another_order_is_answered_with_the_right_one(words: Sequence[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        config_and_id(words, "ID", looks_like_config)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["suggest", "check", "doctor", "learn", "history", "config show", "audit show"])
def test_an_id_is_no_config_ini(name: str) -> None:
    caught = CliRunner().invoke(cli, [*name.split(), ID]).exception
    assert isinstance(caught, UsageError)
    assert f"jpo explain {ID}" in str(caught)


def test_files_come_after_it() -> None:
    assert config_first(["a.ini", "runs.csv"], 1) == (Path("a.ini"), ["runs.csv"])
    assert config_first(["runs.csv"], 1) == (None, ["runs.csv"])
    assert config_first(["a.ini"], 1) == (None, ["a.ini"])
    assert config_first(["a.ini"], 0) == (Path("a.ini"), [])


def test_for_says_the_same_and_not_something_else() -> None:
    assert named_once(None, Path("a.ini")) == named_once(Path("a.ini"), Path("a.ini")) == Path("a.ini")
    with pytest.raises(UsageError, match="name one of them"):
        named_once(Path("a.ini"), Path("b.ini"))


def test_a_workload_of_its_own_is_shown_alone(jpo: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "other.ini").write_text((tmp_path / "config.ini").read_text().replace("cnn", "mlp"))
    for name in ("config.ini", "other.ini"):
        jpo("observe", name, f"run-of-{name[:-4]}", "--metric", "duration_seconds=9")
        jpo("suggest", name, "--offline", "--no-learn")
    assert "digits/mlp" not in jpo("history", "config.ini")
    assert "run-of-other" in jpo("history", "other.ini", "-o", "csv")
    assert "digits/cnn" in jpo("explain", "config.ini", "--offline")
    assert "digits/mlp" in jpo("explain", "other.ini", "--offline")
    assert "digits/cnn" in jpo("comment", "config.ini", "--dry-run")
    assert "digits/mlp" in jpo("explain", "--offline")


def test_an_id_of_bytes_that_are_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'a\\udcff': is not UTF-8, as each ID is; see `jpo history`"):
        config_and_id(["a\udcff"], "ID", looks_like_config)
