"""The limits that the second look finds by itself are those that jpo goes by: both searches, each written on its own, agree."""

from __future__ import annotations

import datetime
import itertools
import re
from pathlib import Path

import pytest

from constraints.second_look import main, read_limits
from constraints.settings_files import files_for, read_tables, tables_of
from jpo.errors import UsageError
from jpo.project.load import load
from jpo.project.workload import limits_of

PLACES = [Path(folder) / name for folder in ("", "jobs", "jobs/train") for name in ("jpo.toml", "pyproject.toml")]
BEFORE = "[training]\nbatch_size = 64\n"


def settings_file(path: Path, number: int) -> None:
    """A file with limits that every file has, and one that only those of its name have."""
    table, least = ("tool.jpo.", ", min = 2") if path.name == "pyproject.toml" else ("", "")
    path.write_text(
        f"[{table}parameters]\nbatch_size = {{ max = {100 + number} }}\ncpus = {{ max = {10 + number}{least} }}\n"
        f"[{table}quota]\n{'gpus' if least else 'cpus'} = {number + 1}\n"
    )


@pytest.mark.parametrize(
    "there", [c for n in range(4) for c in itertools.combinations(PLACES, n)], ids=lambda c: " ".join(map(str, c))
)
@pytest.mark.parametrize("repository", [True, False])
def test_both_searches_find_the_same_limits(tmp_path, monkeypatch, there, repository):
    (tmp_path / "jobs" / "train").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    if repository:
        (tmp_path / ".git").mkdir()
    for place in there:
        settings_file(tmp_path / place, PLACES.index(place))
    (tmp_path / "jobs" / "train" / "config.ini").write_text(BEFORE)
    for cwd, config in (("", "jobs/train/config.ini"), ("jobs", "train/config.ini"), ("elsewhere", "../jobs/train/config.ini")):
        monkeypatch.chdir(tmp_path / cwd)
        for path in (Path(config), tmp_path / "jobs" / "train" / "config.ini"):
            limits, _ = read_limits(files_for(path))
            assert limits == limits_of(load(path, None, {}, {})), (cwd, path, files_for(path))


@pytest.mark.parametrize("given", ["other.toml", "jobs/jpo.toml"])
def test_a_named_file_stands_in_for_jpo_toml_and_not_for_pyproject_toml(tmp_path, monkeypatch, given):
    (tmp_path / ".git").mkdir()
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path)
    for number, place in enumerate(("jobs/pyproject.toml", "pyproject.toml", "jpo.toml", given)):
        settings_file(Path(place), number)
    Path("jobs/config.ini").write_text(BEFORE)
    files = files_for(Path("jobs/config.ini"), [Path(given)])
    assert read_limits(files)[0] == limits_of(load(Path("jobs/config.ini"), Path(given), {}, {}))
    assert [str(path) for path in files] == ["jobs/pyproject.toml", given]


def test_the_second_look_sees_a_limit_that_stands_below_jpo_toml(tmp_path, capsys):
    """A pyproject.toml holds the parameters, a jpo.toml above it the rest: one file alone would have let the step pass."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.jpo.parameters]\nbatch_size = { max = 100 }\n")
    (tmp_path / "jpo.toml").write_text("[prices]\nusd_per_cpu_hour = 0.04\n")
    before, after = tmp_path / "config.ini", tmp_path / "after.ini"
    before.write_text(BEFORE)
    after.write_text(BEFORE.replace("64", "128"))
    today = datetime.date(2026, 12, 31)
    assert main([str(before), str(after), "--limits-of", str(before)], today) == 1
    assert "above 100" in capsys.readouterr().out
    alone = [str(before), str(after), "--limits", str(tmp_path / "jpo.toml")]
    assert main(alone, today) == 0, "a file that is named alone counts alone: that of a protected branch"
    assert main([*alone, "--limits", str(tmp_path / "pyproject.toml")], today) == 1


def test_a_mistyped_name_does_not_weaken_the_limits(tmp_path, capsys):
    before = tmp_path / "config.ini"
    before.write_text(BEFORE)
    (tmp_path / "jpo.toml").write_text("[parameters]\nbatch_size = { max = 32 }\n")
    assert (
        main([str(before), str(before), "--limits-of", str(tmp_path / "jobs" / "config.ini")], datetime.date(2026, 12, 31)) == 2
    )
    assert "is not a file; name the config.ini" in capsys.readouterr().err


def test_a_repository_of_somebody_else_is_not_believed_in(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    settings_file(tmp_path / "jpo.toml", 0)
    (tmp_path / "jobs").mkdir()
    assert files_for(tmp_path / "jobs" / "config.ini") == [tmp_path / "jpo.toml"]
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    monkeypatch.setattr(Path, "stat", _of_another(Path.stat, tmp_path / "jobs"))
    assert files_for(tmp_path / "jobs" / "config.ini") == []
    with pytest.raises(UsageError):
        load(tmp_path / "jobs" / "config.ini", tmp_path / "missing.toml", {}, {})


def _of_another(stat, folder):
    class Owned:
        def __init__(self, real, owner):
            self.st_uid, self.st_mode = owner, real.st_mode

    return lambda path, **how: Owned(stat(path, **how), 4712 if path == folder else 0)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("[tool.JPO.quota]\ngpus = 3\n", "pyproject.toml: [tool.JPO]: would be passed over with its limits; write [tool.jpo]"),
        ("[tool]\njpo = 3\n", "pyproject.toml: [tool.jpo]: 3 is not a table"),
        ("tool = 3\n", "pyproject.toml: [tool]: 3 is not a table"),
        (f"[tool.jpo.{'.'.join('a' * 2000)}]\n", "pyproject.toml: "),
        ("[tool.jpo.parameters]\nbatch_size = { max = 'x' }\n", "jpo.toml over "),
    ],
)
def test_what_cannot_be_understood_is_an_error_with_its_place(tmp_path, text, finding):
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "jpo.toml").write_text("")
    with pytest.raises(ValueError, match=re.escape(finding)):
        read_limits(files_for(tmp_path / "config.ini"))


def test_tables_are_laid_over_each_other_key_by_key(tmp_path):
    (tmp_path / "a.toml").write_text("[x]\na = 1\nb = { c = 1, d = 2 }\n")
    (tmp_path / "b.toml").write_text("[x]\nb = { c = 3 }\n[y]\nz = 1\n")
    assert tables_of([tmp_path / "a.toml", tmp_path / "b.toml"]) == {"x": {"a": 1, "b": {"c": 3, "d": 2}}, "y": {"z": 1}}


@pytest.mark.parametrize("text", ['["hunter2"]\n["hunter2"]\n', 'a = { "hunter2" = 1, "hunter2" = 2 }\n'])
def test_names_of_tables_and_keys_are_not_repeated(text: str, tmp_path: Path) -> None:
    (tmp_path / "jpo.toml").write_text(text)
    with pytest.raises(ValueError, match=r"is not TOML \(.* a name.* \(at line ") as caught:
        read_tables(tmp_path / "jpo.toml")
    assert "hunter2" not in str(caught.value)
