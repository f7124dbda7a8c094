"""Sets of CSV logs: the files that patterns select, and the runs in them. One bad log never hides the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.records import Finished, Identity, Quality, Run, Skipped
from jpo.telemetry.csv.log import NO_METRICS, parsed, run_of
from jpo.telemetry.outcome import NoEvidence


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A finished run and its log file."""

    path: Path
    run: Run


@dataclass(frozen=True, slots=True)
class UnusableLog:
    """A log without a run that can be learnt from: where, why, and the reason code."""

    path: Path
    run_id: str
    """The file's name where the log could not be read that far."""
    reason: str
    code: str
    kind: str = ""
    """Code of the reason why its run is no evidence (outcome.py); empty where it is the log that cannot be used."""


def read_logs(
    patterns: Iterable[str | Path], identity: Identity, *, now: float | None = None, metrics: Mapping[str, Quality] = NO_METRICS
) -> Finished:
    """The finished runs of one workload, and of the same job on other hardware, among many logs, oldest first.

    Args:
        patterns: see `log_files`.
        now, metrics: as in `read_log`.

    Returns:
        Logs of other workloads are passed over; those that cannot be used are skipped with the reason. There is no watermark;
        `complete` is False when a log could not be read.
    """
    runs, unusable = read_each(log_files(patterns), identity=identity, now=now, metrics=metrics)
    skipped = tuple(Skipped(log.run_id, log.reason, log.kind) for log in unusable)
    complete = all(log.code != "JPO-E110" for log in unusable)
    return Finished(runs=tuple(logged.run for logged in runs), skipped=skipped, complete=complete)


def read_each(
    paths: Iterable[Path],
    *,
    identity: Identity | None = None,
    now: float | None = None,
    metrics: Mapping[str, Quality] = NO_METRICS,
) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    """The finished runs in these files, oldest first, each once, and the files that cannot be used.

    Args:
        identity: pass over the logs of other workloads; None: take all. Runs on any hardware are its own where it names none;
            else the same job on other hardware is taken too, and what cannot be read of it is passed over.
    """
    by_run: dict[tuple[str, Identity], LoggedRun] = {}
    unusable: list[UnusableLog] = []
    for path in paths:
        name = path.name
        ours = True
        try:
            log = parsed(path, metrics)
            name = log.run_id
            whose = identity if identity and identity.includes(log.identity) else log.identity
            ours = identity is None or whose == identity
            if identity and not (ours or whose.is_sibling_of(identity)):
                continue
            if twin := by_run.get((name, whose)):
                unusable.append(UnusableLog(path, name, f"{path}: an earlier log, {twin.path}, has the same run_id", "JPO-W130"))
            else:
                by_run[name, whose] = LoggedRun(path, replace(run_of(log, now=now), identity=whose))
        except TelemetryError as error:
            if ours:
                kind = error.__cause__.code if isinstance(error.__cause__, NoEvidence) else ""
                unusable.append(UnusableLog(path, name, str(error), error.code, kind))
    return tuple(sorted(by_run.values(), key=lambda logged: (logged.run.ended_at, logged.run.run_id))), tuple(unusable)


def log_files(patterns: Iterable[str | Path]) -> Iterator[Path]:
    """Files, folders (their *.csv) and shell patterns such as `runs/*.csv` -> files, in the order of their names.

    A pattern that matches nothing, or a file without permission, is returned itself: reading it then gives the reason.
    """
    for pattern in patterns:
        yield from _files(Path(pattern))


def _files(pattern: Path) -> list[Path]:
    try:
        if pattern.is_dir():
            os.scandir(pattern).close()  # glob would skip a folder that cannot be read
            return sorted(pattern.glob("*.csv"))
        if pattern.exists():
            return [pattern]
        return sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))) or [pattern]
    except (OSError, ValueError):  # a folder without permission; not a pattern that pathlib knows, such as a**b
        return [pattern]
