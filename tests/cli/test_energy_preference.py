"""`--prefer energy=1` where no run has measured energy: it is said, and no number is claimed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jpo.__main__ import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "quickstart"


def test_no_change_is_claimed_that_nothing_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "project")
    config = str(tmp_path / "project" / "config.ini")
    assert run(["suggest", config, "--offline", "--no-learn", "--dry-run", "--prefer", "energy=1", "-o", "json"]) == 0
    shown = capsys.readouterr().out
    assert "JPO-W802" in shown
    assert shown.count("energy") == 1, "the preference"
