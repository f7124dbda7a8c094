"""The benchmark of the audit log: that it runs, and that both ways find the same head."""

from __future__ import annotations

import json
import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "audit.py"
AUDIT = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_a_short_log_is_verified_both_ways() -> None:
    command = [sys.executable, SCRIPT, "--records", "40", "--runs", "1", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = json.loads(result.stdout)
    assert figures["records"] == 40
    assert min(figures["jpo"], figures["naive"]) > 0
    assert (result.returncode == 0) == figures["holds"] == (figures["jpo"] * 2500 <= 3.0)


def test_a_log_that_was_altered_is_not_measured(tmp_path: Path) -> None:
    head = AUDIT["write"](tmp_path / "jpo.db", 9)
    connection = sqlite3.connect(tmp_path / "jpo.db")
    with connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        connection.execute("UPDATE audit SET kind = 'x' WHERE number = 5")
    connection.close()
    for way in ("by_jpo", "naively"):
        with pytest.raises(SystemExit, match=r"found head|record 5 does not fit"):
            AUDIT["seconds"](AUDIT[way], tmp_path / "jpo.db", head)


def test_the_ratio_is_relative_to_jpo() -> None:
    text = AUDIT["table"]({"jpo": 0.5, "naive": 2.0, "megabytes": 1.0}, 1000, True)
    assert "| 0.50 | 2,000 | 1.0 |" in text
    assert "| 2.00 | 500 | 4.0 |" in text
