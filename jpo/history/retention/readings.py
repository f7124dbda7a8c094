"""How far each source has been read for a workload, and up to when its runs were forgotten: the rows of `watermarks`."""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

from collections.abc import Mapping

from jpo.history.canonical import canonical
from jpo.history.database import OF_WORKLOAD, Changes, Database, insert_into
from jpo.history.failures import readable
from jpo.history.rows import identity_columns, read_reading
from jpo.history.runs import Reading, moved
from jpo.records import Finished, Identity

FORGOTTEN = "forgotten by jpo state gc"
"""The source under which it stands up to when a workload's runs were forgotten."""


def all_readings(database: Database, identity: Identity) -> Mapping[str, Reading]:
    """By source; FORGOTTEN is one of them."""
    rows = database.rows(f"SELECT * FROM watermarks WHERE {OF_WORKLOAD}", identity_columns(identity))
    with readable(database.place):
        return {row["source"]: read_reading(row) for row in rows}


def forgotten_until(database: Database, identity: Identity) -> float | None:
    """Unix seconds of the end of the last run that was forgotten; None: none was."""
    reading = all_readings(database, identity).get(FORGOTTEN)
    return reading.read_until if reading else None


def move_reading(database: Database, identity: Identity, source: str, finished: Finished, changes: Changes) -> None:
    current = all_readings(database, identity).get(source)
    new = moved(current, finished)
    place = {**identity_columns(identity), "source": source}
    row = {**place, "read_until": new.read_until, "passed_over": canonical(new.passed_over)}
    new_values = "read_until = :read_until, passed_over = :passed_over"
    change = f"UPDATE watermarks SET {new_values} WHERE {OF_WORKLOAD} AND source = :source"
    changes.add(insert_into("watermarks", [*row]) if current is None else change, row)
