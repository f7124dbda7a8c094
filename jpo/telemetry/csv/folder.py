"""Sets of CSV logs: the files that patterns select, and the runs in them. One bad log never hides the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.records import Finished, Identity, Note, Run, Skipped
from jpo.telemetry.csv.lines import Log
from jpo.telemetry.csv.log import parsed, run_of
from jpo.telemetry.csv.log_doubts import doubts, ends_early
from jpo.telemetry.csv.remembered import Memory, ReadLog, digest_of, settled, stamp_of
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


Found = LoggedRun | ReadLog | UnusableLog

MANY = 100
"""Logs from which on reading takes as long as somebody notices: a tenth of a second."""
AT_ONCE = 500
"""Logs after which what was read is handed on: of thousands, a process that is killed has recorded all but the last."""


def read_logs(
    patterns: Iterable[str | Path],
    identity: Identity,
    *,
    now: float | None = None,
    own: Own = NONE_OWN,
) -> Finished:
    """The finished runs of one workload, and of the same job on other hardware, among many logs, oldest first.

    Args:
        patterns: see `log_files`.
        now, own: as in `read_log`.

    Returns:
        Logs of other workloads are passed over; those that cannot be used are skipped with the reason. There is no watermark;
        `complete` is False when a log could not be read.
    """
    passed_by: Counter[Identity] = Counter()
    finished = _finished(_each(log_files(patterns), identity, (), now, own, passed_by, Memory()))
    return replace(finished, doubts=(*finished.doubts, *sentences(identity, passed_by, "in CSV logs")))


def read_in_parts(
    patterns: Iterable[str | Path],
    identity: Identity,
    *,
    aliases: Collection[Identity] = (),
    now: float | None = None,
    own: Own = NONE_OWN,
    memory: Memory | None = None,
    track: Callable[[Sequence[int], str], Iterable[int]] = lambda numbers, _: numbers,
) -> Iterator[Finished]:
    """The same in parts of AT_ONCE logs, in the order of their names; each part oldest first. At least one.

    Args:
        track: goes through the numbers of many logs, and shows how far it is.
        memory: of logs that were read before: those whose run is on record are left out of the answer. It takes in the others.
    """
    passed_by: Counter[Identity] = Counter()
    paths = list(log_files(patterns))
    seen = track(range(len(paths)), "reading logs") if len(paths) >= MANY else range(len(paths))
    found = _each((paths[number] for number in seen), identity, aliases, now, own, passed_by, memory or Memory())
    part = _finished(islice(found, AT_ONCE))
    while following := tuple(islice(found, AT_ONCE)):
        yield part
        part = _finished(following)
    yield replace(part, doubts=(*part.doubts, *sentences(identity, passed_by, "in CSV logs")), elsewhere=passed_by)


def _finished(found: Iterable[Found]) -> Finished:
    found = tuple(found)
    known = [log for log in found if isinstance(log, ReadLog)]
    runs, unusable = _sorted(found)
    skipped = tuple(Skipped(log.run_id, log.reason, log.kind) for log in unusable)
    complete = all(log.code != "JPO-E110" for log in unusable)
    return Finished(
        runs=tuple(logged.run for logged in runs),
        skipped=skipped,
        doubts=doubts_of(runs, known),
        complete=complete,
    )


def logged_run(path: Path, *, now: float | None = None, own: Own = NONE_OWN) -> LoggedRun:
    """The finished run of one log; arguments and errors as of `read_log`."""
    log = parsed(path, own.metrics)
    run = run_of(log, now=now, own=own)
    return LoggedRun(path, run, tuple(doubts(log, run, now=now)), ends_early(log, run))


def doubts_of(runs: Sequence[LoggedRun], known: Sequence[ReadLog] = ()) -> tuple[Note, ...]:
    """What contradicts itself in these logs, each kind once.

    Where most runs end before their last epoch the job stops early, and that is no contradiction; those read before count.
    """
    every: tuple[LoggedRun | ReadLog, ...] = (*runs, *known)
    usual = 2 * sum(logged.early for logged in every) > len(every) > 1
    return once_each([doubt for logged in runs for doubt in logged.doubts if not (usual and doubt.kind == "ended early")])


def read_each(
    paths: Iterable[Path], *, now: float | None = None, own: Own = NONE_OWN
) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    """The finished runs of all workloads in these files, oldest first, each once, and the files that cannot be used."""
    return _sorted(_each(paths, None, (), now, own, Counter(), Memory()))


def _sorted(found: Iterable[Found]) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    runs: list[LoggedRun] = []
    unusable: list[UnusableLog] = []
    for log in found:
        if isinstance(log, LoggedRun):
            runs.append(log)
        elif isinstance(log, UnusableLog):
            unusable.append(log)
    return tuple(sorted(runs, key=lambda logged: (logged.run.ended_at, logged.run.run_id))), tuple(unusable)


def _each(
    paths: Iterable[Path],
    identity: Identity | None,
    aliases: Collection[Identity],
    now: float | None,
    own: Own,
    passed_by: Counter[Identity],
    memory: Memory,
) -> Iterator[Found]:
    """One by one, in the order of the files.

    Args:
        identity: pass over the logs of other workloads; None: take all. Runs on any hardware are its own where it names none;
            else the same job on other hardware is taken too, and what cannot be read of it is passed over.
        aliases: other names of it, whose runs are taken as they are reported.
        passed_by: counts the logs of other workloads.
    """
    names = (identity, *aliases) if identity else ()
    by_run: dict[tuple[str, Identity], Path] = {}
    by_content: dict[str, Path] = {}

    def place(log: Identity) -> tuple[Identity, bool, bool]:
        """Whose a log is; whether that is this workload; whether its run is taken."""
        whose = next((each for each in names if each.includes(log)), log)
        ours = identity is None or whose == identity or whose in aliases
        return whose, ours, ours or (identity is not None and whose.is_sibling_of(identity))

    for path in paths:
        name, ours, stamp = path.name, True, stamp_of(path)
        if known := memory.of(path, stamp):
            whose, ours, taken = place(known.identity)
            if not taken:
                passed_by[whose] += 1
                memory.keep(path, known)
                continue
            if known.whose == whose and (known.run_id, whose) not in by_run and known.content not in by_content:
                by_run[known.run_id, whose] = by_content[known.content] = path
                memory.keep(path, known)
                yield known
                continue
        try:
            log = parsed(path, own.metrics)
            name = log.run_id
            whose, ours, taken = place(log.identity)
            if not taken:
                passed_by[whose] += 1
                if stamp and settled(stamp, now):
                    memory.keep(path, ReadLog(stamp, log.identity, name))
                continue
            if twin := by_run.get((name, whose)):
                other = differing(run_of(parsed(twin, own.metrics), now=now, own=own), log, now=now)
                yield UnusableLog(path, name, f"{path}: an earlier log, {twin}, has the same run_id{other}", "JPO-W130")
                continue
            run = replace(run_of(log, now=now, own=own), identity=whose)
            content = digest_of(_content(log, run))
            if (copy := by_content.setdefault(content, path)) != path:
                same_run = f"{path}: an earlier log, {copy}, is of the same run: same start, end and values"
                yield UnusableLog(path, name, same_run, "JPO-W130")
                continue
            by_run[name, whose] = path
            logged = LoggedRun(path, run, tuple(doubts(log, run, now=now)), ends_early(log, run))
            if stamp and settled(stamp, now) and not (logged.doubts or run.fell_silent):
                memory.keep(path, ReadLog(stamp, log.identity, name, whose, content, logged.early))
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
