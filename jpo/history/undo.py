"""Undo: which changes reached config.ini, which one is still in force, what its values were before, and what is pinned.

All of it follows from the suggestions on record. A suggestion goes on record before the file is changed, and "written" into the
audit log after it; where the process was killed in between, neither is certain. It counts if the file held its values when it was
read next: by the next suggestion, or now.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import dropwhile, pairwise, takewhile

from jpo.history import RecordedRun, Store, latest_start
from jpo.history.following.contradictions import file_after
from jpo.records import SAME, Change, Checkout, Identity, Note, Parameters, Reach, Run, Suggestion, Undo, Workload, same

PROBATION_RUNS = 5
"""Runs after which a change is no longer undone automatically: what gets worse later has another cause, such as growing data."""
LOOKED_BACK = 100
"""Newest suggestions among which `jpo suggest` looks for the last change."""
PINNED = "JPO-I846"
"""Code of the note that a rollback holds a value."""


def on_record(store: Store, identity: Identity) -> tuple[tuple[Suggestion, ...], frozenset[str]]:
    """A workload's suggestions as they went on record, and the ids of those that the audit log says were written."""
    return store.as_recorded(identity), store.written(identity)


def took_effect(suggestions: Sequence[Suggestion], now: Parameters, written: Collection[str] = ()) -> tuple[Suggestion, ...]:
    """Suggestions (given as they went on record) whose values reached config.ini, and those that changed nothing.

    A rollback that found the old values in place may have done so in another checkout: it counts unless this file had the new.

    `now`: the values in config.ini; `written`: ids of those of which it is certain.
    """
    read_next = [*(file_after(made, later) for made, later in pairwise(suggestions)), now]
    effective: list[Suggestion] = []
    for made, values in zip(suggestions, read_next, strict=False):
        undone = undo(effective, made.decision.undoes) if made.decision.undoes and not made.changes else None
        elsewhere = undone and holds(values, undone.last.values()) and not same(values, undone.values)
        if made.suggestion_id in written or (holds(values, made.changes) and not elsewhere):
            effective.append(made)
    return tuple(effective)


def about(suggestions: Sequence[Suggestion], here: Checkout | None) -> tuple[Suggestion, ...]:
    """Those that may have reached this checkout: not another file's, nor another branch's that has other values committed."""
    checkouts = ((made, made.values.checkout) for made in suggestions)
    return tuple(made for made, there in checkouts if there is None or here is None or not _apart(there, here))


def _apart(there: Checkout, here: Checkout) -> bool:
    other_branch = None not in (there.branch, here.branch) and there.branch != here.branch
    other_values = there.committed is not None and here.committed is not None and not same(there.committed, here.committed)
    return there.file != here.file or (other_branch and other_values)


def in_effect(
    store: Store, identity: Identity, recorded: Sequence[RecordedRun], written: frozenset[str] | None = None
) -> tuple[Suggestion, ...]:
    """Suggestions that took effect as far as the store knows, without reading config.ini; what was run took effect, too.

    `written`: ids of those that were, where the log was read for several workloads at once.
    """
    followed = {run.suggestion_id for run in recorded if run.suggestion_id}
    known = store.written(identity) if written is None else written
    return took_effect(store.as_recorded(identity), {}, known | followed)


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
    for made in effective:
        below[made.suggestion_id] = top
        if made.decision.undoes is not None:
            top = below.get(made.decision.undoes)
        elif made.changes:
            top = made
    return top


def undo(effective: Sequence[Suggestion], suggestion_id: str) -> Undo | None:
    """The undo of this suggestion and all later ones; None if it is not among them, or nothing has changed since."""
    since = dropwhile(lambda made: made.suggestion_id != suggestion_id, effective)
    undone = tuple(made for made in since if made.changes)
    return Undo(suggestion_id, undone) if undone else None


def on_probation(store: Store, workload: Workload, runs: Sequence[Run], reaches: Sequence[Reach] = ()) -> Undo | None:
    """The undo of the agent's last change, if it is still in force, was run since, and at most PROBATION_RUNS times.

    What a user has set is the user's to undo, and so is a value that is under another key now, where the old text may mean
    another unit. The same step is undone once: a user who takes it again knows its effect.

    `reaches`: of parameters that runs do not take as config.ini gives them.
    """
    now = workload.current
    effective = took_effect(about(store.suggestions_of(workload.identity, limit=LOOKED_BACK), workload.checkout), now)
    newest = last_in_force(effective)
    undone = undo(effective, newest.suggestion_id) if newest and newest.decision.decided_by != "user" else None
    if newest is None or undone is None or not holds(now, undone.last.values()):
        return None
    if not {change.key for change in undone.first.values()} <= {p.key for p in workload.parameters}:  # one was renamed
        return None
    really = {reach.parameter: reach.really(now[reach.parameter]) for reach in reaches if reach.parameter in now}
    as_run = {**now, **{name: value for name, value in really.items() if value is not None}}
    followed = sum(latest_start(run) >= newest.created_at and same(run.parameters, as_run) for run in runs)
    then = workload.terms.with_chosen(now, undone.values)
    values = (made.values for made in effective if made.decision.undoes)
    again = any(same(each.current, now) and same(each.suggested, then) for each in values)
    return undone if 0 < followed <= PROBATION_RUNS and not again else None


def pinned(workload: Workload, store: Store, *, now: float) -> Workload:
    """The workload with the values that rollbacks have pinned held as well: see `pins`."""
    values = workload.current
    held = {
        name: Note(PINNED, sentence)
        for name, (value, sentence) in pins(store, workload.identity, now=now).items()
        if name in values and equal(values[name], value)
    }
    return replace(workload, parameters=tuple(replace(p, held=held.get(p.name, p.held)) for p in workload.parameters))


def pin_notes(workload: Workload) -> tuple[Note, ...]:
    held = ((p, p.held) for p in workload.parameters if p.held and p.held.code == PINNED)
    return tuple(Note(PINNED, f"{p.key} = {p.text} is {why.text}") for p, why in held)


def pins(store: Store, identity: Identity, *, now: float) -> dict[str, tuple[float, str]]:
    """Pins by parameter: the value at which the newest rollback holds it, and a sentence about it.

    One with another value is not held: it was set since, or the rollback never reached this file. One that undoes nothing lifts
    all pins before it.
    """
    active: list[Suggestion] = []
    for rollback in store.rollbacks_of(identity):
        if rollback.decision.undoes is None:
            active.clear()
        elif rollback.decision.pinned_until is not None and rollback.decision.pinned_until > now:
            active.append(rollback)
    held: dict[str, tuple[float, str]] = {}
    for rollback in active:
        sentence = f"pinned until {day(rollback.decision.pinned_until or now)} by rollback {rollback.suggestion_id}"
        held |= {name: (rollback.values.suggested[name], sentence) for name in restored(store, rollback)}
    return held


def restored(store: Store, rollback: Suggestion) -> set[str]:
    """Parameters that a rollback has restored, or found at their old values."""
    since = store.as_recorded(rollback.identity, since=rollback.decision.undoes)
    undone = takewhile(lambda made: made.suggestion_id != rollback.suggestion_id, since)
    return {change.parameter for made in (*undone, rollback) for change in made.changes} & rollback.values.suggested.keys()


def day(unix_seconds: float) -> str:
    """The day in UTC, e.g. "2026-12-01"."""
    return datetime.fromtimestamp(unix_seconds, UTC).date().isoformat()
