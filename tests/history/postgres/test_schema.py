"""PostgreSQL's tables have the columns of SQLite's."""

from __future__ import annotations

import itertools
import re
import sqlite3

from jpo.history.migrations import migrate
from jpo.history.postgres.schema import MIGRATIONS


def columns_of_sqlite() -> dict[str, set[str]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, "memory")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")} for table in tables}
    connection.close()
    return columns


def columns_of_postgres() -> dict[str, set[str]]:
    created = [statement for step in MIGRATIONS for statement in step if statement.strip().startswith("CREATE TABLE")]
    columns = {
        re.search(r"CREATE TABLE (\w+)", statement)[1]: set(re.findall(r"^\s+([a-z_0-9]+)\s+[A-Z]", statement, re.MULTILINE))  # type: ignore[index]
        for statement in created
    }
    for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", "\n".join(itertools.chain(*MIGRATIONS))):
        columns[table].add(column)
    return columns


def test_the_same_tables_have_the_same_columns() -> None:
    assert columns_of_postgres() == columns_of_sqlite()


def test_text_sorts_by_its_bytes_wherever_rows_are_sorted_by_it() -> None:
    tables = "".join(statement for step in MIGRATIONS for statement in step)
    assert not re.search(r"^\s+(dataset|model|framework|hardware|run_id|suggestion_id)\s+TEXT NOT NULL", tables, re.MULTILINE)
