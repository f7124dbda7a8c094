"""Runs of labelled pods, which report nothing themselves: which values were in force, and which runs another source knows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from jpo.history.runs import RecordedRun, latest_start
from jpo.records import KUBERNETES, Parameters, Run, Suggestion, same

SAME_RUN = 0.5
"""Share of a pod's time for which another source saw a run of the workload, if it is the same one."""
CLOCKS_DIFFER_SECONDS = 300.0
"""By which such a run may seem to end after its pod."""


def without_doubles(runs: Sequence[Run], recorded: Iterable[Run] = ()) -> tuple[Run, ...]:
    """The runs without labelled pods that another source reports as well, in these or on record: each of its runs is one's."""
    if all(run.source != KUBERNETES for run in runs):
        return tuple(runs)
    others = sorted((run for run in (*recorded, *runs) if run.source != KUBERNETES), key=lambda run: run.ended_at)
    ends, taken, kept = [other.ended_at for other in others], set[int](), list[Run]()
    for run in runs:
        ended_in_it = range(bisect_left(ends, latest_start(run)), bisect_right(ends, run.ended_at + CLOCKS_DIFFER_SECONDS))
        free = [at for at in ended_in_it if at not in taken] if run.source == KUBERNETES else []
        twin = max(free, key=lambda at: _overlap(run, others[at]), default=None)
        if twin is not None and _overlap(run, others[twin]) > SAME_RUN:
            taken.add(twin)
        else:
            kept.append(run)
    return tuple(kept)


def _overlap(run: Run, other: Run) -> float:
    """For which share of a run's time the other ran as well."""
    start = latest_start(run)
    return (min(run.ended_at, other.ended_at) - max(start, latest_start(other))) / max(run.ended_at - start, 1.0)


def counted_once(recorded: Sequence[RecordedRun]) -> tuple[RecordedRun, ...]:
    """Runs on record without labelled pods that another source reported later, or imported what it knew."""
    kept = {id(run) for run in without_doubles([entry.run for entry in recorded])}
    return tuple(entry for entry in recorded if id(entry.run) in kept)


def with_values_in_force(runs: Sequence[Run], effective: Sequence[Suggestion]) -> tuple[Run, ...]:
    """The runs; to those of labelled pods what they do not say of their parameters is added from the suggestion then in force.

    Nothing is, where what the run does say agrees neither with that suggestion nor with what stood there before: somebody else
    set its values, and the others may be theirs as well.

    `effective`: the suggestions that took effect, as they went on record.
    """
    return tuple(_with_assumed(run, effective) if run.source == KUBERNETES else run for run in runs)


def _with_assumed(run: Run, effective: Sequence[Suggestion]) -> Run:
    added = values_in_force(run.parameters, latest_start(run), effective)
    return replace(run, parameters={**run.parameters, **added}, assumed=tuple(sorted(added))) if added else run


def values_in_force(said: Parameters, started_at: float, effective: Sequence[Suggestion]) -> dict[str, float]:
    """The values of the suggestion in force when a run started, of what the run does not say itself."""
    earlier = [made for made in effective if made.created_at <= started_at]
    in_force = (earlier[-1].values.suggested, earlier[-1].values.current) if earlier else ()
    values = next((values for values in in_force if same(said, values)), {})
    return {name: value for name, value in values.items() if name not in said}
