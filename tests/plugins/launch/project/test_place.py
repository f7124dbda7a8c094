"""The ledger is where a new store would be."""

from pathlib import Path

from jpo.plugins.launch.project.place import ledger_of
from jpo.project.load import load


def test_the_ledger_is_beside_the_store(tmp_path: Path) -> None:
    (tmp_path / "config.ini").touch()
    (tmp_path / "jpo.toml").touch()
    assert ledger_of(load(tmp_path / "config.ini", None, {}, {})) == tmp_path / ".jpo/launches"
