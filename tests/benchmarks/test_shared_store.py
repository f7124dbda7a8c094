"""The shared store's benchmark: that it runs, and that its claim is computed as the text says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "shared_store.py"
STORE = runpy.run_path(str(SCRIPT))
Result = STORE["Result"]


@pytest.mark.slow
def test_two_processes_on_each_database_lose_nothing() -> None:
    pytest.importorskip("psycopg", reason='pip install "jpo[postgres]"')
    command = [sys.executable, SCRIPT, "--processes", "2", "--observations", "6", "--json"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    results = json.loads(process.stdout)["results"]
    assert {"SQLite, naively", "SQLite, JPO", "SQLite, JPO, a writer killed"} <= set(results)
    assert len(results) == (3 if STORE["POSTGRESQL"]["missing"]() else 7)
    assert min(one["seconds"] for one in results.values()) > 0


@pytest.mark.parametrize("result", [Result(1, 0, 0, 1.0), Result(0, 1, 0, 1.0), Result(0, 0, 1, 1.0)])
def test_the_claim_is_that_jpo_loses_doubles_and_breaks_nothing(result: object) -> None:
    good = Result(0, 0, 0, 2.0)
    assert STORE["claim"]({"SQLite, naively": result, "SQLite, JPO": good}) is True
    assert STORE["claim"]({"SQLite, naively": good, "SQLite, JPO": result}) is False
    assert "| SQLite, JPO | 0 | 0 | 0 | 2.00 | 2.00 |" in STORE["table"](
        {"SQLite, naively": result, "SQLite, JPO": good}, True, 2, 6
    )
