"""Finished runs from CSV logs: for jobs that are not scraped, and as the copy that outlives Prometheus' retention.

A log is one run. Its lines, in the order in which a training script writes them (UTF-8; times in unix seconds):

    # run_id=digits-0007            required, like the next three
    # dataset=digits
    # model=cnn
    # framework=pytorch
    # hardware=a100                 only where runs on different hardware are told apart
    # batch_size=64                 each parameter of records.PARAMETERS that is known; further keys are allowed
    # batch_size_per_device=8       or this and the other records.COUNTS, where batch_size and gpus in all are not known;
                                    contract.ALSO_CALLED has other names of them (per_device_train_batch_size)
    # data_fraction=0.1             only of a trial on a part of the data, which is no run: see `jpo predict --trials`
    # metrics=f1,auc               only where the user's own metrics are among the columns
    # start=1795255200.0
    time,epoch,samples,train_loss,val_loss
                                    then val_accuracy (0..1), and metrics of the user's own, where they are measured
    1795255201.4,1,1437,0.61,0.42   a row per epoch: epochs finished, samples so far; empty = not measured, nan = diverged
    # end=1795255211.9
    # status=succeeded              or failed, oom_killed, diverged, stopped
    # converged=true                only when the job has a target of its own
    # cpu_seconds=9.7               CPU core-seconds
    # memory_bytes=310000000        highest resident memory

`end` and `status` together close a log. What follows the last line break was cut off while being written and is ignored.
A log without its end counts as over when its last row is older than contract.STALE_SECONDS and older than three times the longest
pause between two rows (an hour while there is only one); how it ended is then judged by its epochs. follow.py reads a log that is
still being written.
"""

import os
from collections.abc import Mapping
from functools import partial
from io import BufferedReader
from pathlib import Path

from jpo.errors import TelemetryError, quoted
from jpo.files import reading
from jpo.records import COUNTS, PARAMETERS, QUALITIES, Quality, Run
from jpo.tables.units import time_unit_in_words
from jpo.telemetry import outcome
from jpo.telemetry.contract import ALSO_CALLED, DATA_FRACTION
from jpo.telemetry.csv.lines import LOSSES, Log, unreadable
from jpo.telemetry.csv.log_doubts import left_out
from jpo.telemetry.learning_curve import loss_slope
from jpo.telemetry.outcome import NONE_OWN, MeasuredRun, MeasuredValues, NoEvidence, Own, to_run

LARGEST_LOG_BYTES = 64 * 2**20
CLOCKS_DIFFER_SECONDS = 86400.0
"""The clock of a training machine is never a whole day fast."""
YES_OR_NO = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}


def read_log(path: Path, *, now: float | None = None, own: Own = NONE_OWN) -> Run:
    """The finished run of a log.

    `own`: what the log may hold under the team's own names; columns of metrics besides those that it names. `now`: unix
    seconds, to judge whether a log without its end is still being written; without it such a log is not over.

    Raises:
        TelemetryError: JPO-E110 not a log that can be read, JPO-E111 its run is not over, JPO-E112 nothing can be learnt from it.
    """
    return run_of(parsed(path, own.metrics), now=now, own=own)


def run_of(log: Log, *, now: float | None = None, own: Own = NONE_OWN) -> Run:
    """The finished run of these lines; arguments and errors as in `read_log`."""
    ended_at = _end_of(log, now)
    ending = log.head.get("converged", "").lower()
    converged = YES_OR_NO.get(ending)
    if ending and converged is None:
        raise _no_evidence(log.path, NoEvidence(f"converged = {quoted(ending)} is neither true nor false", outcome.IMPOSSIBLE))
    losses = {name: log.latest.get(name) for name in LOSSES if name not in left_out(log)}
    qualities = {**{quality.name: quality for quality in QUALITIES if quality.name not in left_out(log)}, **log.wanted}
    curves = (quality.errors_of(log.curves[name]) for name, quality in qualities.items() if name in log.curves)
    slope, error = loss_slope(next(curves, ())) or (None, None)
    said = (*PARAMETERS, *COUNTS, DATA_FRACTION, *own.parameters)
    names = {name: (name, *ALSO_CALLED.get(name, ()), *own.spelt.get(name, ())) for name in said}
    start = log.number("start")
    if start == ended_at and log.trends.line:
        start = None  # a clock that stood still: nothing says how long the run took
    measured = MeasuredRun(
        run_id=log.run_id,
        identity=log.identity,
        # Parameters and counts, those by the names of frameworks included, and the team's own.
        parameters={name: text for name, usual in names.items() if (text := next(filter(None, map(log.head.get, usual)), ""))},
        started_at=start,
        ended_at=ended_at,
        closed=log.closed,
        statuses=frozenset({log.head["status"]} if "status" in log.head else ()),
        values=MeasuredValues(
            **losses,
            samples=log.latest.get("samples"),
            epoch=log.latest.get("epoch"),
            converged=converged,
            cpu_seconds=log.number("cpu_seconds"),
            memory_bytes=log.number("memory_bytes"),
            loss_slope=slope,
            loss_slope_error=error,
            val_accuracy=log.latest.get("val_accuracy"),
            metrics={name: log.latest[name] for name in log.metric_names if name in log.latest},
        ),
    )
    try:
        return to_run(measured, "csv", own)
    except NoEvidence as why:
        raise _no_evidence(log.path, why) from why


def _end_of(log: Log, now: float | None) -> float:
    """Unix seconds at which a run ended that is over; errors as in `read_log`."""
    for key, time in (("start", log.number("start")), ("end", log.number("end")), ("", log.latest.get("time"))):
        if time is not None and (unit := time_unit_in_words(time)):
            place = log.place_of(key) if key else f"line {log.trends.line}: time"
            found = NoEvidence(f"{place} is in {unit} ({time:.0f})", outcome.NO_SECONDS)
            raise _no_evidence(log.path, found, "write unix seconds")
    ended_at = log.number("end") if log.closed else log.latest.get("time")
    if ended_at is None or not (log.closed or (now is not None and log.silent(now))):
        finding, remedy = "the run is not over, or its log is cut off", "wait for its lines '# end=' and '# status='"
        raise TelemetryError(str(log.path), finding, remedy, code="JPO-E111")
    if now is not None and ended_at > now + CLOCKS_DIFFER_SECONDS:
        why = NoEvidence(f"the run ends in the future ({ended_at:g})", outcome.UNTIMELY)
        raise _no_evidence(log.path, why, "write unix seconds, not milliseconds")
    return ended_at


def _no_evidence(
    path: Path, why: NoEvidence, remedy: str = "correct the script that writes the log; trials are for `jpo predict --trials`"
) -> TelemetryError:
    error = TelemetryError(str(path), str(why), remedy, code="JPO-E112")
    error.__cause__ = why
    return error


def parsed(path: Path, metrics: Mapping[str, Quality] = NONE_OWN.metrics) -> Log:
    """A log with all its whole lines taken in."""
    log = Log(path, wanted=metrics)
    for line in whole_lines(path):
        log.take(line)
    return log


def whole_lines(path: Path) -> list[str]:
    """The lines of a log that are completely written. Raises TelemetryError: JPO-E110 it cannot be read, JPO-E111 it is empty."""
    content = reading.contents(path, LARGEST_LOG_BYTES, partial(_refused, path))
    if not content:
        remedy = "wait for its first lines; if no run is writing it, the disk was full"
        raise TelemetryError(str(path), "is empty: its run has not begun", remedy, code="JPO-E111")
    complete, _, _ = content.rpartition(b"\n")
    return decoded(complete).split("\n")


def opened(path: Path) -> BufferedReader:
    """A regular file opened for reading without waiting; TelemetryError JPO-E110 where it is something else, or is not there."""
    return reading.opened(path, partial(_refused, path))


def _refused(path: Path, finding: str) -> TelemetryError:
    there = os.path.lexists(path)
    return unreadable(path, finding if there else "no such file", "let JPO read it" if there else "name a CSV log")


def decoded(raw: bytes) -> str:
    """Text of bytes in UTF-8 with or without BOM, else Latin-1, which accepts every byte."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
