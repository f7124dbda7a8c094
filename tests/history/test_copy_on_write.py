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


def test_changes_stay_in_memory(tmp_path: Path) -> None:
    source = with_an_agent(tmp_path / "jpo.db")
    copy = CopyOnWrite(source, open_database(None, "memory", 1.0))
    with copy.transaction():
        copy.rows(insert_into("agents", [*AGENT]), {**AGENT, "name": "b"})
    assert (copy.rows(COUNT)[0]["agents"], source.rows(COUNT)[0]["agents"]) == (2, 1)
    copy.close()


def test_nothing_is_copied_as_long_as_it_is_only_read(tmp_path: Path) -> None:
    memory = open_database(None, "memory", 1.0)
    copy = CopyOnWrite(with_an_agent(tmp_path / "jpo.db"), memory)
    assert copy.rows(COUNT)[0]["agents"] == 1
    assert [tuple(row) for row in copy.each("SELECT name FROM agents")] == [("a",)]
    with copy.snapshot():
        assert memory.rows(COUNT)[0]["agents"] == 0
    copy.close()


def test_messages_name_the_original(tmp_path: Path) -> None:
    copy = CopyOnWrite(with_an_agent(tmp_path / "jpo.db"), open_database(None, "memory", 1.0))
    assert copy.place == "jpo.db"
    copy.close()
