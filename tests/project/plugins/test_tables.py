from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from constraints.unknown import SECTIONS
from jpo import plugin
from jpo.errors import UsageError
from jpo.plugins.launch.settings import LaunchTable
from jpo.project.load import load, merge
from jpo.project.plugins import tables
from jpo.project.plugins.tables import settings_model, settings_schema
from jpo.project.settings import Settings
from jpo.project.tables.faults import Origin


def test_a_table_is_imported_where_it_stands_alone() -> None:
    assert settings_model({}) is Settings
    code = (
        "import sys; from jpo.project.plugins.tables import settings_model; settings_model({'agent'});"
        "print([name for name in sys.modules if name.endswith('.settings') and 'jpo.plugins' in name])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_table_that_is_not_there_has_its_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "config.ini", None, {}, {}).table("launch", LaunchTable) == LaunchTable()


def test_a_table_that_is_there_is_validated(tmp_path: Path) -> None:
    settings = merge([(Origin("file", "here"), {"launch": {"on": "slurm"}})], root=tmp_path, toml=None)
    assert settings.table("launch", LaunchTable).on == "slurm"


def test_the_schema_has_all_tables_in_the_order_of_the_guard() -> None:
    found = [*settings_schema()["properties"]]
    assert found == [name for name in SECTIONS if name in found]
    assert set(found) == {*SECTIONS} - {"plugins"}


def test_a_table_of_a_plugin_that_is_broken_or_not_here_is_unknown_and_no_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = plugin.Plugin("odd", settings={"odd": "no.such.module:Table"})
    monkeypatch.setattr(plugin, "others", lambda: (broken,))
    tables._tables_of_others.cache_clear()
    tables._made.cache_clear()
    for name in ("odd", "nowhere"):
        with pytest.raises(UsageError, match=rf"unknown key \[plugins\] {name}"):
            merge([(Origin("file", "here"), {"plugins": {name: {"a": 1}}})], root=tmp_path, toml=None)
    assert "plugins" not in settings_schema()["properties"]
    tables._tables_of_others.cache_clear()
    tables._made.cache_clear()
