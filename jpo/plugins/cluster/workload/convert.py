"""Tables of other clusters as training jobs: Philly's, openb's, Pollux's, and JPO's own history. Times count from the first job.

docs/plugins/cluster.md says what each is. A share of a GPU becomes a whole one: devices are given out whole here.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jpo.errors import quoted
from jpo.files.reading import json_object
from jpo.plugins.cluster.workload.swf import malformed
from jpo.plugins.cluster.workload.table import amount, csv_rows, text_of, under

MOST_BYTES = 1 << 29
COLUMNS = ("id", "submit_seconds", "duration_seconds", "gpus", "gpu_type", "cpus", "memory_gib", "tasks", "user", "model_class")


class ConvertedJob(NamedTuple):
    """A row of the table that comes out; times in seconds of whatever clock the file has."""

    id: str
    submit_seconds: float
    duration_seconds: float
    gpus: int = 0
    gpu_type: str = ""
    cpus: int = 0
    memory_gib: float = 0.0
    tasks: int = 1
    user: str = ""
    model_class: str = ""


Durations = Mapping[str, float]
"""Seconds by application, for tables that do not say how long a job runs."""


def convert(path: Path, form: str, durations: Durations, *, jpo: bool = True) -> tuple[list[ConvertedJob], int]:
    """Jobs in the order of their arrival, counted from the first, and how many were left out: they never ran, or still do.

    `jpo`: a history as it was; else as it would have been without JPO, see without_jpo.

    Raises UsageError: JPO-E740, the file is none of this form; names line or job.
    """
    text = text_of(path, MOST_BYTES)
    found = list(FORMS[form](text, path, durations))
    if not jpo:
        found = [*without_jpo(text, path), *(job for job in found if job is None)]
    jobs = sorted((job for job in found if job is not None and job.duration_seconds > 0), key=lambda job: job.submit_seconds)
    if not jobs:
        raise malformed(str(path), f"has no job that ran, read as {form}", f"known forms are {', '.join(FORMS)}")
    first = jobs[0].submit_seconds
    return [job._replace(submit_seconds=job.submit_seconds - first) for job in jobs], len(found) - len(jobs)


def _philly(text: str, path: Path, durations: Durations) -> Iterator[ConvertedJob | None]:
    jobs = f'{{"jobs": {text}}}' if text.lstrip().startswith("[") else "{}"
    listed = _listed(jobs, "jobs", path, "is not a JSON list of jobs", "cluster_job_log of Philly's traces is one")
    for place, job in enumerate(listed, start=1):
        where = f"{path}: job {place}"
        if not isinstance(job, dict):
            raise malformed(where, "is not a JSON object")
        submit = _moment(job.get("submitted_time"), where, "submitted_time")
        listed_attempts = [one for one in job.get("attempts") or [] if isinstance(one, dict)]
        attempts = [one for one in listed_attempts if _known(one.get("start_time")) and _known(one.get("end_time"))]
        if submit is None or not attempts:
            yield None
            continue
        last = attempts[-1]
        start, end = (_moment(last[key], where, key) or 0.0 for key in ("start_time", "end_time"))
        gpus = [len(one.get("gpus") or []) for one in last.get("detail") or [] if isinstance(one, dict)]
        user, name = str(job.get("user") or ""), str(job.get("jobid") or place)
        each = gpus[0] if gpus and len(set(gpus)) == 1 else 1  # tasks of one size, else one GPU each
        tasks = len(gpus) if gpus and len(set(gpus)) == 1 else max(sum(gpus), 1)
        yield ConvertedJob(name, submit, end - start, each, cpus=0 if each else 1, tasks=tasks, user=user)


def _openb(text: str, path: Path, durations: Durations) -> Iterator[ConvertedJob | None]:
    for line, row in _rows(text, path, ("name", "cpu_milli", "memory_mib", "num_gpu", "creation_time", "deletion_time")):
        given = partial(_amount, row, f"{path}:{line}")
        created, deleted = given("creation_time"), given("deletion_time")
        began = given("scheduled_time") or created
        gpus = math.ceil(given("num_gpu"))
        kind = row.get("gpu_spec", "").split("|")[0]
        cpus = math.ceil(given("cpu_milli") / 1000)
        memory = given("memory_mib") / 1024
        yield ConvertedJob(row["name"], created, deleted - began, gpus, kind, cpus or int(not gpus), memory) if deleted else None


def _pollux(text: str, path: Path, durations: Durations) -> Iterator[ConvertedJob | None]:
    for line, row in _rows(text, path, ("time", "name", "num_replicas")):
        where = f"{path}:{line}"
        application = row.get("application") or row["name"].rsplit("-", 1)[0]
        seconds = _amount(row, where, "duration") or durations.get(application, 0.0)
        if not seconds:
            name = quoted(application)
            raise malformed(where, f"does not say how long {name} runs", f"give e.g. --duration {name}=3600")
        gpus = int(_amount(row, where, "num_replicas"))
        yield ConvertedJob(row["name"], _amount(row, where, "time"), seconds, 1, tasks=max(gpus, 1), model_class=application)


def _history(text: str, path: Path, durations: Durations) -> Iterator[ConvertedJob | None]:
    for place, run in enumerate(_listed(text, "runs", path, "has no runs", "write it with jpo history --format json"), start=1):
        where = f"{path}: run {place}"
        given, outcome = (run.get(key) if isinstance(run, dict) else None for key in ("parameters", "outcome"))
        if not (isinstance(given, dict) and isinstance(outcome, dict)):
            raise malformed(where, "has no parameters or outcome", "write it with jpo history --format json")
        seconds, end = (_numeric(value, where) for value in (outcome.get("duration_seconds"), run.get("ended_at")))
        start = _numeric(run.get("started_at"), where) or (end - seconds if end and seconds else None)
        if seconds is None or start is None:
            yield None
            continue
        gpus, cpus, memory = (_numeric(given.get(key), where) or 0.0 for key in ("gpus", "cpus", "memory_gib"))
        labels = run.get("workload") if isinstance(run.get("workload"), dict) else {}
        name, model = str(run.get("run_id") or place), str((labels or {}).get("model") or "")
        whole_gpus = math.ceil(gpus)
        yield ConvertedJob(
            name, start, seconds, whole_gpus, "", math.ceil(cpus) or int(not whole_gpus), memory, model_class=model
        )


def without_jpo(text: str, path: Path) -> list[ConvertedJob]:
    """A history as it would have been without JPO: runs after a workload's first suggestion take what its runs took before.

    That is the mean duration of those, and the devices of the last one. A workload without runs before stays as it was.
    """
    runs = json_object(text)["runs"]
    jobs = [job for job in _history(text, path, {}) if job is not None]
    of_run = {str(run.get("run_id")): run for run in runs}
    before: dict[str, list[ConvertedJob]] = {}
    suggested: set[str] = set()
    found = []
    for job in sorted(jobs, key=lambda job: job.submit_seconds):
        run = of_run.get(job.id, {})
        workload = f"{run.get('workload')}"
        if run.get("suggestion_id"):
            suggested.add(workload)
        past = before.setdefault(workload, [])
        if workload not in suggested:
            past.append(job)
        elif past:
            seconds = math.fsum(one.duration_seconds for one in past) / len(past)
            job = past[-1]._replace(id=job.id, submit_seconds=job.submit_seconds, duration_seconds=seconds)
        found.append(job)
    return found


FORMS: Mapping[str, Callable[[str, Path, Durations], Iterator[ConvertedJob | None]]] = {
    "philly": _philly,
    "openb": _openb,
    "pollux": _pollux,
    "history": _history,
}


def _listed(text: str, key: str, path: Path, finding: str, remedy: str) -> list[Any]:
    try:
        listed = json_object(text).get(key)
    except ValueError as error:
        raise malformed(str(path), str(error)) from error
    if not isinstance(listed, list):
        raise malformed(str(path), finding, remedy)
    return listed


def _rows(text: str, path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    rows = csv_rows(text, path)
    _, cells = next(rows, (1, []))
    head = [cell.strip() for cell in cells]
    missing = [name for name in needed if name not in head]
    if missing:
        raise malformed(f"{path}:1", f"has no column {missing[0]}", f"{', '.join(needed)} are needed")
    for line, cells in rows:
        yield line, under(head, cells, f"{path}:{line}")


def _amount(row: Mapping[str, str], where: str, column: str) -> float:
    """A number from 0; an absent or empty cell is 0."""
    return amount(row.get(column, ""), where, column) or 0.0


def _numeric(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise malformed(where, f"contains {quoted(value)}, which is not a number of at least 0")
    return float(value)


def _known(value: object) -> bool:
    return value not in (None, "", "None")


def _moment(value: object, where: str, column: str) -> float | None:
    """A time of Philly's log, 2017-10-01 00:00:00, in seconds."""
    if not _known(value):
        return None
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise malformed(where, f"{column} is {quoted(value)}, which is not a time", "write e.g. 2017-10-01 00:00:00") from error
