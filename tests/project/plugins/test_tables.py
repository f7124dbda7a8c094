from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from constraints.unknown import SECTIONS
from jpo.plugins.launch.settings import LaunchTable
from jpo.project.load import load, merge
from jpo.project.plugins.tables import settings_model, settings_schema
from jpo.project.settings import Settings


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
    settings = merge([("here", {"launch": {"on": "slurm"}})], root=tmp_path, toml=None)
    assert settings.table("launch", LaunchTable).on == "slurm"


def test_the_schema_has_all_tables_in_the_order_of_the_guard() -> None:
    tables = [*settings_schema()["properties"]]
    assert tables == [name for name in SECTIONS if name in tables]
    assert set(tables) == {*SECTIONS} - {"plugins"}
