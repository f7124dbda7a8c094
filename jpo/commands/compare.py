"""`jpo history --compare`: what runs took, cost and brought before JPO's first change and after it.

Which runs are on which side: optimizer/before_and_after.py. Where too few are from before, what was forecast for those values
then stands there, marked as such.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from jpo.cost import Prices, outcome_of
from jpo.errors import UsageError
from jpo.forecast import before_after
from jpo.forecast.before_after import BeforeAfter
from jpo.forecast.measurements import FEWEST
from jpo.history.undo import in_effect
from jpo.optimizer.before_and_after import UNKNOWN, Sides, sides_of, taken
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project_store, own_direction
from jpo.project.workload import read_workload
from jpo.records import FORECAST, Forecast, Identity, Run, RunStatus
from jpo.report.before_after import MOST_WORKLOADS, PER_MODEL, WorkloadChange, WorkloadChanges, chart
from jpo.report.forms.picture import can_plot, save

MORE_IS_BETTER = {
    "energy_joules": False,
    "co2_kg": False,
    "gpu_utilisation": True,
    "cpu_utilisation": True,
    "memory_gib": False,
    "throughput_samples_per_second": True,
    "val_loss": False,
    "val_accuracy": True,
    "train_loss": False,
}
"""What else is compared, of runs that ended well; the train loss only where no validation loss was measured."""
MOST = 500
"""Newest runs on each side that are compared: jobs drift, and more narrow no interval that matters."""
SEED = 0
NOTHING: Mapping[str, bool] = {}


def compare(path: Path | None, settings: LoadedSettings, *, picture: Path | None, now: float) -> WorkloadChanges:
    """Compare a workload, or (None) every one on record, and draw it where a picture is wanted.

    Raises UsageError: JPO-E712, JPO-E713 or JPO-E852, the picture cannot be drawn; JPO-E851, it would show several workloads.
    """
    if picture:
        can_plot(picture)
    with open_project_store(settings) as job:
        every = [read_workload(path, settings, now=now).identity] if path else list(job.store.numbers_of_runs())
        identities = every[:MOST_WORKLOADS]
        own, changes = own_direction(settings), []
        for identity in identities:
            recorded = job.store.recorded_runs(identity)
            sides = sides_of(in_effect(job.store, identity, recorded), recorded)
            changes.append(change_of(identity, sides, job.prices, own))
        result = WorkloadChanges(changes, job.currency, len(every))
    if picture:
        if len(every) != 1:
            finding = f"{len(every)} workloads are on record; a picture shows one"
            raise UsageError("--plot", finding, "name its config.ini", code="JPO-E851")
        shown = chart(result.workloads[0])
        if not shown.points:
            finding = f"too few runs of {identities[0]} before and after a change for any interval"
            raise UsageError("--plot", finding, "run the job some more times, or leave --plot out", code="JPO-E852")
        save([shown], picture, str(identities[0]))
    return result


def change_of(identity: Identity, sides: Sides, prices: Prices, own: Mapping[str, bool]) -> WorkloadChange:
    """One workload; `own`: whether more is better of the user's own metric, by its name."""
    before, after = len(sides.before), len(sides.after)
    if sides.since is None:
        return WorkloadChange(identity, None, None, before, 0, 0, (), ())
    lines = compared(sides.before, sides.after, prices, own, sides.expected)
    again = sides.last != sides.since
    since_last = compared(sides.before, sides.newest, prices, own, sides.expected) if again else []
    return WorkloadChange(
        identity, sides.since, sides.last, before, after, sides.left_out, lines, since_last, sides.failed_starts
    )


def compared(
    before: Sequence[Run], after: Sequence[Run], prices: Prices, own: Mapping[str, bool] = NOTHING, expected: Forecast = UNKNOWN
) -> list[BeforeAfter]:
    """Each quantity that was measured on some side, and how many runs failed.

    `expected`: of a run with the values before, which stands in where fewer than FEWEST runs measured a quantity.
    """
    sides = before[-MOST:], after[-MOST:]
    well = [[run for run in side if run.ended_well] for side in sides]
    per_model = ((name, taken(name, sides[0], prices, before=True), taken(name, sides[1], prices)) for name in PER_MODEL)
    lines = [before_after.compare_per_result(name, one, other, expected.of(name)) for name, one, other in per_model]
    for quantity, more_is_better in {**MORE_IS_BETTER, **own}.items():
        measured = [[value for run in side if (value := outcome_of(run, quantity, prices)) is not None] for side in well]
        loss_known = quantity == "train_loss" and any(run.outcome.val_loss is not None for side in sides for run in side)
        if any(measured) and not loss_known:
            shares = quantity == "val_accuracy" or quantity in own  # +0.004 says more than +0%
            forecast = expected.of(quantity) if quantity in (*FORECAST, *expected.metrics) else None
            (one, other), how = measured, {"more_is_better": more_is_better, "difference": shares}
            if forecast and len(one) < FEWEST:
                lines.append(before_after.compare_with_forecast(quantity, forecast, other, runs_before=len(one), **how))
            else:
                lines.append(before_after.compare(quantity, one, other, seed=SEED, **how))
    ended = [[not run.ended_well for run in side if run.status is not RunStatus.STOPPED] for side in sides]
    return [*lines, before_after.compare_shares("failed", *ended)]
