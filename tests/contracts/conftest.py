"""Stores of every kind, and a PostgreSQL server of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest


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
