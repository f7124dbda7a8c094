"""Preview of changes on a server where nothing may be written: for a dry run, and for roles and servers that only read.

What changes is in an SQLite database of its own, with each row of the server that changed, or after which numbers go on. The
server gets these rows as settings of the session, and lays them over a table wherever a statement reads it. So what is held
here grows with the changes alone. From the first of them on, everything is read as it was at that moment. A transaction that is
undone in the end would need more rights, and have every writer wait for it, since numbers are unique.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from jpo.history.canonical import canonical
from jpo.history.database import AT_ONCE, Changes, Database, Link, TableRow, insert_into, select_all
from jpo.history.postgres.session import escaped
from jpo.history.rows import TABLES
from jpo.history.sqlite import SqliteDatabase

_LAST = {name: f"number = (SELECT max(number) FROM {name})" for name in ("suggestions", "runs", "audit")}
_NAMED = {
    "suggestions": "suggestion_id = ANY(:texts)",
    "runs": "run_id = ANY(:texts)",
    "series": "run IN (SELECT number FROM runs WHERE run_id = ANY(:texts))",
    "watermarks": "dataset = ANY(:texts)",
    "agents": "name = ANY(:texts)",
}
"""The rows that a change may be about that has these texts among its values."""
_AS_CHANGED = """
    {0} AS (SELECT * FROM jpo.{0} WHERE ({1}) NOT IN (SELECT {1} FROM json_populate_recordset(NULL::jpo.{0}, {2}_before')::json))
            UNION ALL SELECT * FROM json_populate_recordset(NULL::jpo.{0}, {2}_after')::json))
"""


class Preview:
    """A Database (database.py) over `server`, which is only read; `memory`: an empty one for what is changed.

    Time series that are old are counted when they are deleted, and stay.
    """

    def __init__(self, server: Database, memory: SqliteDatabase) -> None:
        self._server, self._memory, self.place, self._until_closed = server, memory, server.place, ExitStack()
        self._until_closed.callback(memory.close)
        self._until_closed.callback(server.close)
        self._taken: dict[str, set[tuple[Any, ...]]] = {}  # by table, the keys of the server's rows that are in memory
        self._changed, self._untold = set[str](), set[str]()  # tables; the server does not know how the latter are now

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> Sequence[TableRow]:
        return self._server.rows(self._as_changed(statement), values or {})

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        return self._server.each(self._as_changed(statement))

    def _as_changed(self, statement: str) -> str:
        read = sorted(self._changed.intersection(re.findall(r"(?:FROM|JOIN) (\w+)", statement)))
        for name in self._untold.intersection(read):
            self._show(name)
        over = [_AS_CHANGED.format(name, TABLES[name].order, f"current_setting('jpo.{name}") for name in read]
        return f"WITH {','.join(over)} {statement}" if over else statement

    @contextmanager
    def transaction(self, *_subjects: str) -> Iterator[Changes]:
        if not self._taken:
            self._until_closed.enter_context(self._server.snapshot())
            self._memory.rows("PRAGMA foreign_keys = OFF")  # what a row refers to stays on the server
            self._memory.rows("DROP TRIGGER audit_grows_at_its_end")  # it begins with the server's last record
            self._take(_LAST, {})
        yield (changes := Changes())
        statements = [step for step in changes.steps if not isinstance(step, Link)]
        texts = list({text for _, values in statements for text in values.values() if isinstance(text, str)})
        for at in range(0, len(texts), AT_ONCE):
            self._take(_NAMED, {"texts": texts[at : at + AT_ONCE]})
        with self._memory.transaction() as kept:
            kept.steps += changes.steps
        changes.chained += kept.chained
        changed = {"audit", *(re.split(r"INSERT INTO|UPDATE|DELETE FROM", each)[1].split()[0] for each, _ in statements)}
        self._changed, self._untold = self._changed | changed, self._untold | changed

    def _take(self, conditions: Mapping[str, str], values: Mapping[str, object]) -> None:
        """Rows of the server into memory, those that have not been there."""
        for name, condition in conditions.items():
            table, taken = TABLES[name], self._taken.setdefault(name, set())
            for row in self._server.rows(f"SELECT {', '.join(table.columns)} FROM {name} WHERE {condition}", values):
                if (key := tuple(row[column] for column in table.order.split(", "))) not in taken:
                    taken.add(key)
                    self._memory.rows(insert_into(name, table.columns), row)

    def _show(self, name: str) -> None:
        """Let the server know how a table is now."""
        table = TABLES[name]
        after = self._memory.each(select_all(name, table.columns, table.order))
        told = ("before", table.order.split(", "), self._taken.get(name, ())), ("after", table.columns, after)
        for which, columns, rows in told:
            written = canonical([dict(zip(columns, map(_as_text, row), strict=True)) for row in rows])
            self._server.rows(f"SELECT set_config('jpo.{name}_{which}', :rows, false)", {"rows": written})
        self._untold.remove(name)

    def alone(self) -> AbstractContextManager[None]:
        """For an import, which refuses a store that is not empty."""
        if any(self._server.rows(f"SELECT 1 AS one FROM {name} LIMIT 1") for name in TABLES):
            return self._server.snapshot()
        self._server = self._memory
        return self._memory.alone()

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext() if self._taken else self._server.snapshot()

    def shrink(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        self._until_closed.close()


def _as_text(value: object) -> str | None:
    """A value as the server reads it in JSON, of any column."""
    if value is None:
        return None
    return f"\\x{value.hex()}" if isinstance(value, bytes) else escaped(value) if isinstance(value, str) else repr(value)
