"""Sides: which runs of a workload are from before JPO's first change, and which came of it.

Before: the runs that started before the first change was written; of fewer than FEWEST also later ones with the values from
before it. After: those that followed a suggestion made since, also one that kept the values or a rollback. What ran with other
values in between is neither, nor is a start that failed for no fault of its values. Whatever else ended a run, it is charged.
`jpo history`, `jpo report` and `jpo sla` all tell their story from these.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from jpo.cost import Prices, outcome_of
from jpo.forecast.measurements import FEWEST
from jpo.history import RecordedRun, latest_start
from jpo.history.figures import LARGEST, usual_values
from jpo.records import Floats, Forecast, Parameters, Run, RunStatus, Suggestion, same

UNKNOWN = Forecast()
NOTHING: Parameters = {}


@dataclass(frozen=True, slots=True)
class Sides:
    """Runs before JPO's first change and after it, with the parameters that they do not report as they were then.

    Attributes:
        since, last: unix seconds of the first and of the newest change; None: JPO changed nothing yet, and all runs are before.
        newest: of those after, the ones that followed the newest change or a later suggestion.
        left_out: later runs that are on neither side.
        expected: what was forecast of a run with the values from before the first change, which stands in for too few runs.
        failed_starts: runs on neither side, since they failed before they trained, with values that train.
    """

    since: float | None
    before: tuple[Run, ...]
    after: tuple[Run, ...]
    last: float | None = None
    newest: tuple[Run, ...] = ()
    left_out: int = 0
    expected: Forecast = UNKNOWN
    failed_starts: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that the runs of a suggestion took beyond what their models would have taken; below 0: they saved time.

    Attributes:
        before: as they were before JPO's first change.
        keeping: as was expected of the values that the suggestion replaced; None: nothing was.
        ratio: of a model's time to that; None: nothing was expected, or no run produced a model.
        runs: how many these are.
    """

    before: float
    keeping: float | None
    ratio: float | None
    runs: int


def sides_of(effective: Sequence[Suggestion], recorded: Sequence[RecordedRun]) -> Sides:
    """The sides of a workload.

    `effective`: the suggestions that took effect, as they went on record; `recorded`: its runs, oldest first.
    """
    failed = failed_starts([entry.run for entry in recorded])
    recorded = [entry for entry in recorded if entry.run.run_id not in failed]
    at = [number for number, made in enumerate(effective) if made.changes]
    if not at:
        return Sides(None, tuple(entry.run for entry in recorded), (), failed_starts=len(failed))
    first, last = effective[at[0]], effective[at[-1]]
    since_first = {made.suggestion_id for made in effective[at[0] :]}
    others = [entry.run for entry in recorded if entry.suggestion_id not in since_first]
    before = [run for run in others if latest_start(run) < first.created_at]
    if len(before) < FEWEST:  # whoever set the old values again measured them
        old, later = first.values.current, (run for run in others if latest_start(run) >= first.created_at)
        before += [run for run in later if old.keys() <= run.parameters.keys() and same(run.parameters, old)]
    expected = (made.now for made in effective if made.now.known and same(made.values.current, first.values.current))
    return Sides(
        first.created_at,
        tuple(run.completed(first.values.current) for run in before),
        _followers(recorded, effective[at[0] :]),
        last.created_at,
        _followers(recorded, effective[at[-1] :]),
        len(others) - len(before),
        next(expected, UNKNOWN),
        len(failed),
    )


def failed_starts(runs: Sequence[Run]) -> frozenset[str]:
    """Ids of the runs that failed before they trained, for a fault of their script, such as a missing module.

    They did no epoch where others report theirs and took less than any run that ended well. One of those in a row, without any
    other run in between, had values with which a run did: the values of the others never had a chance.
    """
    well = [run for run in runs if run.ended_well and run.outcome.epochs and run.outcome.duration_seconds]
    soon = min((run.outcome.duration_seconds or 0.0 for run in well), default=0.0)
    found = set[str]()
    for at_once, some in groupby(
        runs,
        lambda run: run.status is RunStatus.FAILED and not run.outcome.epochs and (run.outcome.duration_seconds or 0.0) < soon,
    ):
        row = list(some)
        if at_once and any(same(run.parameters, other.parameters) for run in row for other in well):
            found |= {run.run_id for run in row}
    return frozenset(found)


def taken(quantity: str, runs: Iterable[Run], prices: Prices, *, before: bool = False) -> tuple[Floats, Floats]:
    """What runs took, and 1 for each that ended well, else 0; both of shape (n,), without runs that measured nothing.

    Of the runs `before` JPO's first change those that were stopped do not count: they would make the old values look slow.
    """
    charged = (run for run in runs if not (before and run.status is RunStatus.STOPPED))
    values = ((outcome_of(run, quantity, prices), run.ended_well) for run in charged)
    pairs = [(value, well) for value, well in values if value is not None and value < LARGEST]
    return np.array([value for value, _ in pairs], dtype=np.float64), np.array([well for _, well in pairs], dtype=np.float64)


def per_model(took: Floats, well: Floats) -> float | None:
    """What a model took, of all these runs together (see `taken`); None: none brought one, or nothing was measured."""
    return float(took.sum() / well.sum()) if well.any() else None


def each_before(quantity: str, sides: Sides, prices: Prices) -> float | None:
    """What a model took before JPO's first change, or was forecast to where too few runs brought one; None: nobody knows."""
    took, well = taken(quantity, sides.before, prices, before=True)
    expected = sides.expected.of(quantity)
    return expected.mean if expected and well.sum() < FEWEST else per_model(took, well)


def spent_of(effective: Sequence[Suggestion], recorded: Sequence[RecordedRun], prices: Prices) -> dict[str, Spent]:
    """What the runs of each suggestion took, of those after JPO's first change; together they are what was saved.

    `effective`, `recorded`: as of `sides_of`.
    """
    sides = sides_of(effective, recorded)
    before, charged = each_before("duration_seconds", sides, prices), {run.run_id for run in sides.after}
    runs, found = defaultdict[str | None, list[Run]](list), {}
    for entry in recorded:
        if entry.run.run_id in charged:
            runs[entry.suggestion_id].append(entry.run)
    for made in effective:
        took, well = taken("duration_seconds", runs[made.suggestion_id], prices)
        if before and len(took):
            now, models = made.now.duration_seconds, float(well.sum())
            keeping = float(took.sum()) - now.mean * models if now else None
            ratio = float(took.sum()) / (now.mean * models) if now and models else None
            found[made.suggestion_id] = Spent(float(took.sum()) - before * models, keeping, ratio, len(took))
    return found


def return_on_trials(spent: Iterable[tuple[str, Spent]]) -> tuple[int, float, float]:
    """Runs of trials, seconds that these took beyond keeping, and what else all runs took beyond before: with what was learnt.

    The last two add up to what was not saved. `spent`: of each suggestion its kind, and what its runs took.
    """
    every = list(spent)
    trials = [(found.runs, found.keeping) for kind, found in every if kind == "trial" and found.keeping is not None]
    cost = sum(seconds for _, seconds in trials)
    return sum(runs for runs, _ in trials), cost, sum(found.before for _, found in every) - cost


def as_they_ran(
    effective: Sequence[Suggestion], recorded: Sequence[RecordedRun], otherwise: Parameters = NOTHING
) -> tuple[Run, ...]:
    """The runs of a workload with the parameters that they do not report: what they cost, and whether they kept the SLA.

    A run that followed a suggestion had its values; one from before JPO's first change had those that it replaced. Any other had
    the values that runs first reported.

    `effective`, `recorded`: as of `sides_of`; `otherwise`: values of what no run reports.
    """
    sides = sides_of(effective, recorded)
    then = {run.run_id: run for run in (*sides.before, *sides.after)}
    known = [then.get(entry.run.run_id, entry.run) for entry in recorded]
    reported = {name: value for values in usual_values(known).values() for name, value in values.items()}
    return tuple(run.completed({**otherwise, **reported}) for run in known)


def _followers(recorded: Sequence[RecordedRun], made: Sequence[Suggestion]) -> tuple[Run, ...]:
    """The runs that followed these suggestions; what they do not report of their parameters was as suggested."""
    values = {one.suggestion_id: one.values.suggested for one in made}
    return tuple(entry.run.completed(values[entry.suggestion_id]) for entry in recorded if entry.suggestion_id in values)
