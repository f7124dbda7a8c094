"""The case of a doctor: each thing is read once, when a check first asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.commands.doctor.case import Case, exists
from jpo.errors import JpoError, UsageError
from jpo.project.load import LoadedSettings, load

if TYPE_CHECKING:
    from user_project import Project


def test_settings_are_read_once_and_not_before_they_are_needed(empty: Project) -> None:
    calls: list[str] = []

    def noted() -> LoadedSettings:
        calls.append("read")
        return load(None, None, {}, {})

    case = Case(None, noted, {}, now=0.0, offline=True)
    assert calls == []
    assert case.settings is case.settings
    assert case.config.name == "config.ini"
    assert calls == ["read"]


def test_settings_that_cannot_be_read_raise_for_every_check_that_needs_them(empty: Project) -> None:
    (empty.folder / "jpo.toml").write_text("not toml")
    case = Case(None, lambda: load(None, None, {}, {}), {}, now=0.0, offline=True)
    for _ in range(2):
        with pytest.raises(UsageError):
            _ = case.workload


def test_a_config_ini_that_is_named_wins_over_that_of_the_settings(case: Case) -> None:
    assert Case(Path("other.ini"), case.load, {}, now=0.0, offline=True).config == Path("other.ini")


def test_the_workload_has_no_identity_while_config_ini_is_invalid(case: Case, empty: Project) -> None:
    empty.config.write_text("[workload]\n")
    assert case.identity is None
    with pytest.raises(JpoError):
        _ = case.workload


def test_a_file_behind_a_closed_folder_or_without_a_possible_name_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert exists(tmp_path / "file")
    assert [exists(Path(name)) for name in (f"{tmp_path}/file/below", "a\0b", f"{tmp_path}/{'x' * 300}")] == [False] * 3
