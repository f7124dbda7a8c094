"""`jpo history --compare`: what runs took, cost and brought before JPO's first change and after it.

Before: the runs that started before the first change was written; of fewer than FEWEST also later ones with the values from
before it. Where these are too few as well, what was forecast for those values then, marked as such. After: those that followed a
suggestion made since, also one that kept the values or a rollback. What ran with other values in between is neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.cost import Prices, outcome_of
from jpo.errors import UsageError
from jpo.forecast import before_after
from jpo.forecast.before_after import FEWEST, BeforeAfter
from jpo.history import RecordedRun, Store, latest_start
from jpo.history.undo import in_effect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project_store, own_direction
from jpo.project.workload import read_workload
from jpo.records import FORECAST, Forecast, Identity, Parameters, Run, RunStatus, same
from jpo.report.before_after import WorkloadChange, WorkloadChanges
from jpo.report.plots.before_after import plot
from jpo.report.plots.picture import can_plot

MORE_IS_BETTER = {
    "duration_seconds": False,
    "cost_usd": False,
    "gpu_utilisation": True,
    "cpu_utilisation": True,
    "memory_gib": False,
    "throughput_samples_per_second": True,
    "val_loss": False,
    "val_accuracy": True,
    "train_loss": False,
}
"""What is compared, of runs that ended well; the train loss only where no validation loss was measured."""
MOST = 500
"""Newest runs on each side that are compared: jobs drift, and more narrow no interval that matters."""
SEED = 0
NOTHING: Mapping[str, bool] = {}
UNKNOWN = Forecast()


@dataclass(frozen=True, slots=True)
class Changed:
    """Time of JPO's changes to a workload, and the suggestions since.

    Attributes:
        reference: the values before the first change; `expected`: what was forecast of a run with them.
        since_first, since_last: the values of the suggestions made since the first and since the last change, by id.
    """

    first: float
    last: float
    reference: Parameters
    expected: Forecast
    since_first: Mapping[str, Parameters]
    since_last: Mapping[str, Parameters]


def compare(path: Path | None, settings: LoadedSettings, *, picture: Path | None, now: float) -> WorkloadChanges:
    """Compare a workload, or (None) every one on record, and draw it where a picture is wanted.

    Raises:
        UsageError: JPO-E712, JPO-E713 or JPO-E852, the picture cannot be drawn; JPO-E851, it would show several workloads.
    """
    if picture:
        can_plot(picture)
    with open_project_store(settings) as job:
        identities = [read_workload(path, settings, now=now).identity] if path else workloads(job.store)
        result = WorkloadChanges(
            [change_of(job.store, identity, job.prices, own_direction(settings)) for identity in identities], job.currency
        )
    if picture:
        if len(identities) != 1:
            finding = f"{len(identities)} workloads are on record; a picture shows one"
            raise UsageError("--plot", finding, "name its config.ini", code="JPO-E851")
        plot(result.workloads[0], picture)
    return result


def workloads(store: Store) -> list[Identity]:
    """All that have runs on record, in the order of their first run."""
    return list(dict.fromkeys(recorded.run.identity for recorded in store.recorded_runs()))


def change_of(store: Store, identity: Identity, prices: Prices, own: Mapping[str, bool]) -> WorkloadChange:
    """One workload; `own`: whether more is better of the user's own metric, by its name."""
    recorded = store.recorded_runs(identity)
    changed = changes(store, identity, recorded)
    if changed is None:
        return WorkloadChange(identity, None, None, len(recorded), 0, 0, (), ())
    after = followers(recorded, changed.since_first)
    others = [entry.run for entry in recorded if entry.suggestion_id not in changed.since_first]
    before = [run.completed(changed.reference) for run in others if latest_start(run) < changed.first]
    if len(before) < FEWEST:  # whoever set the old values again measured them
        alike = [run for run in others if latest_start(run) >= changed.first and is_of(changed.reference, run)]
        before += [run.completed(changed.reference) for run in alike]
    lines = compared(before, after, prices, own, changed.expected)
    newest = followers(recorded, changed.since_last)
    again = changed.since_last.keys() != changed.since_first.keys()
    since_last = compared(before, newest, prices, own, changed.expected) if again else []
    left_out = len(others) - len(before)
    return WorkloadChange(identity, changed.first, changed.last, len(before), len(after), left_out, lines, since_last)


def is_of(values: Parameters, run: Run) -> bool:
    """Whether a run reported all of these values."""
    return values.keys() <= run.parameters.keys() and same(run.parameters, values)


def changes(store: Store, identity: Identity, recorded: Sequence[RecordedRun]) -> Changed | None:
    """When JPO changed config.ini; None before the first change."""
    made = in_effect(store, identity, recorded)
    at = [number for number, suggestion in enumerate(made) if suggestion.changes]
    if not at:
        return None
    first, last = made[at[0]], made[at[-1]]
    since_first, since_last = ({later.suggestion_id: later.suggested for later in made[since:]} for since in (at[0], at[-1]))
    forecast = (suggestion.now for suggestion in made if suggestion.now.known and same(suggestion.current, first.current))
    expected = next(forecast, UNKNOWN)
    return Changed(first.created_at, last.created_at, first.current, expected, since_first, since_last)


def followers(recorded: Sequence[RecordedRun], suggested: Mapping[str, Parameters]) -> list[Run]:
    """The runs that followed; what they do not report of their parameters was as suggested."""
    pairs = [(entry.run, suggested.get(entry.suggestion_id or "")) for entry in recorded]
    return [run.completed(values) for run, values in pairs if values is not None]


def compared(
    before: Sequence[Run],
    after: Sequence[Run],
    prices: Prices,
    own: Mapping[str, bool] = NOTHING,
    expected: Forecast = UNKNOWN,
) -> list[BeforeAfter]:
    """Each quantity that was measured on some side, and how many runs failed.

    Args:
        expected: of a run with the values before, which stands in where fewer than FEWEST runs measured a quantity.
    """
    sides = before[-MOST:], after[-MOST:]
    well = [[run for run in side if run.ended_well] for side in sides]
    lines = []
    for quantity, more_is_better in {**MORE_IS_BETTER, **own}.items():
        measured = [[value for run in side if (value := outcome_of(run, quantity, prices)) is not None] for side in well]
        loss_known = quantity == "train_loss" and any(run.outcome.val_loss is not None for side in sides for run in side)
        if quantity in ("duration_seconds", "cost_usd") or (any(measured) and not loss_known):
            shares = quantity == "val_accuracy" or quantity in own  # +0.004 says more than +0%
            forecast = expected.of(quantity) if quantity in (*FORECAST, *expected.metrics) else None
            one, other = measured
            if forecast and any(measured) and len(one) < FEWEST:
                line = before_after.compare_with_forecast(
                    quantity, forecast, other, more_is_better=more_is_better, runs_before=len(one), difference=shares
                )
            else:
                line = before_after.compare(quantity, one, other, more_is_better=more_is_better, seed=SEED, difference=shares)
            lines.append(line)
    ended = [[not run.ended_well for run in side if run.status is not RunStatus.STOPPED] for side in sides]
    return [*lines, before_after.compare_shares("failed", *ended)]
