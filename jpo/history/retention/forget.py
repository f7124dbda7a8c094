"""Forgetting: which old runs are still needed, and the statements by which the others and their time series leave the tables.

Needed are those without which a suggestion, its explanation or an undo would be another one. Besides the newest runs, on which
forecasts rest, a suggestion looks at the start of a history, at what did best, at what failed, at how much memory a configuration
took, and at what followed a suggestion that may still be undone.

What the audit log says of the others stays, and so does its chain. A run that was forgotten is not recorded anew when a source
still tells of it: up to when runs were forgotten stands beside how far each source has been read, in the rows of `watermarks`.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import NamedTuple

from jpo.history.canonical import canonical
from jpo.history.database import OF_WORKLOAD, Changes, Database, insert_into, naming
from jpo.history.failures import readable
from jpo.history.rows import identity_columns, read_reading
from jpo.history.runs import Reading, RecordedRun, RunKey, key_of, moved
from jpo.records import Finished, Identity, Run

BEST = 20
"""Runs of least duration, cost and loss, of highest accuracy, and of most memory, each."""
FAILURES = 20
"""Newest runs that did not end well."""
CONFIGURATIONS = 100
"""Configurations of which the first run is kept: what was tried is not tried again."""
SUGGESTIONS = 100
"""Newest suggestions of a workload whose runs are kept: among them is the one in force, and what can be undone."""
LEAST = {"duration_seconds": 1, "cost_usd": 1, "val_loss": 1, "val_accuracy": -1}
"""Of runs that ended well, by what they are the best; -1: more is better."""
PEAKS = {"gpu_memory_gib": -1, "memory_gib": -1}
"""By these runs the guard knows what does not fit."""
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


def needed_runs(recorded: Sequence[RecordedRun], *, newest: int, followed: Collection[str]) -> set[str]:
    """Ids of the runs that are kept, of all of one workload on record, oldest first.

    `newest`: how many of the newest are kept in any case; `followed`: ids of the suggestions whose runs are kept.
    """
    runs = [entry.run for entry in recorded]
    well, failed = ([run for run in runs if run.ended_well is ended] for ended in (True, False))
    kept = {run.run_id for run in runs[-newest:]}
    kept |= {entry.run.run_id for entry in recorded if entry.suggestion_id in followed}
    for some in (beginnings(runs), extremes(well, LEAST), failed[-FAILURES:], extremes(runs, PEAKS)):
        kept |= {run.run_id for run in some}
    return kept


def beginnings(runs: Sequence[Run]) -> Iterator[Run]:
    """The first run, the first that ended well, and the first of each of the first configurations."""
    yield from runs[:1]
    yield from [run for run in runs if run.ended_well][:1]
    first: dict[tuple[object, ...], Run] = {}
    for run in runs:
        first.setdefault(tuple(sorted(run.parameters.items())), run)
        if len(first) == CONFIGURATIONS:
            break
    yield from first.values()


def extremes(runs: Sequence[Run], signs: Mapping[str, int]) -> Iterator[Run]:
    """The runs with the least of each quantity, or with the most where its sign is -1; of equal ones the newest."""
    for quantity, sign in signs.items():
        measured = [(sign * value, -at) for at, run in enumerate(runs) if (value := run.outcome.of(quantity)) is not None]
        yield from (runs[-at] for _, at in nsmallest(BEST, measured))
