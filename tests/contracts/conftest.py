"""Stores of every kind, a PostgreSQL server of one's own, and processes to load them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def own_postgres(start_postgres: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """A server for one test alone, which may stop it; its log is on disk when it says so."""
    with start_postgres() as running:
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
