"""Some faults of each command on each store; benchmarks/faults.py takes every one. docs/reliability.md has their number."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAULTS = runpy.run_path(str(ROOT / "benchmarks" / "faults.py"))
MOST_EACH = 5
"""Faults of each command and store that are tried here, taken evenly from all; the rename and what follows it always."""
TOLERANCE = 0.15
"""By how much the number of system calls differs between releases of Python, SQLite and libpq."""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    if (package := FAULTS["missing"]()) is not None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"strace not found: apt-get install {package}")
    for name in ("PROMETHEUS_URL", "CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)


def chosen(faults: list[Any]) -> list[Any]:
    some = faults[:: max(1, len(faults) // MOST_EACH)]
    return [*some, *(fault for fault in faults if fault.call == "rename" and fault not in some)]


@pytest.mark.parametrize("store", FAULTS["stores"]())
@pytest.mark.parametrize("command", FAULTS["COMMANDS"])
def test_whatever_call_fails_every_promise_holds_and_the_page_counts_them(store: str, command: str) -> None:
    with FAULTS["bench"](store, command) as place:
        faults, wanted = FAULTS["possible"](place, command)
        assert [one for fault in chosen(faults) for one in FAULTS["befall"](place, command, fault, wanted)] == []
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {store} \|(.*)\|$", page, re.MULTILINE)
    assert row is not None
    told = int(row[1].split("|")[[*FAULTS["COMMANDS"]].index(command)].replace(",", ""))
    assert abs(len(faults) - told) <= TOLERANCE * told
