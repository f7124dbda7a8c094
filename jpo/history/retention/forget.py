"""Forgetting: the statements by which old runs and their time series leave the tables, each workload in one transaction.

What the audit log says of them stays, and so does its chain. A run that was forgotten is not recorded anew when a source still
tells of it: up to when runs were forgotten stands beside how far each source has been read, in the rows of `watermarks`.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jpo.history.canonical import canonical
from jpo.history.database import OF_WORKLOAD, Changes, Database, insert_into, naming
from jpo.history.failures import readable
from jpo.history.rows import identity_columns, read_reading
from jpo.history.runs import Reading, RecordedRun, RunKey, key_of, moved
from jpo.records import Finished, Identity

FORGOTTEN = "forgotten by jpo state gc"
"""The source under which it stands up to when a workload's runs were forgotten."""


class ForgottenRuns(NamedTuple):
    """Runs of one workload that were deleted: how many, how many stay, and up to when those ended (unix seconds)."""

    runs: int
    kept: int
    ended_until: float


def remembered(finished: Finished, known: Collection[RunKey], forgotten_until: Callable[[Identity], float | None]) -> Finished:
    """What a source says, without new runs from before the time up to which runs of their workload were forgotten."""
    new = {run.identity for run in finished.runs if key_of(run) not in known}
    until = {identity: at for identity in new if (at := forgotten_until(identity)) is not None}
    if not until:
        return finished
    runs = (run for run in finished.runs if key_of(run) in known or run.ended_at > until.get(run.identity, -math.inf))
    return replace(finished, runs=tuple(runs))


def without_runs(database: Database, recorded: Sequence[RecordedRun], kept: Collection[str], changes: Changes) -> ForgottenRuns:
    """Delete runs of one workload but those with these ids, and their time series."""
    gone = [entry.run for entry in recorded if entry.run.run_id not in kept]
    forgotten = ForgottenRuns(len(gone), len(recorded) - len(gone), max((run.ended_at for run in gone), default=0.0))
    for named, ids in naming([run.run_id for run in gone]):
        names, those = {**identity_columns(gone[0].identity), **ids}, f"{OF_WORKLOAD} AND {named}"
        changes.add(f"DELETE FROM series WHERE run IN (SELECT number FROM runs WHERE {those})", names)
        changes.add(f"DELETE FROM runs WHERE {those}", names)
    if gone:
        move_reading(database, gone[0].identity, FORGOTTEN, Finished(watermark=forgotten.ended_until), changes)
    return forgotten


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
