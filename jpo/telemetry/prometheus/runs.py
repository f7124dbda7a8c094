"""Finished runs from Prometheus: one request tells what is new, a dozen more measure all new runs at once.

A run's series exist only while its process does, so one instant query `xxx_over_time(metric{workload}[window])` gives one
row per run, where asking run by run took 25 times as long with 1,000 runs. Discovery reads only what was reported since
the watermark; the measuring queries reach back far enough to see the new runs whole. A long window is read in chunks, oldest
first, each as if it were the next look; where a limit of the server bites, a chunk is halved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from jpo.errors import TelemetryError
from jpo.records import Finished, Identity, Run, Series, Skipped
from jpo.telemetry.outcome import Measured, to_run
from jpo.telemetry.prometheus import measuring, time_series
from jpo.telemetry.prometheus.answers import TooMuch
from jpo.telemetry.prometheus.cluster import Place
from jpo.telemetry.prometheus.discovery import OVERLAP_SECONDS
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.scope import Look
from jpo.telemetry.prometheus.source import PrometheusSource
from jpo.telemetry.prometheus.time_series import Traced

LONGEST_RUN_SECONDS = 14 * 86400.0
"""How far before the watermark a new run may have started."""
CHUNK_SECONDS = 30 * 86400.0
SHORTEST_CHUNK_SECONDS = 86400.0
"""A server that cannot answer for one day will not answer at all."""
LAST_REPORTS_SECONDS = 120.0
"""A run may still be reported so long after the end which its pod tells: for a scrape or two."""
OUT_OF_TIME = "JPO-E103"
DEFAULT = Names()


@dataclass(slots=True)
class Brought:
    """What the chunks brought so far; a run that two of them saw counts once, as the later one saw it.

    Attributes:
        mark: up to where all runs are known, unix seconds; -inf before the first chunk.
        newest: end of the newest run, skipped ones included.
        cut_short: what kept the later chunks from being read; None when nothing did.
    """

    mark: float
    runs: dict[str, tuple[Measured, Traced]] = field(default_factory=dict)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    places: dict[tuple[str, str, str], Place] = field(default_factory=dict)
    newest: float = -math.inf
    cut_short: TelemetryError | None = None

    def add(self, found: measuring.Found, until: float) -> None:
        for run_id in [*(measured.run_id for measured, _ in found.runs), *(one.run_id for one in found.skipped)]:
            self.runs.pop(run_id, None)
            self.skipped.pop(run_id, None)
        self.runs |= {measured.run_id: (measured, traced) for measured, traced in found.runs}
        self.skipped |= {one.run_id: one for one in found.skipped}
        self.places |= {place.labels: place for place in found.places}
        self.newest = max([self.newest, *found.ends])
        self.mark = max(self.mark, min([until - OVERLAP_SECONDS, *(last - 1 for last in found.undecided)]))


def finished_runs(
    source: PrometheusSource,
    identity: Identity,
    *,
    since: float,
    until: float,
    watermark: float | None,
    names: Names = DEFAULT,
) -> Finished:
    """The runs of a workload that ended in (watermark, until] and started after `since`.

    Args:
        since: unix seconds; runs that started earlier would be measured in part and are skipped.
        until: now, unix seconds.
        watermark: what the last complete look returned, or None at first contact.
        names: what metrics and labels are called at this site.

    Returns:
        Runs oldest first, and how the newest of them went (time_series.NEWEST_RUNS). When the server warned that its answer is
        partial, `complete` is False and `watermark` None: values may be missing from the runs, and the next look must ask for
        them again. A look of several chunks that fails on the way, e.g. because time is up, brings the complete ones, with their
        watermark, and says why there are no more in `unread`; the next look goes on from there. One request when nothing is new.

    Raises:
        TelemetryError: JPO-E101 to JPO-E109; not even the first chunk could be read.
    """
    from jpo.telemetry.prometheus.client import Client  # loads requests, which takes longer than the queries

    with Client(source) as client:
        mark = -math.inf if watermark is None else watermark
        look = Look(client, names, identity, since, until, mark)
        brought = _in_chunks(look)
        courses = _courses(look, brought)
        runs, skipped = _records(brought, courses)
        session = client.session
        return Finished(
            runs=tuple(sorted(runs, key=lambda run: (run.ended_at, run.run_id))),
            series=tuple(
                time_series.thinned(series) for run in runs for series in courses.get(run.run_id, ()) if _is_whole(series, run)
            ),
            skipped=tuple(sorted(skipped, key=lambda skip: skip.run_id)),
            unread=_unread(brought),
            complete=not session.warnings,
            watermark=None if session.warnings else _next_watermark(watermark, brought),
            warnings=tuple(session.warnings),
            requests=session.requests,
            seconds=session.seconds(),
        )


def _in_chunks(whole: Look) -> Brought:
    """Everything that ended since the mark, asked chunk by chunk."""
    brought = Brought(whole.mark)
    waiting = list(_borders(max(whole.begin, whole.mark), whole.until, CHUNK_SECONDS))
    while waiting:
        until = waiting.pop(0)
        length = until - max(whole.begin, brought.mark)
        try:
            brought.add(_chunk(whole, brought.mark, until), until)
        except TelemetryError as error:
            if isinstance(error, TooMuch) and length > SHORTEST_CHUNK_SECONDS:
                waiting = [until - length / 2, until, *waiting]
            elif brought.mark > whole.mark:
                brought.cut_short = error
                break
            else:
                raise
    return brought


def _chunk(whole: Look, mark: float, until: float) -> measuring.Found:
    """What ended in (mark, until]; asked again from further back if a run says that it was longer than was thought."""
    look = replace(whole, begin=max(whole.begin, mark - LONGEST_RUN_SECONDS), until=until, mark=mark)
    found = measuring.found(look)
    long_ago = [start for start in found.starts if whole.begin <= start < look.begin]
    return measuring.found(replace(look, begin=min(long_ago))) if long_ago else found


def _borders(begin: float, until: float, length: float) -> Iterator[float]:
    """Where chunks end: the whole span in as few of equal length as their limit allows."""
    count = max(1, math.ceil((until - begin) / length))
    return (until - (until - begin) * (1 - (i + 1) / count) for i in range(count))


def _courses(look: Look, brought: Brought) -> dict[str, list[Series]]:
    """How the newest runs went. Single samples are worth having, not worth failing for: none if a limit bites or time is up."""
    wanted = time_series.newest([traced for _, traced in brought.runs.values()])
    if not wanted or brought.cut_short:
        return {}
    begin = min(run.started_at for run in wanted) - time_series.MARGIN_SECONDS
    until = min(look.until, max(run.ended_at for run in wanted) + time_series.MARGIN_SECONDS)
    courses: dict[str, list[Series]] = defaultdict(list)
    try:
        for series in time_series.traces(replace(look, begin=begin, until=until), wanted, tuple(brought.places.values())):
            courses[series.run_id].append(series)
    except TelemetryError as error:
        if not isinstance(error, TooMuch) and error.code != OUT_OF_TIME:
            raise
        return {}
    return courses


def _records(brought: Brought, courses: dict[str, list[Series]]) -> tuple[list[Run], list[Skipped]]:
    runs, skipped = [], list(brought.skipped.values())
    for measured, _ in brought.runs.values():
        values = time_series.completed(measured.values, courses.get(measured.run_id, ()))
        try:
            runs.append(to_run(replace(measured, values=values), "prometheus"))
        except ValueError as error:
            skipped.append(Skipped(measured.run_id, str(error)))
    return runs, skipped


def _unread(brought: Brought) -> str | None:
    if brought.cut_short is None:
        return None
    day, why = datetime.fromtimestamp(brought.mark, UTC).date(), brought.cut_short
    return f"read up to {day}, the rest next time: {why.finding} [{why.code}]"


def _is_whole(series: Series, run: Run) -> bool:
    """Not what only some of a run's pods took (measured.py)."""
    return series.quantity != "cpu_cores" or run.outcome.cpu_cores_mean is not None


def _next_watermark(watermark: float | None, brought: Brought) -> float | None:
    """Just after the end of the newest run, whose own last reports shall not look like news; but not so late that a run which is
    not visible or not decided yet would be passed over.

    After a look that was cut short the mark itself: a history of years in which nothing happened for long is to be got through.
    """
    if brought.cut_short:
        return brought.mark
    if brought.newest == -math.inf:
        return watermark
    reached = min(brought.newest + LAST_REPORTS_SECONDS, brought.mark)
    return reached if watermark is None else max(watermark, reached)
