from __future__ import annotations

from pathlib import Path

from jpo.project.launch.engines import ENGINES, ledger_of
from jpo.project.load import load
from jpo.project.tables.launch import Engine


def test_every_engine_that_jpo_toml_may_name_can_be_made() -> None:
    assert set(ENGINES) == set(Engine.__args__)  # type: ignore[attr-defined]


def test_the_ledger_is_beside_the_store(tmp_path: Path) -> None:
    (tmp_path / "config.ini").touch()
    (tmp_path / "jpo.toml").touch()
    assert ledger_of(load(tmp_path / "config.ini", None, {}, {})) == tmp_path / ".jpo/launches"
