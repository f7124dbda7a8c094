"""Finished runs from Prometheus: one request tells what is new, a handful more measure all new runs at once.

A run's series exist only while its process does, so one instant query `xxx_over_time(metric{workload}[window])` gives one
row per run, where asking run by run took 25 times as long with 1,000 runs. Discovery reads only what was reported since
the watermark; the measuring queries reach back far enough to see the new runs whole.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jpo.records import Finished, Identity, Run, Skipped
from jpo.telemetry import contract, queries
from jpo.telemetry.measured import Measured, Values, to_run
from jpo.telemetry.source import PrometheusSource

if TYPE_CHECKING:
    from jpo.telemetry.answers import Row
    from jpo.telemetry.client import Client

OVERLAP_SECONDS = 900.0
"""The watermark stays so far behind the clock: what becomes visible within this time after a run's end is never missed."""
LONGEST_RUN_SECONDS = 14 * 86400.0
"""How far before the watermark a new run may have started."""


@dataclass(frozen=True, slots=True)
class Look:
    """One question to one server: which workload, and the window (unix seconds) in which a run must lie as a whole."""

    client: Client
    identity: Identity
    begin: float
    until: float
    mark: float
    """Runs that ended up to here are known; -inf at first contact."""

    def ask(self, query: str) -> list[Row]:
        return self.client.query(query, self.until)


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over, with its bounds in unix seconds; `closed` when it announced its end itself."""

    run_id: str
    started_at: float | None
    ended_at: float
    closed: bool


@dataclass(frozen=True, slots=True)
class Reports:
    """When a run reported: first and last time, and the usual seconds between two reports (0 if there was one)."""

    first: float
    last: float
    interval: float


def finished_runs(
    source: PrometheusSource, identity: Identity, *, since: float, until: float, watermark: float | None
) -> Finished:
    """The runs of a workload that ended in (watermark, until] and started after `since`.

    Args:
        since: unix seconds; runs that started earlier would be measured in part and are skipped.
        until: now, unix seconds.
        watermark: what the last complete look returned, or None at first contact.

    Returns:
        Runs oldest first. When the server warned that its answer is partial, `complete` is False and `watermark` None: values
        may be missing from the runs, and the next look must ask for them again. One request when nothing is new.

    Raises:
        TelemetryError: JPO-E101 to JPO-E109; nothing is returned of a look that failed on the way.
    """
    from jpo.telemetry.client import Client  # loads requests, which takes longer than the queries

    mark = -math.inf if watermark is None else watermark
    with Client(source) as client:
        look = Look(client, identity, max(since, mark - LONGEST_RUN_SECONDS), until, mark)
        ended, undecided = _ended(look)
        runs, skipped = _measure(look, ended)
        session = client.session
        return Finished(
            runs=tuple(sorted(runs, key=lambda run: (run.ended_at, run.run_id))),
            skipped=tuple(sorted(skipped, key=lambda skip: skip.run_id)),
            complete=not session.warnings,
            watermark=None if session.warnings else _next_watermark(watermark, ended, undecided, until),
            warnings=tuple(session.warnings),
            requests=session.requests,
            seconds=session.seconds(),
        )


def _ended(look: Look) -> tuple[list[Ended], list[float]]:
    """The runs that ended since the mark, and the last reports of those which fell silent too recently to be sure."""
    seen = _discover(look)
    unclear = [run_id for run_id, marks in seen.items() if not {"start", "end"} <= marks.keys()]
    reports = _reports(look, unclear) if unclear else {}
    ended, undecided = [], []
    for run_id, marks in seen.items():
        report = reports.get(run_id)
        start, end = marks.get("start"), marks.get("end")
        if report and start is None and report.first > look.begin + 2 * report.interval:
            start = report.first  # else it may have started before the window
        if report and end is None and look.until - report.last <= max(contract.STALE_SECONDS, 4 * report.interval):
            undecided.append(report.last)
        elif end is not None:
            ended.append(Ended(run_id, start, end, closed=True))
        elif report:
            ended.append(Ended(run_id, start, report.last, closed=False))
    return [run for run in ended if run.ended_at > look.mark], undecided


def _discover(look: Look) -> dict[str, dict[str, float]]:
    """By run id: the marks of queries.discovery with their values. Runs that go on, or ended before the mark, are left out."""
    span = queries.window(max(look.begin, min(look.mark, look.until - OVERLAP_SECONDS)), look.until)
    seen: dict[str, dict[str, float]] = defaultdict(dict)
    for row in look.ask(queries.discovery(queries.selector(look.identity), span)):
        seen[row.labels.get("run_id", "")][row.labels.get("seen", "")] = row.value
    return {
        run_id: marks
        for run_id, marks in seen.items()
        if "run" in marks and "going" not in marks and marks.get("end", math.inf) > look.mark
    }


def _reports(look: Look, run_ids: list[str]) -> dict[str, Reports]:
    chosen, span = queries.selector(look.identity, run_ids), queries.window(look.begin, look.until)
    times: dict[str, list[list[float]]] = defaultdict(list)
    for row in look.ask(queries.reports(chosen, span)):
        times[row.labels.get("run_id", "")].append([t for t, _ in row.points])
    return {run_id: _bounds(series) for run_id, series in times.items()}


def _bounds(series: list[list[float]]) -> Reports:
    """Over all processes that reported one run."""
    longest = max(series, key=len)
    steps = [later - earlier for earlier, later in pairwise(longest)]
    return Reports(min(t[0] for t in series), max(t[-1] for t in series), statistics.median(steps) if steps else 0.0)


def _measure(look: Look, ended: list[Ended]) -> tuple[list[Run], list[Skipped]]:
    """Outcome and configuration of all ended runs, in as many requests as there are quantities."""
    partial = {run.run_id: reason for run in ended if (reason := _why_not_whole(run, look))}
    skipped = [Skipped(run_id or "(no run_id)", reason) for run_id, reason in partial.items()]
    whole = [run for run in ended if run.run_id not in partial]
    if not whole:
        return [], skipped
    chosen = queries.selector(look.identity, [run.run_id for run in whole])
    span = queries.window(look.begin, look.until)
    parameters = _labels_by_run(look.ask(queries.configuration(chosen, span)))
    endings = _labels_by_run(look.ask(queries.endings(chosen, span)))
    values = {
        field: {row.labels.get("run_id", ""): row.value for row in look.ask(queries.quantity(field, chosen, span))}
        for field in queries.QUANTITIES
    }
    runs = []
    for run in whole:
        try:
            measured = Measured(
                run_id=run.run_id,
                identity=look.identity,
                parameters=_only(parameters.get(run.run_id, []), "configurations"),
                started_at=run.started_at,
                ended_at=run.ended_at,
                closed=run.closed,
                status=_only(endings.get(run.run_id, []), "endings").get("status"),
                values=Values(**{field: found[run.run_id] for field, found in values.items() if run.run_id in found}),
            )
            runs.append(to_run(measured, "prometheus"))
        except ValueError as error:
            skipped.append(Skipped(run.run_id, str(error)))
    return runs, skipped


def _why_not_whole(run: Ended, look: Look) -> str | None:
    if not run.run_id:
        return f"{contract.RUN_INFO} has no run_id label"
    if run.ended_at > look.until:
        return f"{contract.END} lies in the future; it must be unix seconds of a right clock"
    if run.started_at is None or run.started_at < look.begin:
        return "it started before the window, so its values would be partial"
    return None


def _labels_by_run(rows: list[Row]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        found[row.labels.get("run_id", "")].append({k: v for k, v in row.labels.items() if k != "run_id"})
    return found


def _only(found: list[dict[str, str]], what: str) -> dict[str, str]:
    """The one set of labels of a run; empty when there is none."""
    if len(found) > 1:
        raise ValueError(f"it reports {len(found)} different {what}; a run id must belong to one run")
    return found[0] if found else {}


def _next_watermark(watermark: float | None, ended: list[Ended], undecided: list[float], until: float) -> float | None:
    """The end of the newest run, but not so late that a run which is not visible or not decided yet would be passed over."""
    newest = max((run.ended_at for run in ended if run.ended_at <= until), default=None)
    if newest is None:
        return watermark
    reached = min(newest, until - OVERLAP_SECONDS, *(last - 1 for last in undecided))
    return reached if watermark is None else max(watermark, reached)
