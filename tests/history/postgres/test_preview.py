"""A preview on a real server; what every store must do is in tests/contracts."""

from __future__ import annotations

from typing import Any

from made import DIGITS, a_run

from jpo.history import open_store
from jpo.records import Finished


def test_only_what_changes_and_the_last_row_are_held_here(postgres: Any) -> None:
    url = postgres.new_database()
    with open_store(url) as store:
        store.record(Finished(tuple(a_run(f"r{number}", 200.0 + number) for number in range(50))), now=300.0)
    with open_store(url, read_only=True) as store:
        store.record(Finished((a_run("new", 400.0),)), now=500.0)
        preview: Any = store.database
        held = preview._memory.rows("SELECT run_id FROM runs ORDER BY number")
        assert ([row["run_id"] for row in held], len(store.runs_of(DIGITS))) == (["r49", "new"], 51)
