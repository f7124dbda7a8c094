"""Finished runs from CSV logs: for jobs that nobody scrapes, and as the copy that outlives Prometheus' retention.

A log is one run. Its lines, in the order in which a training script writes them (UTF-8; times in unix seconds):

    # run_id=digits-0007            required, like the next three
    # dataset=digits
    # model=cnn
    # framework=pytorch
    # batch_size=64                 each parameter of records.PARAMETERS that is known; further keys are allowed
    # start=1795255200.0
    time,epoch,samples,train_loss,val_loss
    1795255201.4,1,1437,0.61,0.42   a row per epoch: epochs finished, samples so far; empty = not measured, nan = diverged
    # end=1795255211.9
    # status=succeeded              or failed, oom_killed, diverged, stopped
    # converged=true                only when the job has a target of its own
    # cpu_seconds=9.7               CPU core-seconds
    # memory_bytes=310000000        highest resident memory

`end` and `status` together close a log. What follows the last line break was cut off while being written and is ignored.
A log without its end counts as over when its last row is older than contract.STALE_SECONDS; how it ended is then judged
by its epochs. Files are only read here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.records import PARAMETERS, Finished, Identity, Run, Skipped
from jpo.telemetry import contract
from jpo.telemetry.measured import Measured, Values, to_run

LARGEST_LOG_BYTES = 64 * 2**20
COLUMNS = ("time", "epoch", "samples", "train_loss", "val_loss")
CLOCKS_DIFFER_SECONDS = 86400.0
"""No clock of a training machine is a whole day ahead of ours."""
YES_OR_NO = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}


@dataclass(frozen=True, slots=True)
class Log:
    """What stands in a log: its `# key=value` lines and, by column, the values that were measured, first to last."""

    path: Path
    head: dict[str, str]
    columns: dict[str, list[float]]

    @property
    def run_id(self) -> str:
        return self._required("run_id")

    @property
    def identity(self) -> Identity:
        return Identity(self._required("dataset"), self._required("model"), self._required("framework"))

    def last(self, column: str) -> float | None:
        values = self.columns[column]
        return values[-1] if values else None

    def number(self, key: str) -> float | None:
        """The number of a `# key=` line; None when it is absent or empty."""
        text = self.head.get(key)
        return _number(f"# {key}=", text, self.path) if text else None

    def _required(self, key: str) -> str:
        if not self.head.get(key):
            raise _unreadable(self.path, f"has no line '# {key}=...'")
        return self.head[key]


def read_log(path: Path, *, now: float | None = None) -> Run:
    """The finished run that a log tells of.

    Args:
        now: unix seconds, to judge whether a log without its end is still being written; without it such a log is not over.

    Raises:
        TelemetryError: JPO-E110 not a log that can be read, JPO-E111 its run is not over, JPO-E112 nothing can be learnt from it.
    """
    return _run(_parse(path), now)


def read_logs(patterns: Iterable[str | Path], identity: Identity, *, now: float | None = None) -> Finished:
    """The finished runs of one workload among many logs, oldest first.

    Args:
        patterns: files, folders (their *.csv) or shell patterns such as `runs/*.csv`.
        now: as in `read_log`.

    Returns:
        Logs of other workloads are passed over; those that cannot be used are skipped with the reason. There is no watermark;
        `complete` is False when a log could not be read.
    """
    runs: dict[str, Run] = {}
    skipped, complete = [], True
    for path in _files(patterns):
        name = path.name
        try:
            log = _parse(path)
            name = log.run_id
            if log.identity != identity:
                continue
            if name in runs:
                skipped.append(Skipped(name, f"{path}: an earlier log has the same run_id"))
            else:
                runs[name] = _run(log, now)
        except TelemetryError as error:
            skipped.append(Skipped(name, str(error)))
            complete = complete and error.code != "JPO-E110"
    ordered = sorted(runs.values(), key=lambda run: (run.ended_at, run.run_id))
    return Finished(runs=tuple(ordered), skipped=tuple(skipped), complete=complete)


def _files(patterns: Iterable[str | Path]) -> Iterator[Path]:
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            yield from sorted(path.glob("*.csv"))
        elif path.exists():
            yield path
        else:
            # A pattern that matches nothing is yielded itself: reading it tells that there is no such file.
            yield from _matches(path) or [path]


def _matches(pattern: Path) -> list[Path]:
    try:
        return sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    except ValueError:  # not a pattern that pathlib knows, such as a**b
        return []


def _run(log: Log, now: float | None) -> Run:
    closed = {"end", "status"} <= log.head.keys()
    ended_at = log.number("end") if closed else log.last("time")
    if ended_at is None or not (closed or (now is not None and now - ended_at > contract.STALE_SECONDS)):
        finding, remedy = "the run is not over, or its log is cut off", "wait for its lines '# end=' and '# status='"
        raise TelemetryError(str(log.path), finding, remedy, code="JPO-E111")
    if now is not None and ended_at > now + CLOCKS_DIFFER_SECONDS:
        finding = f"the run ends in the future ({ended_at:g})"
        raise TelemetryError(str(log.path), finding, "write unix seconds, not milliseconds", code="JPO-E112")
    measured = Measured(
        run_id=log.run_id,
        identity=log.identity,
        parameters={name: log.head[name] for name in PARAMETERS if log.head.get(name)},
        started_at=log.number("start"),
        ended_at=ended_at,
        closed=closed,
        status=log.head.get("status"),
        values=Values(
            samples=log.last("samples"),
            train_loss=log.last("train_loss"),
            val_loss=log.last("val_loss"),
            epoch=log.last("epoch"),
            converged=YES_OR_NO.get(log.head.get("converged", "").lower()),
            cpu_seconds=log.number("cpu_seconds"),
            memory_bytes=log.number("memory_bytes"),
        ),
    )
    try:
        return to_run(measured, "csv")
    except ValueError as error:
        raise TelemetryError(str(log.path), str(error), "correct the script that writes the log", code="JPO-E112") from error


def _parse(path: Path) -> Log:
    head: dict[str, str] = {}
    columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
    names: list[str] = []
    complete, _, _ = _text(path).rpartition("\n")
    for number, line in enumerate(complete.split("\n"), start=1):
        line = line.strip()
        if line.startswith("#"):
            _remember(head, line, path, number)
        elif line and not names:
            names = _header(line, path, number)
        elif line:
            for name, value in _cells(line, names, path, number):
                columns[name].append(value)
    return Log(path, head, columns)


def _text(path: Path) -> str:
    try:
        if not path.is_file():  # a pipe or device would be read for ever
            raise _unreadable(path, "is not a file" if path.exists() else "no such file")
        with path.open("rb") as file:
            content = file.read(LARGEST_LOG_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, f"cannot be read ({error.strerror})") from error
    if len(content) > LARGEST_LOG_BYTES:
        raise _unreadable(path, f"is larger than {LARGEST_LOG_BYTES // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _remember(head: dict[str, str], line: str, path: Path, number: int) -> None:
    key, equals, value = (part.strip() for part in line.lstrip("#").partition("="))
    if equals and head.setdefault(key, value) != value:
        raise _unreadable(path, f"line {number}: {key} is already {head[key]!r} above; one log is one run")


def _header(line: str, path: Path, number: int) -> list[str]:
    names = [name.strip() for name in line.split(",")]
    if "time" not in names or len(set(names)) != len(names):
        raise _unreadable(path, f"line {number}: the first row must name the columns")
    return names


def _cells(line: str, names: list[str], path: Path, number: int) -> Iterator[tuple[str, float]]:
    """The known columns of a row that were measured."""
    cells = line.split(",")
    if len(cells) != len(names):
        raise _unreadable(path, f"line {number}: {len(cells)} cells under {len(names)} columns")
    for name, cell in zip(names, cells, strict=True):
        if name in COLUMNS and cell.strip():
            value = _number(f"line {number}: {name}", cell.strip(), path)
            if name == "time" and not math.isfinite(value):
                raise _unreadable(path, f"line {number}: time is not finite")
            yield name, value


def _number(what: str, text: str, path: Path) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise _unreadable(path, f"{what} {text[:40]!r} is not a number") from error


def _unreadable(path: Path, finding: str) -> TelemetryError:
    remedy = f"a log has '# key=value' lines, then {','.join(COLUMNS)}"
    return TelemetryError(str(path), finding, remedy, code="JPO-E110")
