"""Commands whose store stands still: in time, and truthfully. PostgreSQL falls silent, or is gone, at some byte of what is said.

Points are taken from all over the conversation, and all of its end. benchmarks/freezes.py takes every one, of every command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from freezing import Direction, freezing

from jpo.history import open_store, verify

if TYPE_CHECKING:
    from user_project import Project

SUGGEST = ("suggest", "config.ini", "--explore", "off", "--no-learn")
TIMEOUT_SECONDS = 0.4
ALLOWANCE_SECONDS = 5.0
SHARES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.985, 1.0)
"""Where the conversation stops, as shares of its pieces."""

HOLDS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("holds", flush=True)
input()
"""


def new_database(postgres: Any) -> tuple[str, str, Path]:
    url = str(postgres.new_database())
    return url, url.partition("@/")[2].partition("?")[0], Path(url.partition("host=")[2])


@pytest.fixture
def points(project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Direction, int]]:
    """The first bytes of each piece of an undisturbed conversation."""
    monkeypatch.setenv("JPO_STORE__TIMEOUT", f"{TIMEOUT_SECONDS}s")
    before = project.config.read_bytes()
    _, database, folder = new_database(postgres)
    with freezing(folder, database) as route:
        monkeypatch.setenv("JPO_STORE__URL", route.url)
        assert project.jpo(*SUGGEST).code == 0
    project.config.write_bytes(before)
    return route.pieces


@pytest.mark.parametrize("dead", [False, True])
def test_suggest_ends_in_time_and_says_what_is_true(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch, points: list[tuple[Direction, int]], dead: bool
) -> None:
    before, codes = project.config.read_bytes(), set()
    for share in SHARES:
        direction, byte = points[round(share * (len(points) - 1))]
        url, database, folder = new_database(postgres)
        project.config.write_bytes(before)
        with freezing(folder, database, (direction, byte + 3), dead=dead) as route:
            monkeypatch.setenv("JPO_STORE__URL", route.url)
            began = time.monotonic()
            answer = project.jpo(*SUGGEST)
        assert time.monotonic() - began < TIMEOUT_SECONDS + ALLOWANCE_SECONDS
        changed = project.config.read_bytes() != before
        assert (answer.code, answer.err.count("\n")) == ((0, 0) if changed else (5, 1)), (direction, byte, answer)
        monkeypatch.setenv("JPO_STORE__URL", url)
        with open_store(url) as store:
            assert verify(store).ok
        codes.add(answer.err.rpartition("[")[2][:8])
    assert "JPO-E513" in codes if dead else "JPO-E522" in codes


def test_what_the_history_was_not_told_is_found_in_the_file_and_put_on_record(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch, points: list[tuple[Direction, int]]
) -> None:
    url, database, folder = new_database(postgres)
    last_message = [byte for direction, byte in points if direction == "to server"][-2]  # the last one says good-bye
    with freezing(folder, database, ("to server", last_message)) as route:
        monkeypatch.setenv("JPO_STORE__URL", route.url)
        answer = project.jpo(*SUGGEST, "-o", "json")
    assert (answer.code, '"JPO-W524"' in answer.out) == (0, True)
    monkeypatch.setenv("JPO_STORE__URL", url)
    told = " ".join(project.jpo("explain").out.split())
    assert "there is no record that it was written, but config.ini contains its values" in told
    assert "1 value written" in told
    assert "config.ini contains its values" in " ".join(project.jpo("history").out.split())
    assert "config.ini contains its values" in " ".join(project.jpo("audit", "verify").out.split())
    assert project.jpo("observe").code == 0
    assert "written into config.ini on" in " ".join(project.jpo("explain").out.split())
    assert "not on record" not in project.jpo("audit", "verify").out
    with open_store(url) as store:
        (*_, found) = store.audit_records()
        assert (found.kind, found.data["found_later"]) == ("written", True)


def test_a_stopped_process_that_holds_the_file_stops_no_reader_and_a_writer_for_the_timeout(
    project: Project, start_python: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPO_STORE__TIMEOUT", f"{TIMEOUT_SECONDS}s")
    assert project.jpo("observe").code == 0
    before = project.config.read_bytes()
    holder = start_python(HOLDS, str(project.folder / ".jpo" / "jpo.db"))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holds\n"
    os.kill(holder.pid, signal.SIGSTOP)
    began = time.monotonic()
    answer = project.jpo(*SUGGEST)
    assert (answer.code, "JPO-E501" in answer.err, project.config.read_bytes() == before) == (5, True, True)
    assert [project.jpo(*reader.split()).code for reader in ("history", "audit verify")] == [0, 0]
    assert time.monotonic() - began < TIMEOUT_SECONDS + ALLOWANCE_SECONDS
    os.kill(holder.pid, signal.SIGCONT)
    holder.communicate("\n", timeout=120)
    assert project.jpo(*SUGGEST).code == 0
