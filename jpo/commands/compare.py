"""`jpo history --compare`: what runs took, cost and brought before JPO's first change and after it.

Before: the runs that started before the first change was written. After: those that followed a suggestion made since, also one
that kept the values or a rollback. What ran with other values in between is neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.cost import Prices, outcome_of
from jpo.errors import UsageError
from jpo.forecast import before_after
from jpo.forecast.before_after import BeforeAfter
from jpo.history import RecordedRun, Store, latest_start
from jpo.history.undo import in_effect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project_store, own_direction
from jpo.project.workload import read_workload
from jpo.records import Identity, Parameters, Run, RunStatus
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


@dataclass(frozen=True, slots=True)
class Changed:
    """Time of JPO's changes to a workload, and the suggestions since.

    Attributes:
        reference: the values before the first change.
        since_first, since_last: the values of the suggestions made since the first and since the last change, by id.
    """

    first: float
    last: float
    reference: Parameters
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
    lines = compared(before, after, prices, own)
    newest = followers(recorded, changed.since_last)
    since_last = compared(before, newest, prices, own) if changed.since_last.keys() != changed.since_first.keys() else []
    left_out = len(others) - len(before)
    return WorkloadChange(identity, changed.first, changed.last, len(before), len(after), left_out, lines, since_last)


def changes(store: Store, identity: Identity, recorded: Sequence[RecordedRun]) -> Changed | None:
    """When JPO changed config.ini; None before the first change."""
    made = in_effect(store, identity, recorded)
    at = [number for number, suggestion in enumerate(made) if suggestion.changes]
    if not at:
        return None
    first, last = made[at[0]], made[at[-1]]
    since_first, since_last = ({later.suggestion_id: later.suggested for later in made[since:]} for since in (at[0], at[-1]))
    return Changed(first.created_at, last.created_at, first.current, since_first, since_last)


def followers(recorded: Sequence[RecordedRun], suggested: Mapping[str, Parameters]) -> list[Run]:
    """The runs that followed; what they do not report of their parameters was as suggested."""
    pairs = [(entry.run, suggested.get(entry.suggestion_id or "")) for entry in recorded]
    return [run.completed(values) for run, values in pairs if values is not None]


def compared(before: Sequence[Run], after: Sequence[Run], prices: Prices, own: Mapping[str, bool] = NOTHING) -> list[BeforeAfter]:
    """Each quantity that was measured on some side, and how many runs failed."""
    sides = before[-MOST:], after[-MOST:]
    well = [[run for run in side if run.ended_well] for side in sides]
    lines = []
    for quantity, more_is_better in {**MORE_IS_BETTER, **own}.items():
        measured = [[value for run in side if (value := outcome_of(run, quantity, prices)) is not None] for side in well]
        loss_known = quantity == "train_loss" and any(run.outcome.val_loss is not None for side in sides for run in side)
        if quantity in ("duration_seconds", "cost_usd") or (any(measured) and not loss_known):
            shares = quantity == "val_accuracy" or quantity in own  # +0.004 says more than +0%
            lines.append(before_after.compare(quantity, *measured, more_is_better=more_is_better, seed=SEED, difference=shares))
    ended = [[not run.ended_well for run in side if run.status is not RunStatus.STOPPED] for side in sides]
    return [*lines, before_after.compare_shares("failed", *ended)]
