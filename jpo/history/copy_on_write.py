"""Copy-on-write database: reads the original, and copies it into memory before the first change, so that nothing is kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from jpo.history.database import Changes, Database, TableRow


class CopyOnWrite:
    """A Database (database.py) over two: `source`, which is only read, and `memory`, empty until something is changed.

    `copy_all`: copies all of the first into the second.
    """

    def __init__(self, source: Database, memory: Database, copy_all: Callable[[], None]) -> None:
        self._source, self._memory, self._copied, self._copy_all = source, memory, False, copy_all
        self.place = source.place

    @property
    def _current(self) -> Database:
        return self._memory if self._copied else self._source

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> Sequence[TableRow]:
        return self._current.rows(statement, values or {})

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        return self._current.each(statement)

    def transaction(self, *subjects: str) -> AbstractContextManager[Changes]:
        return self._copy().transaction(*subjects)

    def alone(self) -> AbstractContextManager[None]:
        return self._copy().alone()

    def _copy(self) -> Database:
        if not self._copied:
            self._copy_all()
            self._copied = True
        return self._memory

    def snapshot(self) -> AbstractContextManager[None]:
        return self._current.snapshot()

    def shrink(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        self._source.close()
        self._memory.close()
