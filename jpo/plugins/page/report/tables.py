"""The report as CSV files, for spreadsheets and notebooks: one row per run, per promise of a run, or per configuration.

Numbers are as they are recorded, amounts in USD, logs natural; what is not known is empty. Texts are made harmless by csv_line.
"""

from collections.abc import Iterator, Mapping, Sequence

from jpo.plugins.page.report.record import Review, ReviewedRun, WorkloadReview
from jpo.records import PARAMETERS, Identity
from jpo.report.forms.csv import Raw, csv_line
from jpo.report.history import DECISION, HEAD, decision_of, own_cells, own_parameters, row_of

WORKLOAD = ("dataset", "model", "framework", "hardware")
ALLOCATION = (*WORKLOAD, "run_id", "started_at", "ended_at", "suggestion_id", "decided_by", *PARAMETERS, "usd_per_hour")
REWARDS = (*WORKLOAD, "run_id", "ended_at", "time", "cost", "efficiency", "loss", "failed", "sla", "reward")
METRICS = (*WORKLOAD, "run_id", "ended_at", "target", "limit", "measured", "verdict")
FRONT = (*WORKLOAD, "objective", "value", "second_objective", "second_value", "on_front", "runs", "failed", *PARAMETERS)
Rows = Iterator[Sequence[Raw]]


def files(review: Review) -> Mapping[str, str]:
    """The content of each file, by its name."""
    own = own_parameters(reviewed.past.recorded.run for workload in review.workloads for reviewed in workload.runs)
    tables: Mapping[str, tuple[Sequence[str], Rows]] = {
        "allocation_history": ((*ALLOCATION, *own), _allocation(review, own)),
        "reward_components": (REWARDS, _rewards(review)),
        "sla_metrics": (METRICS, _promises(review)),
        "pareto_front": ((*FRONT, *own), _front(review, own)),
        "performance_metrics": ((*HEAD, *DECISION, "cost_by_prices_usd", *own), _performance(review, own)),
    }
    return {f"{name}.csv": "".join(map(csv_line, (head, *rows))) for name, (head, rows) in tables.items()}


def _of(identity: Identity) -> list[Raw]:
    return [getattr(identity, name) for name in WORKLOAD]


def _reviewed(review: Review) -> Iterator[tuple[WorkloadReview, ReviewedRun]]:
    return ((workload, reviewed) for workload in review.workloads for reviewed in workload.runs)


def _allocation(review: Review, own: Sequence[str]) -> Rows:
    """What each run was given, and who decided that."""
    for workload, reviewed in _reviewed(review):
        run, made = reviewed.past.recorded.run, reviewed.past.suggestion
        when = (run.run_id, run.started_at, run.ended_at, reviewed.past.recorded.suggestion_id)
        yield (
            *(*_of(workload.identity), *when, made.decision.decided_by if made else None),
            *(*own_cells(run.parameters, PARAMETERS), reviewed.usd_per_hour, *own_cells(run.parameters, own)),
        )


def _rewards(review: Review) -> Rows:
    """What each run was worth to the agent."""
    for workload in review.workloads:
        for worth in workload.rewards:
            components = (getattr(worth, name) for name in REWARDS[len(WORKLOAD) + 2 :])
            yield (*_of(workload.identity), worth.run.run_id, worth.run.ended_at, *components)


def _promises(review: Review) -> Rows:
    """Each promise of [sla], held against each run."""
    for workload, reviewed in _reviewed(review):
        run = reviewed.past.recorded.run
        for check, measured in reviewed.checks:
            yield (*_of(workload.identity), run.run_id, run.ended_at, check.name, check.limit, measured, check.verdict)


def _front(review: Review, own: Sequence[str]) -> Rows:
    """What was measured of each configuration."""
    for workload in review.workloads:
        for point in workload.front.points:
            pairs: list[Raw] = [cell for name in workload.front.quantities for cell in (name, point.values[name])]
            given = own_cells(point.parameters, (*PARAMETERS, *own))
            yield (*_of(workload.identity), *pairs, point.on_front, point.runs, point.failed, *given)


def _performance(review: Review, own: Sequence[str]) -> Rows:
    """What was measured of each run."""
    for _, reviewed in _reviewed(review):
        past = reviewed.past
        yield (
            *row_of(past.recorded.run, past.recorded.suggestion_id),
            *decision_of(past.suggestion, past.sla),
            reviewed.cost_usd,
            *own_cells(past.recorded.run.parameters, own),
        )
