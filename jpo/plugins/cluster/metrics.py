"""Metrics of a schedule: what users waited, and what the machine did meanwhile. Formulas stand beside each attribute."""

from dataclasses import dataclass, fields

import numpy as np

from jpo.plugins.cluster.workload.jobs import JobTable, Seconds, Whole

TAU_SECONDS = 10.0
"""Shorter jobs count as this long in a slowdown: Feitelson et al., "Theory and Practice in Parallel Job Scheduling", 1997."""


@dataclass(frozen=True, slots=True)
class JobFigures:
    """Average, median, 95th percentile (linear between two jobs) and largest value over jobs."""

    average: float
    median: float
    p95: float
    largest: float

    def named(self, quantity: str) -> dict[str, float]:
        """As JSON calls them: avg_wait_seconds, ..."""
        values = {"avg": self.average, "median": self.median, "p95": self.p95, "max": self.largest}
        return {f"{which}_{quantity}": value for which, value in values.items()}


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """What a schedule amounts to. Of job j: s submit, b start, e = b + run its end, n processors; P: those of the machine.

    Attributes:
        jobs: how many.
        wait_seconds: b - s.
        bounded_slowdown: max(1, (e - s) / max(run, TAU_SECONDS)).
        turnaround_seconds: e - s.
        completion_seconds: e, counted from the first submit.
        makespan_seconds: max e - min s.
        utilisation: sum(n run) / (P makespan), with what resized jobs held by then.
        utilisation_by_last_start: the same, of the time from min s to max b alone: without the end, when nothing waits any more.
            None where all jobs start at once.
        fairness: Jain's index of the average bounded slowdown of each user: (sum x)^2 / (users sum x^2); 1: all alike.
            Jain, Chiu, Hawe, DEC-TR-301, 1984. None where no user is known.
    """

    jobs: int
    wait_seconds: JobFigures
    bounded_slowdown: JobFigures
    turnaround_seconds: JobFigures
    completion_seconds: JobFigures
    makespan_seconds: float
    utilisation: float
    utilisation_by_last_start: float | None
    fairness: float | None

    def named(self) -> dict[str, float | None]:
        """Every figure by its name in JSON."""
        found: dict[str, float | None] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            found |= value.named(field.name) if isinstance(value, JobFigures) else {field.name: value}
        return found


def queue_metrics(
    jobs: JobTable,
    starts: Seconds,
    processors: int,
    *,
    run_seconds: Seconds | None = None,
    held: Whole | None = None,
    besides: tuple[Seconds, Seconds, Whole] | None = None,
) -> QueueMetrics:
    """The metrics of a schedule of at least one job.

    `run_seconds`, `held`: how long each ran, and how many of the machine's processors it held; None: as the table says.
    `besides`: begins, ends and processors of what jobs that were resized held for a while.
    """
    held = jobs.processors if held is None else held
    run = jobs.run_seconds if run_seconds is None else run_seconds
    wait, end = starts - jobs.submit_seconds, starts + run
    slowdown = bounded_slowdown(wait, run)
    first = float(jobs.submit_seconds.min())
    makespan, until_last = float(end.max()) - first, float(starts.max()) - first
    area = float((run * held).sum())
    before = float((np.minimum(end, starts.max()) - starts) @ held)
    if besides is not None:
        begins, stops, more = besides
        area += float((stops - begins) @ more)
        before += float((np.minimum(stops, starts.max()) - np.minimum(begins, starts.max())) @ more)
    return QueueMetrics(
        jobs=len(jobs),
        wait_seconds=spread(wait),
        bounded_slowdown=spread(slowdown),
        turnaround_seconds=spread(end - jobs.submit_seconds),
        completion_seconds=spread(end - first),
        makespan_seconds=makespan,
        utilisation=area / (processors * makespan) if makespan > 0 else 0.0,
        utilisation_by_last_start=before / (processors * until_last) if until_last > 0 else None,
        fairness=fairness(slowdown, jobs),
    )


def bounded_slowdown(wait: Seconds, run: Seconds) -> Seconds:
    """max(1, (wait + run) / max(run, TAU_SECONDS)), of each job."""
    return np.maximum(1.0, (wait + run) / np.maximum(run, TAU_SECONDS))


def fairness(slowdown: Seconds, jobs: JobTable) -> float | None:
    """Jain's index over users, see QueueMetrics."""
    known = jobs.users >= 0
    if not known.any():
        return None
    _, user = np.unique(jobs.users[known], return_inverse=True)
    each = np.bincount(user, weights=slowdown[known]) / np.bincount(user)
    return float(each.sum() ** 2 / (len(each) * (each**2).sum()))


def spread(values: Seconds) -> JobFigures:
    """Of at least one value."""
    median, p95 = np.percentile(values, [50, 95])
    return JobFigures(float(values.mean()), float(median), float(p95), float(values.max()))
