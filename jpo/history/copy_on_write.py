"""Copy-on-write database: reads the original, and copies it into memory before the first change, so that nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from jpo.history.archive import copy
from jpo.history.database import Changes, Database, TableRow


class CopyOnWrite:
    """A Database (database.py) over two: `source`, which is only read, and `memory`, empty until something is changed.

    Args:
        copied: copies all of the first into the second.
    """

    def __init__(self, source: Database, memory: Database, copied: Callable[[Database, Database], None] = copy) -> None:
        self._source, self._memory, self._copied, self._copy_all = source, memory, False, copied
        self.place = source.place

    @property
    def _current(self) -> Database:
        return self._memory if self._copied else self._source

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> Sequence[TableRow]:
        return self._current.rows(statement, values or {})

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        return self._current.each(statement)

    @contextmanager
    def transaction(self, *subjects: str) -> Iterator[Changes]:
        self._copy()
        with self._memory.transaction(*subjects) as changes:
            yield changes

    @contextmanager
    def alone(self) -> Iterator[None]:
        self._copy()
        with self._memory.alone():
            yield

    def _copy(self) -> None:
        if not self._copied:
            self._copy_all(self._source, self._memory)
            self._copied = True

    def snapshot(self) -> AbstractContextManager[None]:
        return self._current.snapshot()

    def shrink(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        self._source.close()
        self._memory.close()
