"""Sets of CSV logs: the files that patterns select, and the runs in them. One bad log never hides the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.records import Finished, Identity, Run, Skipped
from jpo.telemetry.csv.log import parsed, run_of
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


AT_ONCE = 500
"""Logs after which what was read is handed on: of thousands, a process that is killed has recorded all but the last."""


def read_logs(patterns: Iterable[str | Path], identity: Identity, *, now: float | None = None) -> Finished:
    """The finished runs of one workload, and of the same job on other hardware, among many logs, oldest first.

    Args:
        patterns: see `log_files`.
        now: as in `read_log`.

    Returns:
        Logs of other workloads are passed over; those that cannot be used are skipped with the reason. There is no watermark;
        `complete` is False when a log could not be read.
    """
    return _finished(_each(log_files(patterns), identity, now))


def read_in_parts(patterns: Iterable[str | Path], identity: Identity, *, now: float | None = None) -> Iterator[Finished]:
    """The same in parts of AT_ONCE logs, in the order of their names; each part oldest first. At least one."""
    found = _each(log_files(patterns), identity, now)
    yield _finished(islice(found, AT_ONCE))
    while part := tuple(islice(found, AT_ONCE)):
        yield _finished(part)


def _finished(found: Iterable[LoggedRun | UnusableLog]) -> Finished:
    runs, unusable = _sorted(found)
    skipped = tuple(Skipped(log.run_id, log.reason, log.kind) for log in unusable)
    complete = all(log.code != "JPO-E110" for log in unusable)
    return Finished(runs=tuple(logged.run for logged in runs), skipped=skipped, complete=complete)


def read_each(
    paths: Iterable[Path], *, identity: Identity | None = None, now: float | None = None
) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    """The finished runs in these files, oldest first, each once, and the files that cannot be used.

    Args:
        identity: pass over the logs of other workloads; None: take all. Runs on any hardware are its own where it names none;
            else the same job on other hardware is taken too, and what cannot be read of it is passed over.
    """
    return _sorted(_each(paths, identity, now))


def _sorted(found: Iterable[LoggedRun | UnusableLog]) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    runs: list[LoggedRun] = []
    unusable: list[UnusableLog] = []
    for log in found:
        if isinstance(log, LoggedRun):
            runs.append(log)
        else:
            unusable.append(log)
    return tuple(sorted(runs, key=lambda logged: (logged.run.ended_at, logged.run.run_id))), tuple(unusable)


def _each(paths: Iterable[Path], identity: Identity | None, now: float | None) -> Iterator[LoggedRun | UnusableLog]:
    """One by one, in the order of the files."""
    first: dict[tuple[str, Identity], Path] = {}
    for path in paths:
        name = path.name
        ours = True
        try:
            log = parsed(path)
            name = log.run_id
            whose = identity if identity and identity.includes(log.identity) else log.identity
            ours = identity is None or whose == identity
            if identity and not (ours or whose.is_sibling_of(identity)):
                continue
            if twin := first.get((name, whose)):
                yield UnusableLog(path, name, f"{path}: an earlier log, {twin}, has the same run_id", "JPO-W130")
            else:
                run = replace(run_of(log, now=now), identity=whose)
                first[name, whose] = path
                yield LoggedRun(path, run)
        except TelemetryError as error:
            if ours:
                kind = error.__cause__.code if isinstance(error.__cause__, NoEvidence) else ""
                yield UnusableLog(path, name, str(error), error.code, kind)


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
