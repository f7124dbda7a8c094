"""Runs of labelled pods, which report nothing themselves: which values were in force, and which runs another source knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jpo.history.runs import latest_start
from jpo.records import KUBERNETES, Parameters, Run, Suggestion, same

SAME_RUN = 0.5
"""Share of a pod's time for which another source saw a run of the workload, if it is the same one."""


def without_doubles(runs: Sequence[Run], recorded: Iterable[Run]) -> tuple[Run, ...]:
    """The runs without labelled pods that another source reports as well, in these or on record: each of its runs is one's."""
    others = {run.run_id: run for run in (*recorded, *runs) if run.source != KUBERNETES}
    kept = []
    for run in runs:
        shares = {other.run_id: _overlap(run, other) for other in others.values()} if run.source == KUBERNETES else {}
        twin = max(shares, key=lambda run_id: shares[run_id], default="")
        if shares.get(twin, 0.0) > SAME_RUN:
            del others[twin]
        else:
            kept.append(run)
    return tuple(kept)


def _overlap(run: Run, other: Run) -> float:
    """For which share of a run's time the other ran as well."""
    start = latest_start(run)
    return (min(run.ended_at, other.ended_at) - max(start, latest_start(other))) / max(run.ended_at - start, 1.0)


def with_values_in_force(runs: Sequence[Run], effective: Sequence[Suggestion]) -> tuple[Run, ...]:
    """The runs; to those of labelled pods what they do not say of their parameters is added from the suggestion then in force.

    Nothing is, where what the run does say agrees neither with that suggestion nor with what stood there before: somebody else
    set its values, and the others may be theirs as well.

    Args:
        effective: the suggestions that took effect, as they went on record.
    """
    return tuple(_with_assumed(run, effective) if run.source == KUBERNETES else run for run in runs)


def _with_assumed(run: Run, effective: Sequence[Suggestion]) -> Run:
    added = values_in_force(run.parameters, latest_start(run), effective)
    return replace(run, parameters={**run.parameters, **added}, assumed=tuple(sorted(added))) if added else run


def values_in_force(said: Parameters, started_at: float, effective: Sequence[Suggestion]) -> dict[str, float]:
    """The values of the suggestion in force when a run started, of what the run does not say itself."""
    earlier = [made for made in effective if made.created_at <= started_at]
    in_force = (earlier[-1].suggested, earlier[-1].current) if earlier else ()
    values = next((values for values in in_force if same(said, values)), {})
    return {name: value for name, value in values.items() if name not in said}
