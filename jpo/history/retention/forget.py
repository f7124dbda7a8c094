"""Forgetting: the statements by which old runs and their time series leave the tables, each workload in one transaction.

What the audit log says of them stays, and so does its chain. A run that was forgotten is not recorded anew when a source still
tells of it: up to when runs were forgotten stands beside how far each source has been read.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jpo.history.database import Changes, Database
from jpo.history.failures import readable
from jpo.history.retention.readings import FORGOTTEN, OF_WORKLOAD, move_reading
from jpo.history.rows import identity_columns, read_identity
from jpo.history.runs import Forgotten, RecordedRun, RunKey, key_of
from jpo.records import Finished, Identity

_AT_ONCE = 500
"""Ids in one statement."""


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


def without_series(database: Database, ended_before: float, changes: Changes) -> Forgotten:
    """Delete the time series of runs that ended before a time."""
    old = "WHERE run IN (SELECT number FROM runs WHERE ended_at < :ended_before)"
    counted = "count(DISTINCT run) AS runs, count(*) AS series, coalesce(sum(length(packed)), 0) AS size_bytes"
    (counts,) = database.rows(f"SELECT {counted} FROM series {old}", {"ended_before": ended_before})
    changes.add(f"DELETE FROM series {old}", {"ended_before": ended_before})
    return Forgotten(*(int(counts[name]) for name in Forgotten._fields))


def without_runs(database: Database, recorded: Sequence[RecordedRun], kept: Collection[str], changes: Changes) -> ForgottenRuns:
    """Delete runs of one workload but those with these ids, and their time series.

    Args:
        recorded: all of its runs.
    """
    gone = [entry.run for entry in recorded if entry.run.run_id not in kept]
    forgotten = ForgottenRuns(len(gone), len(recorded) - len(gone), max((run.ended_at for run in gone), default=0.0))
    for at in range(0, len(gone), _AT_ONCE):
        ids = {f"id{number}": run.run_id for number, run in enumerate(gone[at : at + _AT_ONCE])}
        names = {**identity_columns(gone[0].identity), **ids}
        those = f"{OF_WORKLOAD} AND run_id IN ({', '.join(f':{name}' for name in ids)})"
        changes.add(f"DELETE FROM series WHERE run IN (SELECT number FROM runs WHERE {those})", names)
        changes.add(f"DELETE FROM runs WHERE {those}", names)
    if gone:
        move_reading(database, gone[0].identity, FORGOTTEN, Finished(watermark=forgotten.ended_until), changes)
    return forgotten


def numbers_of_runs(database: Database) -> Mapping[Identity, int]:
    """How many runs are on record of each workload."""
    workload = "dataset, model, framework, hardware"
    rows = database.rows(f"SELECT {workload}, count(*) AS runs FROM runs GROUP BY {workload} ORDER BY {workload}")
    with readable(database.place):
        return {read_identity(row): int(row["runs"]) for row in rows}
