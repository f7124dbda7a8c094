"""Doubts about a log whose run is used all the same: where it contradicts itself, and what is made of it."""

from collections.abc import Iterator

from jpo.records import Run, RunStatus
from jpo.telemetry.csv.lines import LOSSES, Log
from jpo.telemetry.doubts import Doubt

SLACK_SECONDS, SLACK = 60.0, 0.05
"""A duration may differ by so much, and by this share, before two clocks contradict each other."""
SAMPLES_DIFFER = 0.1
"""Share by which samples per step may differ from the batch size: last batches are smaller."""
ZONE_SECONDS, ZONE_SLACK_SECONDS = 1800.0, 90.0
"""Zones differ by half hours, and a log is closed by its last line: local time for UTC shows in when the file was changed."""
AHEAD_SECONDS = 6 * 3600.0
"""No clock of a machine is that fast."""


def doubts(log: Log, run: Run, *, now: float | None) -> Iterator[Doubt]:
    """What contradicts itself in the log of a run that is used; `now` in unix seconds, None where it is not known."""
    yield from _time_doubts(log, run, now)
    yield from _loss_doubts(log, run)
    yield from _count_doubts(log, run)


def _time_doubts(log: Log, run: Run, now: float | None) -> Iterator[Doubt]:
    trends, start, end = log.trends, log.number("start"), run.ended_at
    if trends.back_line:
        found = f"{log.path}: line {trends.back_line}: time goes back behind the row above"
        yield Doubt("time goes back", found, "start and end of the run count")
    first, last = trends.first.get("time"), trends.last.get("time")
    if start is not None and first is not None and first < start - SLACK_SECONDS:
        early = f"{start - first:.0f}s before {log.place_of('start')}"
        yield Doubt("row before start", f"{log.path}: rows begin {early}, which counts")
    if log.closed and last is not None and last > end + SLACK_SECONDS:
        where = f"{log.path}: line {trends.line}"
        yield Doubt("row after end", f"{where}: its time is {last - end:.0f}s after {log.place_of('end')}, which counts")
    if start is not None and start == end and trends.line:
        yield Doubt("no duration", f"{log.path}: {log.place_of('start')} is its end as well", "its duration counts as unknown")
    stated = log.stated_duration
    if stated and start is not None and abs(stated[1] - (end - start)) > SLACK_SECONDS + SLACK * abs(end - start) and end > start:
        where = f"{log.path}: {log.place_of(stated[0])}"
        yield Doubt("another duration", f"{where} is {stated[1]:g}, and end - start is {end - start:.0f}s, which counts")
    where = f"{log.path}: {log.place_of('end') if log.closed else f'line {trends.line}'}"
    remedy = "write unix seconds (UTC), not local time; the run is used as it is"
    if now is not None and end > now + AHEAD_SECONDS:
        yield Doubt("ahead", f"{where} is {(end - now) / 3600:.1f}h ahead of this machine's clock", remedy)
    elif ahead := _zone_seconds(log, end):
        yield Doubt("ahead", f"{where} is {ahead / 3600:g}h later than the file was written", remedy)


def _zone_seconds(log: Log, end: float) -> float:
    """By how much an end lies ahead of the file's last change, if that is as far as a zone; else 0."""
    try:
        ahead = end - log.path.stat().st_mtime
    except OSError:  # it is gone meanwhile
        return 0.0
    zone = round(ahead / ZONE_SECONDS) * ZONE_SECONDS
    return zone if zone >= 2 * ZONE_SECONDS and abs(ahead - zone) <= ZONE_SLACK_SECONDS else 0.0


def _loss_doubts(log: Log, run: Run) -> Iterator[Doubt]:
    trends = log.trends
    alike = [name for name in LOSSES if trends.looks_like_accuracy(name)]
    overfits = "val_accuracy" in log.latest and not left_out(log)
    if alike and not overfits:
        name, last = alike[-1], trends.last[alike[-1]]
        found = f"{log.path}: line {trends.line}: {' and '.join(alike)} rose all the way to {last:g}, as an accuracy does"
        if left_out(log):
            yield Doubt("accuracy", f"{found}: left out")
        else:
            remedy = f"if it is an accuracy, log it as {name.replace('loss', 'accuracy')}"
            yield Doubt("accuracy", f"{found}: used as a loss", remedy)
    if trends.nans and run.status is RunStatus.DIVERGED and log.head.get("status", "").strip() == RunStatus.SUCCEEDED:
        where = f"{log.path}: line {trends.line}"
        said = f"{log.place_of('status')} says succeeded"
        yield Doubt("nan at the end", f"{where}: a loss is nan, and {said}: it counts as diverged")
    elif trends.nans and run.status is not RunStatus.DIVERGED:
        rows = "a loss is nan" if trends.nans == 1 else f"a loss is nan, the first of {trends.nans} such rows"
        yield Doubt("nan", f"{log.path}: line {trends.nan_line}: {rows}", "the last numbers count")


def _count_doubts(log: Log, run: Run) -> Iterator[Doubt]:
    trends, epochs, done = log.trends, run.parameters.get("epochs"), log.trends.last.get("epoch")
    where = f"{log.path}: line {trends.line}"
    if epochs is not None and done is not None and done > epochs:
        finding = f"{where}: epoch {done:g}, and {log.place_of('epochs')} is {epochs:g}"
        yield Doubt("too many epochs", finding, "it is used as it is")
    elif ends_early(log, run):
        found = f"{where}: the last row is epoch {done:g} of {epochs:g}, and {log.place_of('status')} says succeeded"
        yield Doubt("ended early", found, "did it stop early (then log converged=true), or was it cut off? It is used")
    batch, samples, steps = run.parameters.get("batch_size"), trends.last.get("samples"), trends.last.get("step")
    if batch and samples and steps and abs(samples / steps / batch - 1) > SAMPLES_DIFFER:
        found = f"{where}: {samples:g} samples in {steps:g} steps are {samples / steps:.4g} each, and batch_size is {batch:g}"
        yield Doubt("another batch", f"{found}, which counts", "is it the batch of one device?")


def ends_early(log: Log, run: Run) -> bool:
    """Whether a run says that it succeeded, without a target of its own, long before its last epoch (counted from 0 or 1)."""
    epochs, done = run.parameters.get("epochs"), log.trends.last.get("epoch")
    stated = run.status is RunStatus.SUCCEEDED and "status" in log.head and run.outcome.converged is None
    return bool(stated and epochs is not None and done is not None and done < epochs - 1)


def left_out(log: Log) -> tuple[str, ...]:
    """Losses that cannot be any: both rise to 1 (of one alone, the model may have learnt by heart what it was trained on)."""
    return LOSSES if all(log.trends.looks_like_accuracy(name) for name in LOSSES) else ()
