"""Undoing: which changes reached config.ini, which one is still in force, what stood there before it, and what is pinned.

All of it follows from the suggestions on record. One goes on record before the file is changed, and "written" into the audit log
after it; of one whose process was killed in between neither is certain. It counts if the file held its values when it was read
next: by the next suggestion, or now.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import dropwhile, takewhile

from jpo.history import RecordedRun, Store, latest_start
from jpo.records import SAME, Change, Identity, Parameters, Run, Suggestion, Undo, Workload, same

PROBATION_RUNS = 5
"""A change that was run so often is no longer undone by itself: what becomes worse later has another cause, as data that grow."""
LOOKED_BACK = 100
"""Newest suggestions among which `jpo suggest` looks for the last change."""
PINNED_UNTIL = "pinned until"


def on_record(store: Store, identity: Identity) -> tuple[tuple[Suggestion, ...], frozenset[str]]:
    """A workload's suggestions as they went on record, and the ids of those that the audit log says were written."""
    return store.as_recorded(identity), store.written(identity)


def took_effect(suggestions: Sequence[Suggestion], now: Parameters, written: Collection[str] = ()) -> tuple[Suggestion, ...]:
    """Those whose values reached config.ini, and those that changed nothing.

    A rollback that found the old values there already may have found them in another checkout: it counts unless this file still
    had the new ones.

    Args:
        suggestions: as they went on record, without the withdrawn ones.
        now: the values in config.ini.
        written: ids of those of which it is certain.
    """
    read_next = [*(one.current for one in suggestions), now][1:]
    effective: list[Suggestion] = []
    for one, values in zip(suggestions, read_next, strict=True):
        found = undo(effective, one.undoes) if one.undoes and not one.changes else None
        elsewhere = found and holds(values, found.last.values()) and not same(values, found.values)
        if one.suggestion_id in written or (holds(values, one.changes) and not elsewhere):
            effective.append(one)
    return tuple(effective)


def in_effect(store: Store, identity: Identity, recorded: Sequence[RecordedRun]) -> tuple[Suggestion, ...]:
    """The same as far as the store knows, without a look at config.ini; what was run was there, too."""
    suggestions, written = on_record(store, identity)
    followed = {one.suggestion_id for one in recorded if one.suggestion_id}
    return took_effect(suggestions, {}, written | followed)


def holds(values: Parameters, changes: Collection[Change]) -> bool:
    """Whether these are the new values of the changes."""
    return all(change.parameter in values and equal(values[change.parameter], change.new) for change in changes)


def equal(a: float, b: float) -> bool:
    """Whether two values are the same but for rounding."""
    return math.isclose(a, b, rel_tol=SAME)


def last_in_force(effective: Sequence[Suggestion]) -> Suggestion | None:
    """The last change that no rollback has undone: after a rollback, what was in force before the suggestion that it undoes."""
    below: dict[str, Suggestion | None] = {}  # what was in force before each
    top: Suggestion | None = None
    for one in effective:
        below[one.suggestion_id] = top
        if one.undoes is not None:
            top = below.get(one.undoes)
        elif one.changes:
            top = one
    return top


def undo(effective: Sequence[Suggestion], suggestion_id: str) -> Undo | None:
    """Back to the values before this suggestion; None if it is not among them, or nothing has changed since."""
    since = dropwhile(lambda one: one.suggestion_id != suggestion_id, effective)
    undone = tuple(one for one in since if one.changes)
    return Undo(suggestion_id, undone) if undone else None


def on_probation(store: Store, workload: Workload, runs: Sequence[Run]) -> Undo | None:
    """How to undo the agent's last change, if it is still in force, was run since, and not more than PROBATION_RUNS times.

    What a user has set is the user's to undo, and so is what stands under another key now, where the old text may mean another
    unit. The same step is taken back once: whoever takes it again knows what came of it.
    """
    now = workload.current
    effective = took_effect(store.suggestions_of(workload.identity, limit=LOOKED_BACK), now)
    newest = last_in_force(effective)
    found = undo(effective, newest.suggestion_id) if newest and newest.decided_by != "user" else None
    if newest is None or found is None or not holds(now, found.last.values()) or renamed(workload, found):
        return None
    followed = sum(latest_start(run) >= newest.created_at and same(run.parameters, now) for run in runs)
    then = {**now, **found.values}
    again = any(one.undoes and same(one.current, now) and same(one.suggested, then) for one in effective)
    return found if 0 < followed <= PROBATION_RUNS and not again else None


def renamed(workload: Workload, undone: Undo) -> bool:
    """Whether a value that would come back stood under another key."""
    return not {change.key for change in undone.first.values()} <= {p.key for p in workload.parameters}


def pinned(workload: Workload, store: Store, *, now: float) -> Workload:
    """The workload as config.ini has it, with what rollbacks have pinned held as well: see `pins`."""
    found = pins(store, workload.identity, now=now)
    return replace(
        workload,
        parameters=tuple(
            replace(p, held=found[p.name][1]) if p.name in found and equal(p.value, found[p.name][0]) else p
            for p in workload.parameters
        ),
    )


def told_of_pins(workload: Workload) -> tuple[str, ...]:
    """A sentence for each parameter that `pinned` holds."""
    return tuple(f"{p.key} = {p.text} is {p.held}" for p in workload.parameters if p.held and p.held.startswith(PINNED_UNTIL))


def pins(store: Store, identity: Identity, *, now: float) -> dict[str, tuple[float, str]]:
    """By parameter the value at which the newest rollback pins it, and that in words.

    A parameter with another value is not held: someone has set it since, or the rollback never reached this file. A rollback that
    undoes nothing lifts all pins before it.
    """
    active: list[Suggestion] = []
    for one in store.rollbacks_of(identity):
        if one.undoes is None:
            active.clear()
        elif one.pinned_until is not None and one.pinned_until > now:
            active.append(one)
    return {
        name: (one.suggested[name], f"{PINNED_UNTIL} {day(one.pinned_until or now)} by rollback {one.suggestion_id}")
        for one in active
        for name in restored(store, one)
    }


def restored(store: Store, rollback: Suggestion) -> set[str]:
    """Parameters that a rollback has put back, or found as they had been."""
    since = store.as_recorded(rollback.identity, since=rollback.undoes)
    undone = takewhile(lambda one: one.suggestion_id != rollback.suggestion_id, since)
    return {change.parameter for one in (*undone, rollback) for change in one.changes} & rollback.suggested.keys()


def day(unix_seconds: float) -> str:
    """The day in UTC, e.g. "2026-12-01"."""
    return datetime.fromtimestamp(unix_seconds, UTC).date().isoformat()
