"""Where settings and history are found for a config.ini in a folder of the project, and that no history is lost from sight."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.project.checkout.root import about_its_place, folders_up
from jpo.project.load import load

if TYPE_CHECKING:
    from jpo.project.load import LoadedSettings
    from jpo.records import Note


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "jobs" / "train").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(name: str = "jobs/train/config.ini") -> LoadedSettings:
    return load(Path(name), None, {}, {})


def about(settings: LoadedSettings) -> tuple[Note, ...]:
    return about_its_place(settings.store_beside, settings.store_at_root)


def store(folder: Path, text: str = "") -> Path:
    (folder / ".jpo").mkdir(parents=True, exist_ok=True)
    (folder / ".jpo" / "jpo.db").write_text(text)
    return folder / ".jpo" / "jpo.db"


def test_the_history_lies_at_the_root_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = (loaded(), loaded(str(repository / "jobs" / "train" / "config.ini")), loaded("config.ini"))
    assert {found.store_file for found in named} == {repository / ".jpo" / "jpo.db"}
    monkeypatch.chdir(repository / "jobs" / "train")
    assert loaded("config.ini").store_file == load(None, None, {}, {}).store_file == repository / ".jpo" / "jpo.db"


def test_the_nearest_jpo_toml_counts_and_the_history_lies_next_to_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "jpo.toml").write_text('[agent]\nexplore = "off"\n')
    found = loaded()
    assert (found.toml, found.values.agent.explore, found.store_file) == (
        Path("jpo.toml"),
        "off",
        repository / ".jpo" / "jpo.db",
    )
    monkeypatch.chdir(repository / "jobs" / "train")
    assert (loaded("config.ini").toml, loaded("config.ini").store_file) == (
        Path("../../jpo.toml"),
        repository / ".jpo" / "jpo.db",
    )
    monkeypatch.chdir(repository)
    (repository / "jobs" / "jpo.toml").touch()
    assert (loaded().toml, loaded().store_file) == (Path("jobs/jpo.toml"), repository / "jobs" / ".jpo" / "jpo.db")


def test_so_does_the_nearest_pyproject_that_speaks_of_jpo_but_not_above_a_jpo_toml(repository: Path) -> None:
    (repository / "pyproject.toml").write_text('[tool.jpo.agent]\nexplore = "off"\n')
    (repository / "jobs" / "pyproject.toml").write_text("[tool.other]\n")
    assert (loaded().values.agent.explore, loaded().store_file) == ("off", repository / ".jpo" / "jpo.db")
    (repository / "jobs" / "train" / "jpo.toml").touch()
    assert loaded().values.agent.explore == "safe"


def test_without_a_repository_nothing_above_is_looked_at(repository: Path) -> None:
    (repository / ".git").rmdir()
    (repository / "jobs" / "jpo.toml").write_text("[agent]\nexplore = 1\n")
    assert (loaded().toml, loaded().store_file) == (None, repository / "jobs" / "train" / ".jpo" / "jpo.db")


def test_a_repository_of_somebody_else_is_none(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(repository / ".git", 12345, 12345)
    (repository / "jpo.toml").write_text('[check]\ncommand = "rm"\n')
    monkeypatch.chdir(repository / "jobs")
    assert list(folders_up(Path("train"))) == [Path("train")]
    assert loaded("train/config.ini").toml is None


def test_a_history_beside_config_ini_stays_in_use_until_it_is_moved_as_the_line_says(repository: Path) -> None:
    beside = store(repository / "jobs" / "train", "old")
    found = loaded()
    (note,) = about(found)
    assert (found.store_file, note.code) == (beside, "JPO-W860")
    command = note.text.rpartition("keep it: ")[2]
    assert command == "mkdir -p -- .jpo && mv -- jobs/train/.jpo/jpo.db* .jpo/"
    subprocess.run(["sh", "-c", command], check=True, cwd=repository)
    assert (loaded().store_file, about(loaded())) == (repository / ".jpo" / "jpo.db", ())
    assert (repository / ".jpo" / "jpo.db").read_text() == "old"


def test_of_two_histories_the_one_of_this_config_ini_counts_and_the_line_names_both(repository: Path) -> None:
    beside, at_root = store(repository / "jobs" / "train"), store(repository)
    (note,) = about(loaded())
    assert loaded().store_file == beside
    assert "jobs/train/.jpo/jpo.db" in note.text
    assert f"{at_root.relative_to(repository)} at the project's root is another one" in note.text


def test_what_jpo_toml_said_of_its_place_still_holds(repository: Path) -> None:
    """An old history beside config.ini, from before there was a jpo.toml, was not used, and is not used now."""
    store(repository / "jobs" / "train")
    (repository / "jpo.toml").touch()
    assert (loaded().store_file, about(loaded())) == (repository / ".jpo" / "jpo.db", ())
    (repository / "jpo.toml").write_text('[store]\nurl = "sqlite:////var/lib/jpo.db"\n')
    assert (loaded().store_file, about(loaded())) == (Path("/var/lib/jpo.db"), ())


@pytest.mark.parametrize("name", ["a b", "it's", "$(touch x)", "-n"])
def test_the_command_moves_it_whatever_the_folder_is_called(repository: Path, name: str) -> None:
    store(repository / name)
    command = about(loaded(f"{name}/config.ini"))[0].text.rpartition("keep it: ")[2]
    assert shlex.split(command)[:3] == ["mkdir", "-p", "--"]
    subprocess.run(["sh", "-c", command], check=True, cwd=repository)
    assert (repository / ".jpo" / "jpo.db").exists()
    assert not (repository / "x").exists()
