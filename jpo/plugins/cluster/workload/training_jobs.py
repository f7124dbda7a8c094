"""Training jobs of a cluster as CSV: one per row, columns by their names in the first row; docs/plugins/cluster.md has them.

An absent column or an empty cell is 0 (tasks 1, cpus 1 where there are no gpus, requested the duration, no deadline).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jpo.errors import quoted
from jpo.files.reading import number
from jpo.plugins.cluster.workload.demand import DemandTable, Elasticity, Phases
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.swf import malformed
from jpo.plugins.cluster.workload.table import amount, csv_rows, text_of, under

MOST_BYTES = 1 << 28
ALIASES: Mapping[str, str] = {
    "job_id": "id",
    "submit": "submit_seconds",
    "duration": "duration_seconds",
    "memory": "memory_gib",
    "class": "model_class",
    "deadline": "deadline_seconds",
}
AMOUNTS = (
    *("submit_seconds", "duration_seconds", "work", "gpus", "cpus", "memory_gib", "tasks", "requested_seconds"),
    *("bandwidth_gbps", "batch_size", "deadline_seconds", "min_tasks", "max_tasks", "serial_share"),
)
TEXTS = ("id", "gpu_type", "model_class", "user", "phases")
COUNTS = ("gpus", "cpus", "tasks", "min_tasks", "max_tasks")
MOST_CYCLES = 10_000
"""Cycles of phases in a job: more would keep a simulation busy with nothing else."""
COLUMNS = (*TEXTS, *AMOUNTS)


@dataclass(frozen=True, slots=True)
class TrainingJobs:
    """Jobs of a file with what they need; `lines` of it, `names` as it has them; `never_ran` were left out."""

    jobs: JobTable
    demand: DemandTable
    names: tuple[str, ...]
    lines: tuple[int, ...]
    never_ran: int


@dataclass(frozen=True, slots=True)
class JobRow:
    """A row of the file; None: the cell is empty or the column absent."""

    line: int
    texts: Mapping[str, str]
    amounts: Mapping[str, float | None]
    phases: Phases = ()

    def amount(self, column: str, absent: float = 0.0) -> float:
        value = self.amounts.get(column)
        return absent if value is None else value


def read_training_jobs(path: Path, *, first: int | None = None) -> TrainingJobs:
    """Jobs of a CSV file; `first`: the earliest so many.

    Raises UsageError: JPO-E740, it cannot be read or a cell is malformed; names line and column.
    """
    rows = sorted(_rows(path), key=lambda row: row.amount("submit_seconds"))
    ran = [row for row in rows if duration(row) > 0]
    if not ran:
        raise malformed(str(path), "has no job that ran", "write one job per row under id,submit_seconds,duration_seconds,gpus")
    kept = ran[:first]
    names, lines = zip(*((row.texts["id"], row.line) for row in kept), strict=True)
    return TrainingJobs(*tables(kept), names, lines, len(rows) - len(ran))


def tables(rows: list[JobRow]) -> tuple[JobTable, DemandTable]:
    tasks, gpus = np.array([int(row.amount("tasks", 1)) for row in rows]), np.array([int(row.amount("gpus")) for row in rows])
    cpus = np.array([int(row.amount("cpus", 0 if row.amount("gpus") else 1)) for row in rows])
    users = {name: place for place, name in enumerate(dict.fromkeys(row.texts["user"] for row in rows if row.texts["user"]))}
    run = np.array([duration(row) for row in rows])
    jobs = JobTable(
        ids=np.arange(1, len(rows) + 1),
        submit_seconds=np.array([row.amount("submit_seconds") for row in rows]),
        run_seconds=run,
        requested_seconds=np.array([row.amount("requested_seconds") or float(run[place]) for place, row in enumerate(rows)]),
        processors=tasks * np.where(gpus > 0, gpus, cpus),
        users=np.array([users.get(row.texts["user"], -1) for row in rows]),
    )
    demand = DemandTable(
        tasks,
        cpus,
        gpus,
        np.array([row.amount("memory_gib") for row in rows]),
        np.array([_mean(row.phases) if row.phases else row.amount("bandwidth_gbps") for row in rows]),
        tuple(row.texts["gpu_type"] for row in rows),
        tuple(row.texts["model_class"] for row in rows),
        np.array([row.amount("deadline_seconds", math.inf) for row in rows]),
        tuple(row.phases for row in rows) if any(row.phases for row in rows) else (),
        _elasticity(rows),
    )
    return jobs, demand


def _elasticity(rows: list[JobRow]) -> Elasticity | None:
    """With how many tasks jobs can run; None: each with its own number alone."""
    tasks = [row.amount("tasks", 1) for row in rows]
    least, most = (
        np.array([int(row.amount(column, asked)) for row, asked in zip(rows, tasks, strict=True)])
        for column in ("min_tasks", "max_tasks")
    )
    shares = np.array([row.amount("serial_share", math.nan) for row in rows])
    return Elasticity(least, most, shares) if (most > least).any() else None


def duration(row: JobRow) -> float:
    """Seconds on the reference device: given, or the work by the devices that do it."""
    given = row.amounts.get("duration_seconds")
    if given is not None:
        return given
    devices = row.amount("tasks", 1) * (row.amount("gpus") or row.amount("cpus", 1))
    return row.amount("work") / devices


def _rows(path: Path) -> Iterator[JobRow]:
    rows = csv_rows(text_of(path, MOST_BYTES), path)
    _, cells = next(rows, (1, []))
    head = [ALIASES.get(cell.strip().lower(), cell.strip().lower()) for cell in cells]
    _check_head(head, path)
    for line, cells in rows:
        yield _row(under(head, cells, f"{path}:{line}"), path, line)


def _check_head(head: list[str], path: Path) -> None:
    unknown = [name for name in head if name not in COLUMNS]
    if unknown or len(set(head)) < len(head):
        finding = f"column {quoted(unknown[0])} is unknown" if unknown else "has a column twice"
        split = len(head) == 1 and any(sign in head[0] for sign in ";\t")
        raise malformed(f"{path}:1", finding, "separate cells by commas" if split else f"known are {', '.join(COLUMNS)}")
    if "submit_seconds" not in head or not {"duration_seconds", "work"} & set(head):
        finding = "has no column submit_seconds, or neither duration_seconds nor work"
        raise malformed(f"{path}:1", finding, "name both in the first row")


def _row(given: Mapping[str, str], path: Path, line: int) -> JobRow:
    place = f"{path}:{line}"
    amounts = {column: _amount(given.get(column, ""), place, column) for column in AMOUNTS}
    if amounts["submit_seconds"] is None or (amounts["duration_seconds"] is None and amounts["work"] is None):
        missing = "submit_seconds" if amounts["submit_seconds"] is None else "duration_seconds"
        raise malformed(place, f"column {missing} is empty", "each job needs a submit time, and a duration or its work")
    if amounts["tasks"] == 0 or (amounts["cpus"] == 0 and not amounts["gpus"]):
        raise malformed(place, "has a job without tasks, CPUs and GPUs", "it needs one of them at least")
    _check_range(amounts, place)
    row = JobRow(line, {column: given.get(column, "") for column in TEXTS}, amounts)
    phases = _phases(given.get("phases", ""), place)
    if phases and duration(row) > MOST_CYCLES * sum(seconds for seconds, _ in phases):
        raise malformed(place, f"has more than {MOST_CYCLES} cycles of its phases", "give longer ones")
    return replace(row, phases=phases)


def _check_range(amounts: Mapping[str, float | None], place: str) -> None:
    tasks = amounts["tasks"] or 1.0
    least, most = (tasks if (value := amounts[column]) is None else value for column in ("min_tasks", "max_tasks"))
    if not 1 <= least <= tasks <= most:
        finding = f"has {tasks:.0f} tasks, which is not from min_tasks = {least:.0f} to max_tasks = {most:.0f}"
        raise malformed(place, finding, "tasks are between the two, which count from 1")
    if (amounts["serial_share"] or 0) > 1:
        raise malformed(place, f"column serial_share is {amounts['serial_share']:g}, not a share from 0 to 1")


def _phases(cell: str, place: str) -> Phases:
    """`600:20 60:2` as pairs."""
    pairs = []
    for part in cell.split():
        try:
            seconds, gbps = (number(word) for word in part.split(":"))
        except ValueError:
            seconds = gbps = math.nan
        if not (0 < seconds < 2**53 and 0 <= gbps < 2**33):
            finding = f"column phases has {quoted(part)}, not seconds above 0, a colon and GB/s"
            raise malformed(place, finding, "write e.g. 600:20 60:2")
        pairs.append((seconds, gbps))
    return tuple(pairs)


def _mean(phases: Phases) -> float:
    return sum(seconds * gbps for seconds, gbps in phases) / sum(seconds for seconds, _ in phases)


def _amount(cell: str, place: str, column: str) -> float | None:
    value = amount(cell, place, column, "leave it empty where it is unknown")
    if column in COUNTS and value is not None and not value.is_integer():
        raise malformed(place, f"column {column} is {quoted(cell)}, not a whole number", "GPUs, CPUs and tasks are counted")
    return value
