"""A real PostgreSQL server for the session, and processes to load it."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
POSTGRESQL = runpy.run_path(str(REPOSITORY / "benchmarks" / "postgresql.py"))
Start = Callable[..., subprocess.Popen[str]]


def needs_postgres() -> None:
    """Skip where there is no server to test with; in CI that is an error."""
    pytest.importorskip("psycopg", reason='pip install "jpo[postgres]"')
    if POSTGRESQL["missing"]():
        reason = "PostgreSQL not found: apt-get install postgresql"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A running server (benchmarks/postgresql.py) that need not survive a power cut."""
    needs_postgres()
    with POSTGRESQL["server"]("-c fsync=off -c log_min_messages=fatal") as running:
        yield running


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """A server for one test alone, which may stop it; its log is on disk when it says so."""
    needs_postgres()
    with POSTGRESQL["server"]() as running:
        yield running


@pytest.fixture
def url_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """`url_of("postgresql")`: the URL of a new, empty store of this kind; memory, file or server."""

    def new(kind: str) -> str:
        if kind == "postgresql":
            return str(request.getfixturevalue("postgres").new_database())
        return "sqlite://" if kind == "sqlite in memory" else f"sqlite:///{tmp_path}/new/jpo.db"

    return new


@pytest.fixture
def start_python() -> Iterator[Start]:
    """Starts `python -c program arguments...` from the repository; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
