from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

POSTGRESQL = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "apparatus" / "postgresql.py"))


def test_what_a_failing_command_prints_is_in_the_error() -> None:
    with pytest.raises(RuntimeError, match="no space left"):
        POSTGRESQL["run_unprivileged"](["sh", "-c", "echo no space left >&2; exit 1"])


def test_each_new_database_is_another_one(postgres: Any) -> None:
    first, second = postgres.new_database(), postgres.new_database()
    assert first != second
    assert postgres.sql("SELECT 6 * 7", "postgres") == "42"
