"""Which runs are over, and when they began and ended: the first request of every look, and often the only one.

A run says so itself (jpo_run_end_time_seconds), or its pod does (kube-state-metrics), or it has fallen silent. What was pushed
to a Pushgateway never falls silent: such a run is over when nothing was pushed for a while, and where the gateway does not tell
that, when its samples have not moved for STILL_SECONDS.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import Row
from jpo.telemetry.prometheus.scope import Look

OVERLAP_SECONDS = 900.0
"""The watermark stays so far behind the clock: what becomes visible within this time after a run's end is never missed."""
STILL_SECONDS = 6 * 3600.0
"""A run which is reported, but processed no sample for so long, is over: longer than validations and queues take."""

Marks = Mapping[str, float]
"""What discovery says of one run: the keys of queries.discovery with their values."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A run that is over, in unix seconds; `closed` when it announced its end itself."""

    started_at: float | None
    ended_at: float
    closed: bool


@dataclass(frozen=True, slots=True)
class Reports:
    """When a run reported: first and last time, and the usual seconds between two reports (0 if there was one)."""

    first: float
    last: float
    interval: float


def seen(look: Look) -> dict[str, Marks]:
    """By run id: what is new since the mark. Runs that go on, or ended before the mark, are left out. One request."""
    span = queries.window(max(look.begin, min(look.mark, look.until - OVERLAP_SECONDS)), look.until)
    loosely = queries.selector(look.identity, names=look.names, loose=True)
    known = max(0.0, look.until - look.mark) + STILL_SECONDS if math.isfinite(look.mark) else None
    asked = queries.discovery(look.names, look.chosen(), loosely, span, still_seconds=STILL_SECONDS, known_seconds=known)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for mark, row in look.ask_all(asked):
        found[row.labels.get("run_id", "")][mark] = row.value
    return {run_id: marks for run_id, marks in found.items() if "run" in marks and _may_be_over(marks, look)}


def _may_be_over(marks: Marks, look: Look) -> bool:
    if marks.get("end", math.inf) <= look.mark:
        return False
    if "going" not in marks:
        return True
    pushed = marks.get("pushed")
    return "still" in marks if pushed is None else look.mark < pushed < look.until - contract.STALE_SECONDS


def bounds(
    look: Look, found: Mapping[str, Marks], pods_say: Mapping[str, tuple[float | None, float | None]]
) -> tuple[dict[str, Bounds], list[float]]:
    """The runs that ended since the mark, and the last reports of those which fell silent too recently to be sure.

    Args:
        pods_say: by run id, when its pods started and completed, where known.
    """
    told = {run_id: (marks.get("start"), marks.get("end")) for run_id, marks in found.items()}
    merged = {run_id: _first_known(told[run_id], pods_say.get(run_id, (None, None))) for run_id in found}
    reports = _reports(look, {run_id: found[run_id] for run_id, times in merged.items() if None in times})
    # A clock of ours that is ahead would make runs that go on look silent.
    now = min(look.until, look.client.clock()) if reports else look.until
    over: dict[str, Bounds] = {}
    undecided = []
    for run_id, (start, end) in merged.items():
        report = reports.get(run_id)
        if report and start is None and report.first > look.begin + 2 * report.interval:
            start = report.first  # else it may have started before the window
        if end is not None:
            over[run_id] = Bounds(start, end, closed=told[run_id][1] is not None)
        elif report and now - report.last <= max(contract.STALE_SECONDS, 4 * report.interval):
            undecided.append(report.last)
        elif report:
            over[run_id] = Bounds(start, report.last, closed=False)
    return {run_id: one for run_id, one in over.items() if one.ended_at > _known_until(found[run_id], look)}, undecided


def _known_until(marks: Marks, look: Look) -> float:
    """A run that only stands still is noticed hours after its end, when the watermark may have passed it."""
    return look.mark - STILL_SECONDS if "still" in marks and "pushed" not in marks else look.mark


def _first_known(
    told: tuple[float | None, float | None], pods: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    return (told[0] if told[0] is not None else pods[0], told[1] if told[1] is not None else pods[1])


def _reports(look: Look, unclear: Mapping[str, Marks]) -> dict[str, Reports]:
    """When each of these runs was heard of: by push, by movement, or by scrape."""
    pushed = [run_id for run_id, marks in unclear.items() if "pushed" in marks]
    still = [run_id for run_id, marks in unclear.items() if "still" in marks and run_id not in pushed]
    scraped = [run_id for run_id in unclear if run_id not in {*pushed, *still}]
    return {
        **_heard(scraped, lambda: look.samples(contract.RUN_INFO, scraped), _times),
        **_heard(still, lambda: look.samples(contract.SAMPLES, still), _movements),
        **_heard(pushed, lambda: look.samples("push_time_seconds", pushed, loose=True), lambda row: _pushes(row, unclear)),
    }


def _heard(
    run_ids: Sequence[str], samples: Callable[[], list[Row]], moments: Callable[[Row], Iterable[float]]
) -> dict[str, Reports]:
    wanted, times = frozenset(run_ids), defaultdict[str, list[list[float]]](list)
    for row in samples() if run_ids else ():
        if row.labels.get("run_id") in wanted:
            times[row.labels["run_id"]].append(sorted(moments(row)))
    return {run_id: _bounds([one for one in series if one]) for run_id, series in times.items() if any(series)}


def _times(row: Row) -> list[float]:
    return [time for time, _ in row.points]


def _movements(row: Row) -> list[float]:
    changed = [later[0] for earlier, later in pairwise(row.points) if later[1] != earlier[1]]
    return [row.points[0][0], *changed]


def _pushes(row: Row, marks: Mapping[str, Marks]) -> set[float]:
    """None from a group of the same name that another workload pushed."""
    return {value for _, value in row.points} if row.value == marks[row.labels["run_id"]]["pushed"] else set()


def _bounds(series: list[list[float]]) -> Reports:
    """Over all processes that reported one run."""
    longest = max(series, key=len)
    steps = [later - earlier for earlier, later in pairwise(longest)]
    return Reports(min(t[0] for t in series), max(t[-1] for t in series), statistics.median(steps) if steps else 0.0)
