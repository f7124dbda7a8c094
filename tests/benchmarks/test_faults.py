"""Some faults of each command that writes; benchmarks/faults.py takes every one. docs/reliability.md has their number."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAULTS = runpy.run_path(str(ROOT / "benchmarks" / "faults.py"))
COMMANDS = FAULTS["COMMANDS"]
ON_A_SERVER = ("suggest", "observe", "import", "state import")
"""Commands that are tried on PostgreSQL here, too; a server takes seconds to start."""
ALWAYS = ("suggest", "rollback")
"""Commands of which the rename of a file, and what follows it, is always tried."""
MOST_EACH = 2
"""Faults of each command and store that are tried here, taken evenly from all."""
TOLERANCE, WAITING_TOLERANCE, FEW = 0.15, 0.5, 25
"""By how much the number of calls differs between releases of Python, SQLite and libpq; where it waits or learns; at least."""
WAITING = ("learn", "run", "optimize", "watch --apply")
FIRST = (("SQLite", "suggest"), ("SQLite", "observe"), ("SQLite", "rollback"), ("PostgreSQL", "suggest"))
"""Played in every `make test`: what writes config.ini, what reads the runs, and a server; the others in `make slow`."""
COMBINATIONS = [
    pytest.param(store, command, marks=() if (store, command) in FIRST else pytest.mark.slow)
    for store in FAULTS["stores"]()
    for command in COMMANDS
    if store == "SQLite" or command in ON_A_SERVER
]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    if (package := FAULTS["missing"]()) is not None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"strace not found: apt-get install {package}")
    for name in ("PROMETHEUS_URL", "CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)


def chosen(command: str, faults: list[Any]) -> list[Any]:
    most = 1 if command in WAITING else MOST_EACH
    some = faults[len(faults) // (2 * most) :: max(1, len(faults) // most)][:most]
    renames = [fault for fault in faults if fault.call == "rename" and fault not in some] if command in ALWAYS else []
    return [*some, *renames]


@pytest.mark.parametrize(("store", "command"), COMBINATIONS)
def test_whatever_call_fails_every_promise_holds_and_the_page_counts_them(store: str, command: str) -> None:
    if command == "learn":
        pytest.importorskip("torch", reason="torch is not installed")
    with FAULTS["bench"](store, COMMANDS[command]) as place:
        faults, wanted = FAULTS["possible"](place, COMMANDS[command])
        befallen = [FAULTS["befall"](place, COMMANDS[command], fault, wanted) for fault in chosen(command, faults)]
    assert [one for found in befallen for one in found] == []
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {re.escape(command)} \|(.*)\|$", page, re.MULTILINE)
    assert row is not None
    told = int(row[1].split("|")[FAULTS["STORES"].index(store)].replace(",", ""))
    assert abs(len(faults) - told) <= max(FEW, (WAITING_TOLERANCE if command in WAITING else TOLERANCE) * told)


def test_what_a_command_leaves_half_done_is_found() -> None:
    """Each of the ways in which the end of a command is not as promised."""
    command, ended = COMMANDS["suggest"], FAULTS["Ended"]
    old, new = {"config.ini": b"old"}, {"config.ini": b"new"}
    assert FAULTS["wrong"](command, ended(0, "", ""), old, new, new) == []
    assert FAULTS["wrong"](command, ended(5, "", ""), old, new, old) == []
    assert FAULTS["wrong"](command, ended(0, "", ""), old, new, old) == ["ended with 0, and config.ini is the old one"]
    assert FAULTS["wrong"](command, ended(5, "", ""), old, new, new) == ["ended with 5, and config.ini is the new one"]
    assert FAULTS["wrong"](command, ended(1, "", ""), old, new, old) == ["ended with 1"]
    (torn,) = FAULTS["wrong"](command, ended(-9, "", ""), old, new, {"config.ini": b"ne"})
    assert torn == "config.ini is neither the old nor the new one: b'ne'"
