"""Sets of CSV logs: the files that patterns select, and the runs in them. One bad log never hides the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.records import Finished, Identity, Run, Skipped
from jpo.telemetry.csv.doubts import doubts, ends_early
from jpo.telemetry.csv.lines import Log
from jpo.telemetry.csv.log import parsed, run_of
from jpo.telemetry.diagnosis.near_identical import sentences
from jpo.telemetry.doubts import Doubt, once_each
from jpo.telemetry.outcome import NONE_OWN, NoEvidence, Own

MOST_DIFFERING = 3
"""Values that a message names."""


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A finished run, its log file, and what contradicts itself in it.

    Attributes:
        early: it says that it succeeded before its last epoch.
    """

    path: Path
    run: Run
    doubts: tuple[Doubt, ...] = ()
    early: bool = False


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


def read_logs(
    patterns: Iterable[str | Path],
    identity: Identity,
    *,
    aliases: Collection[Identity] = (),
    now: float | None = None,
    own: Own = NONE_OWN,
) -> Finished:
    """The finished runs of one workload, and of the same job on other hardware, among many logs, oldest first.

    Args:
        patterns: see `log_files`.
        aliases: other names of the workload, whose runs are taken as they are reported.
        now, own: as in `read_log`.

    Returns:
        Logs of other workloads are passed over; those that cannot be used are skipped with the reason. There is no watermark;
        `complete` is False when a log could not be read.
    """
    passed_by: Counter[Identity] = Counter()
    found = _each(log_files(patterns), identity, aliases, now, own, passed_by)
    finished = _finished(found)
    return replace(finished, doubts={**finished.doubts, **sentences(identity, passed_by, "in CSV logs")})


def read_in_parts(
    patterns: Iterable[str | Path],
    identity: Identity,
    *,
    aliases: Collection[Identity] = (),
    now: float | None = None,
    own: Own = NONE_OWN,
) -> Iterator[Finished]:
    """The same in parts of AT_ONCE logs, in the order of their names; each part oldest first. At least one."""
    passed_by: Counter[Identity] = Counter()
    found = _each(log_files(patterns), identity, aliases, now, own, passed_by)
    part = _finished(islice(found, AT_ONCE))
    while following := tuple(islice(found, AT_ONCE)):
        yield part
        part = _finished(following)
    yield replace(part, doubts={**part.doubts, **sentences(identity, passed_by, "in CSV logs")})


def _finished(found: Iterable[LoggedRun | UnusableLog]) -> Finished:
    runs, unusable = _sorted(found)
    skipped = tuple(Skipped(log.run_id, log.reason, log.kind) for log in unusable)
    complete = all(log.code != "JPO-E110" for log in unusable)
    return Finished(
        runs=tuple(logged.run for logged in runs),
        skipped=skipped,
        doubts=doubts_of(runs),
        complete=complete,
    )


def logged_run(path: Path, *, now: float | None = None, own: Own = NONE_OWN) -> LoggedRun:
    """The finished run of one log; arguments and errors as of `read_log`."""
    log = parsed(path, own.metrics)
    run = run_of(log, now=now, own=own)
    return LoggedRun(path, run, tuple(doubts(log, run, now=now)), ends_early(log, run))


def doubts_of(runs: Sequence[LoggedRun]) -> dict[str, str]:
    """What contradicts itself in these logs, each kind once: sentence -> reason code.

    Where most runs end before their last epoch the job stops early, and that is no contradiction.
    """
    usual = 2 * sum(logged.early for logged in runs) > len(runs) > 1
    return once_each([doubt for logged in runs for doubt in logged.doubts if not (usual and doubt.kind == "ended early")])


def read_each(
    paths: Iterable[Path],
    *,
    identity: Identity | None = None,
    aliases: Collection[Identity] = (),
    now: float | None = None,
    own: Own = NONE_OWN,
    passed_by: Counter[Identity] | None = None,
) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    """The finished runs in these files, oldest first, each once, and the files that cannot be used.

    Args:
        identity: pass over the logs of other workloads; None: take all. Runs on any hardware are its own where it names none;
            else the same job on other hardware is taken too, and what cannot be read of it is passed over.
        aliases: other names of it, whose runs are taken as they are reported.
        passed_by: counts the logs of other workloads.
    """
    return _sorted(_each(paths, identity, aliases, now, own, Counter() if passed_by is None else passed_by))


def _sorted(found: Iterable[LoggedRun | UnusableLog]) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    runs: list[LoggedRun] = []
    unusable: list[UnusableLog] = []
    for log in found:
        if isinstance(log, LoggedRun):
            runs.append(log)
        else:
            unusable.append(log)
    return tuple(sorted(runs, key=lambda logged: (logged.run.ended_at, logged.run.run_id))), tuple(unusable)


def _each(
    paths: Iterable[Path],
    identity: Identity | None,
    aliases: Collection[Identity],
    now: float | None,
    own: Own,
    passed_by: Counter[Identity],
) -> Iterator[LoggedRun | UnusableLog]:
    """One by one, in the order of the files; arguments as of `read_each`."""
    by_run: dict[tuple[str, Identity], LoggedRun] = {}
    by_content: dict[object, Path] = {}
    for path in paths:
        name = path.name
        ours = True
        try:
            log = parsed(path, own.metrics)
            name = log.run_id
            names = (identity, *aliases) if identity else ()
            whose = next((each for each in names if each.includes(log.identity)), log.identity)
            ours = identity is None or whose == identity or whose in aliases
            if identity and not (ours or whose.is_sibling_of(identity)):
                passed_by[whose] += 1
                continue
            twin = by_run.get((name, whose))
            run = replace(run_of(log, now=now, own=own), identity=whose) if twin is None else None
            copy = by_content.setdefault(_content(log, run), path) if run else path
            if twin:
                other = differing(twin.run, log, now=now)
                yield UnusableLog(path, name, f"{path}: an earlier log, {twin.path}, has the same run_id{other}", "JPO-W130")
            elif run and copy != path:
                same_run = f"{path}: an earlier log, {copy}, is of the same run: same start, end and values"
                yield UnusableLog(path, name, same_run, "JPO-W130")
            elif run:
                by_run[name, whose] = logged = LoggedRun(path, run, tuple(doubts(log, run, now=now)), ends_early(log, run))
                yield logged
        except TelemetryError as error:
            if ours:
                kind = error.__cause__.code if isinstance(error.__cause__, NoEvidence) else ""
                yield UnusableLog(path, name, str(error), error.code, kind)


def _content(log: Log, run: Run) -> object:
    """What only copies of one log have in common; of a run without times or losses, nothing."""
    outcome = run.outcome
    if run.started_at is None or (outcome.val_loss is None and outcome.train_loss is None):
        return log.identity, run.run_id
    return log.identity, run.started_at, run.ended_at, frozenset(run.parameters.items()), outcome.val_loss, outcome.train_loss


def differing(run: Run, log: Log, *, now: float | None) -> str:
    """In which values another log of the same run differs; empty where it is a copy, or no run of its own."""
    try:
        other = run_of(log, now=now)
    except TelemetryError:
        return ""
    pairs: dict[str, tuple[float | None, float | None]] = {
        name: (run.parameters.get(name), value) for name, value in other.parameters.items()
    }
    pairs |= {"end": (run.ended_at, other.ended_at), "val_loss": (run.outcome.val_loss, other.outcome.val_loss)}
    both = ((name, theirs, ours) for name, (theirs, ours) in pairs.items() if theirs is not None and ours is not None)
    found = [f"{name} {theirs:.10g} there, {ours:.10g} here" for name, theirs, ours in both if theirs != ours]
    return f", and other values ({', '.join(found[:MOST_DIFFERING])}): give each run an id of its own" if found else ""


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
