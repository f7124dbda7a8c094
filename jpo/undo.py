"""Undoing: which changes reached config.ini, which one is still in force, what stood there before it, and what is pinned.

All of it follows from the suggestions on record. One goes on record before the file is changed, and "written" into the audit log
after it; of one whose process was killed in between neither is certain. It counts if the file held its values when it was read
next: by the next suggestion, or now.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from jpo.history import Store, latest_start
from jpo.history.audit import read_row
from jpo.records import SAME, Change, Identity, Run, Suggestion, Workload, same

Values = Mapping[str, float]

PROBATION_RUNS = 5
"""A change that was run so often is no longer undone by itself: what becomes worse later has another cause, as data that grow."""
LOOKED_BACK = 100
"""Newest suggestions among which `jpo suggest` looks for the last change."""
PINNED_UNTIL = "pinned until"


@dataclass(frozen=True, slots=True)
class Undo:
    """What it means to go back to the values before a suggestion.

    Attributes:
        suggestion_id: that one.
        undone: it and all after it that changed config.ini, rollbacks included, oldest first; at least one.
    """

    suggestion_id: str
    undone: tuple[Suggestion, ...]

    @property
    def first(self) -> dict[str, Change]:
        """By parameter the first change, whose old value comes back."""
        return {change.parameter: change for one in reversed(self.undone) for change in one.changes}

    @property
    def last(self) -> dict[str, Change]:
        """By parameter the last change, whose new value must stand in the file."""
        return {change.parameter: change for one in self.undone for change in one.changes}

    @property
    def values(self) -> dict[str, float]:
        """The values that come back."""
        return {name: change.old for name, change in self.first.items()}

    @property
    def texts(self) -> dict[str, str]:
        """The same as they stood in the file."""
        return {name: change.old_text for name, change in self.first.items()}


def on_record(store: Store, identity: Identity) -> tuple[tuple[Suggestion, ...], frozenset[str]]:
    """A workload's suggestions as they went on record, and the ids of those that the audit log says were written.

    The log's order counts: clocks differ between machines.
    """
    numbers: dict[object, int] = {}
    written: set[str] = set()
    for row in store.audit_rows():
        if (row.dataset, row.model, row.framework) != (identity.dataset, identity.model, identity.framework):
            continue
        if row.kind in ("suggested", "kept", "rolled back"):
            numbers[read_row(row).data.get("suggestion_id")] = row.number
        elif row.kind == "written":
            written.add(str(read_row(row).data.get("suggestion_id")))
    suggestions = store.suggestions_of(identity)
    return tuple(sorted(suggestions, key=lambda one: numbers.get(one.suggestion_id, 0))), frozenset(written)


def took_effect(suggestions: Sequence[Suggestion], now: Values, written: Collection[str] = ()) -> tuple[Suggestion, ...]:
    """Those whose values reached config.ini, and those that changed nothing.

    Args:
        suggestions: as they went on record, without the withdrawn ones.
        now: the values in config.ini.
        written: ids of those of which it is certain.
    """
    read_next = [*(one.current for one in suggestions), now][1:]
    pairs = zip(suggestions, read_next, strict=True)
    return tuple(one for one, values in pairs if one.suggestion_id in written or holds(values, one.changes))


def holds(values: Values, changes: Collection[Change]) -> bool:
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
    """Back to the values before this suggestion, which must be among them; None if nothing has changed since."""
    start = next(at for at, one in enumerate(effective) if one.suggestion_id == suggestion_id)
    undone = tuple(one for one in effective[start:] if one.changes)
    return Undo(suggestion_id, undone) if undone else None


def on_probation(store: Store, workload: Workload, runs: Sequence[Run]) -> Undo | None:
    """How to undo the agent's last change, if it is still in force, was run since, and not more than PROBATION_RUNS times.

    What a user has set is the user's to undo. The same step is taken back once: whoever takes it again knows what came of it.
    """
    now = workload.current
    effective = took_effect(store.suggestions_of(workload.identity, limit=LOOKED_BACK), now)
    newest = last_in_force(effective)
    found = undo(effective, newest.suggestion_id) if newest and newest.decided_by != "user" else None
    if newest is None or found is None or not holds(now, found.last.values()):
        return None
    followed = sum(latest_start(run) >= newest.created_at and same(run.parameters, now) for run in runs)
    then = {**now, **found.values}
    again = any(one.undoes and same(one.current, now) and same(one.suggested, then) for one in effective)
    return found if 0 < followed <= PROBATION_RUNS and not again else None


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
    if not active:
        return {}
    suggestions = store.suggestions_of(identity)
    return {
        name: (one.suggested[name], f"{PINNED_UNTIL} {day(one.pinned_until or now)} by rollback {one.suggestion_id}")
        for one in active
        for name in restored(suggestions, one)
    }


def restored(suggestions: Sequence[Suggestion], rollback: Suggestion) -> set[str]:
    """Parameters that a rollback has put back, or found as they had been."""
    ends = [at for at, one in enumerate(suggestions) if one.suggestion_id in (rollback.undoes, rollback.suggestion_id)]
    undone = suggestions[ends[0] : ends[-1] + 1] if ends else ()  # in either order: clocks differ between machines
    return {change.parameter for one in undone for change in one.changes} & rollback.suggested.keys()


def day(unix_seconds: float) -> str:
    """The day in UTC, e.g. "2026-12-01"."""
    return datetime.fromtimestamp(unix_seconds, UTC).date().isoformat()
