"""A database that is read where it is, and copied before the first change."""

from __future__ import annotations

from pathlib import Path

from jpo.history.copy_on_write import CopyOnWrite
from jpo.history.database import insert_into
from jpo.history.sqlite import SqliteDatabase, open_database

COUNT = "SELECT count(*) AS agents FROM agents"
AGENT = {"name": "a", "version": 1, "state": b"x"}


def with_an_agent(path: Path) -> SqliteDatabase:
    database = open_database(path, "jpo.db", 1.0)
    database.rows(insert_into("agents", [*AGENT]), AGENT)
    return database


def test_it_is_copied_before_the_first_change_and_no_sooner(tmp_path: Path) -> None:
    source, memory, copied = with_an_agent(tmp_path / "jpo.db"), open_database(None, "memory", 1.0), list[str]()
    copy = CopyOnWrite(source, memory, lambda: copied.append("all"))
    assert copy.rows(COUNT)[0]["agents"] == 1
    assert [tuple(row) for row in copy.each("SELECT name FROM agents")] == [("a",)]
    with copy.snapshot():
        assert copied == []
    for name in "bc":
        with copy.transaction() as changes:
            changes.add(insert_into("agents", [*AGENT]), {**AGENT, "name": name})
    assert (copied, copy.rows(COUNT)[0]["agents"], source.rows(COUNT)[0]["agents"]) == (["all"], 2, 1)
    copy.close()


def test_messages_name_the_original(tmp_path: Path) -> None:
    copy = CopyOnWrite(with_an_agent(tmp_path / "jpo.db"), open_database(None, "memory", 1.0), lambda: None)
    assert copy.place == "jpo.db"
    copy.close()
