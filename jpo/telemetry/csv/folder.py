"""Sets of CSV logs: the files that patterns select, and the runs in them. One bad log never hides the others."""

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
from jpo.telemetry.csv.remembered import Memory, ReadLog, Stamp, digest_of, settled, stamp_of
from jpo.telemetry.diagnosis.near_identical import sentences
from jpo.telemetry.doubts import Doubt, once_each
from jpo.telemetry.outcome import NONE_OWN, NoEvidence, Own

MOST_DIFFERING = 3
"""Values that a message names."""


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A finished run, its log file, and what contradicts itself in it; `early`: it says it succeeded before its last epoch."""

    path: Path
    run: Run
    doubts: tuple[Doubt, ...] = ()
    early: bool = False


@dataclass(frozen=True, slots=True)
class UnusableLog:
    """A log without a run that can be learnt from: where, and why with its reason code."""

    path: Path
    run_id: str
    """The file's name where the log could not be read that far."""
    why: Note
    kind: str = ""
    """Code of the reason why its run is no evidence (outcome.py); empty where it is the log that cannot be used."""


Found = LoggedRun | ReadLog | UnusableLog
MANY = 100
"""Logs from which on reading takes as long as somebody notices: a tenth of a second."""
AT_ONCE = 500
"""Logs after which what was read is handed on: of thousands, a process that is killed has recorded all but the last."""


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
    """The finished runs of one workload, and of the same job on other hardware, in parts of AT_ONCE logs, at least one part.

    Logs come in the order of their names, the runs of each part oldest first. Logs of other workloads are passed over; those that
    cannot be used are skipped with the reason. There is no watermark; `complete` is False when a log could not be read.

    Args: `patterns` as of `log_files`, `now` and `own` as of `read_log`.
        aliases: other names of the workload, whose runs are taken as they are reported.
        memory: of logs that were read before: those whose run is on record are left out of the answer. It takes in the others.
    """
    paths = list(log_files(patterns))
    seen = track(range(len(paths)), "reading logs") if len(paths) >= MANY else range(len(paths))
    reading = _Reading((identity, *aliases), now, own, memory or Memory())
    found = reading.each(paths[number] for number in seen)
    part = _finished(islice(found, AT_ONCE))
    while following := tuple(islice(found, AT_ONCE)):
        yield part
        part = _finished(following)
    respelt = sentences(identity, reading.passed_by, "in CSV logs")
    yield replace(part, doubts=(*part.doubts, *respelt), elsewhere=reading.passed_by)


def _finished(found: Iterable[Found]) -> Finished:
    found = tuple(found)
    known = [log for log in found if isinstance(log, ReadLog)]
    runs, unusable = _sorted(found)
    return Finished(
        runs=tuple(logged.run for logged in runs),
        skipped=tuple(Skipped(log.run_id, log.why.text, log.kind) for log in unusable),
        doubts=doubts_of(runs, known),
        complete=all(log.why.code != "JPO-E110" for log in unusable),
    )


def logged_run(path: Path, *, now: float | None = None, own: Own = NONE_OWN) -> LoggedRun:
    """The finished run of one log; arguments and errors as of `read_log`."""
    return _logged(parsed(path, own.metrics), now, own)


def _logged(log: Log, now: float | None, own: Own) -> LoggedRun:
    run = run_of(log, now=now, own=own)
    return LoggedRun(log.path, run, tuple(doubts(log, run, now=now)), ends_early(log, run))


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
    return _sorted(_Reading((), now, own, Memory()).each(paths))


def _sorted(found: Iterable[Found]) -> tuple[tuple[LoggedRun, ...], tuple[UnusableLog, ...]]:
    logs = tuple(found)
    runs = (log for log in logs if isinstance(log, LoggedRun))
    oldest_first = sorted(runs, key=lambda logged: (logged.run.ended_at, logged.run.run_id))
    return tuple(oldest_first), tuple(log for log in logs if isinstance(log, UnusableLog))


class _Reading:
    """One reading of many logs, each run once.

    `names`: of the workload; the logs of others are passed over, but those of the same job on other hardware. Empty: all are
    taken. What cannot be read is said of its own logs alone.
    """

    def __init__(self, names: tuple[Identity, ...], now: float | None, own: Own, memory: Memory) -> None:
        self.names, self.now, self.own, self.memory = names, now, own, memory
        self.passed_by = Counter[Identity]()  # logs of other workloads
        self._by_run: dict[tuple[str, Identity], Path] = {}
        self._by_content: dict[str, Path] = {}

    def each(self, paths: Iterable[Path]) -> Iterator[Found]:
        for path in paths:
            stamp = stamp_of(path)
            known = self.memory.of(path, stamp)
            whose = self._taken(known.identity) if known else None
            first = known and (known.run_id, whose) not in self._by_run and known.content not in self._by_content
            if known is None or (whose and not (known.whose == whose and first)):
                yield from self._read(path, stamp if stamp and settled(stamp, self.now) else None)
                continue
            self.memory.keep(path, known)
            if whose:
                self._by_run[known.run_id, whose] = self._by_content[known.content] = path
                yield known

    def _taken(self, log: Identity) -> Identity | None:
        """Whose a log is: the workload's own on any hardware where that names none; None where it is passed over."""
        whose = next((name for name in self.names if name.includes(log)), log)
        if not self.names or whose in self.names or whose.is_sibling_of(self.names[0]):
            return whose
        self.passed_by[whose] += 1
        return None

    def _read(self, path: Path, settled_stamp: Stamp | None) -> Iterator[Found]:
        """What a log holds that is not known as it is, or may be a copy; nothing where it is passed over."""
        name, ours = path.name, True
        try:
            log = parsed(path, self.own.metrics)
            name = log.run_id
            whose = self._taken(log.identity)
            if whose is None:
                if settled_stamp:
                    self.memory.keep(path, ReadLog(settled_stamp, log.identity, name))
                return
            ours = not self.names or whose in self.names
            if twin := self._by_run.get((name, whose)):
                other = differing(run_of(parsed(twin, self.own.metrics), now=self.now, own=self.own), log, now=self.now)
                same_id = f"{path}: an earlier log, {twin}, has the same run_id{other}"
                yield UnusableLog(path, name, Note("JPO-W130", same_id))
                return
            logged = _logged(log, self.now, self.own)
            logged = replace(logged, run=replace(logged.run, identity=whose))
            content = digest_of(_content(log, logged.run))
            if (copy := self._by_content.setdefault(content, path)) != path:
                same_run = f"{path}: an earlier log, {copy}, is of the same run: same start, end and values"
                yield UnusableLog(path, name, Note("JPO-W130", same_run))
                return
            self._by_run[name, whose] = path
            if settled_stamp and not (logged.doubts or logged.run.fell_silent):
                self.memory.keep(path, ReadLog(settled_stamp, log.identity, name, whose, content, logged.early))
            yield logged
        except TelemetryError as error:
            if ours:
                kind = error.__cause__.code if isinstance(error.__cause__, NoEvidence) else ""
                yield UnusableLog(path, name, Note(error.code, str(error), remedy=error.remedy), kind)


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
    for pattern in map(Path, patterns):
        try:
            if pattern.is_dir():
                os.scandir(pattern).close()  # glob would skip a folder that cannot be read
                found = sorted(pattern.glob("*.csv"))
            elif pattern.exists():
                found = [pattern]
            else:
                found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))) or [pattern]
        except (OSError, ValueError):  # a folder without permission; not a pattern that pathlib knows, such as a**b
            found = [pattern]
        yield from found
