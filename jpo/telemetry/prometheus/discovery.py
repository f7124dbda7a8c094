"""Discovery of runs that have ended, with their start and end: the first request of every scope, and often the only one.

The run itself reports its end (jpo_run_end_time_seconds), or its pod does (kube-state-metrics), or the run has fallen silent.
What was pushed to a Pushgateway never falls silent: such a run is over when nothing was pushed for a while, and where the gateway
does not report that, when its sample count has not moved for STILL_SECONDS.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from jpo.records import Skipped
from jpo.telemetry import contract
from jpo.telemetry.outcome import MeasuredRun
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.pods import seen_pods as pods
from jpo.telemetry.prometheus.pods.seen_pods import PodId
from jpo.telemetry.prometheus.queries import STILL_SECONDS
from jpo.telemetry.prometheus.scope import Scope

OVERLAP_SECONDS = 900.0
"""How far the watermark stays behind the clock: what becomes visible within this time after a run's end is never missed."""
Marks = Mapping[str, float]
"""What discovery knows of one run: the keys of queries.discovery with their values."""


@dataclass(frozen=True, slots=True)
class RunBounds:
    """Start and end of a run that is over, in unix seconds; `closed` when it announced its end itself."""

    started_at: float | None
    ended_at: float
    closed: bool


@dataclass(frozen=True, slots=True)
class NewRuns:
    """Runs that a scope brought, reported or labelled: new ones, and the bounds of all that are `over`, skipped ones included.

    `undecided`: last reports (unix seconds) of runs that may still be running; `open_ids`: those, and the ones that surely are.
    """

    runs: tuple[MeasuredRun, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    over: tuple[RunBounds, ...] = ()
    undecided: tuple[float, ...] = ()
    open_ids: tuple[str, ...] = ()
    labellings: tuple[Labelling, ...] = ()

    def __add__(self, other: "NewRuns") -> "NewRuns":
        return NewRuns(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))


@dataclass(frozen=True, slots=True)
class ReportTimes:
    """Times at which a run reported: the first, the last, and the usual seconds between two (0 if there was only one)."""

    first: float
    last: float
    interval: float


def seen(scope: Scope) -> tuple[Mapping[str, Marks], Collection[PodId], Collection[PodId]]:
    """Everything that was seen since the scope's watermark, by one request.

    These are marks by run id of runs that report, pods that are runs by their labels, and those of the pods that surely go on.
    """
    span = queries.window(max(scope.begin, min(scope.mark, scope.until - OVERLAP_SECONDS)), scope.until)
    mark_seconds = max(0.0, scope.until - scope.mark) if math.isfinite(scope.mark) else None
    asked = queries.discovery(scope.names, scope.chosen(), scope.chosen(loose=True), span, mark_seconds=mark_seconds)
    by_run: dict[str, dict[str, float]] = defaultdict(dict)
    labelled = []
    for mark, row in scope.ask_all({**asked, **pods.asked(scope, span)}):
        if mark in (pods.SEEN, pods.OPEN):
            labelled.append((mark, row.labels))
        else:
            by_run[row.labels.get("run_id", "")][mark] = row.value
    wanted = frozenset(scope.run_ids)
    marks = {run_id: marks for run_id, marks in by_run.items() if "run" in marks and (run_id in wanted or not wanted)}
    there, going = (pods.pods_of(labelled, scope, (kind,)).keys() for kind in (pods.SEEN, pods.OPEN))
    return marks, there, going


def reported_ids(scope: Scope, begin: float) -> frozenset[str]:
    """The ids of the workload's runs that reported since `begin`, unix seconds; of earlier ones, too, where an index is coarse.

    Runs become visible late: behind a backlog of remote write, while a store gateway is away, after a Pushgateway comes back,
    from a machine whose clock is slow. By their times they would never be seen, since younger runs moved the watermark past them.
    One request to the index, which reads no sample; a second one, which does, where the server or a proxy withholds the index.
    """
    info = scope.names.metric(contract.RUN_INFO) + queries.selector(scope.identity, names=scope.names)
    run = scope.names.label("run_id")
    ids = scope.indexed(run, info, begin)
    if ids is None:
        asked = {"run": f"max by ({run}) (last_over_time({info}{queries.window(begin, scope.until)}))"}
        ids = frozenset(row.labels.get("run_id", "") for _, row in scope.ask_all(asked))
    return ids - {""}


def new(marks_of: Mapping[str, Marks], scope: Scope) -> dict[str, Marks]:
    """Those of the runs that may have ended since the watermark."""
    return {run_id: marks for run_id, marks in marks_of.items() if _may_be_over(marks, scope.mark, scope.until)}


def running(marks_of: Mapping[str, Marks], until: float) -> frozenset[str]:
    """The runs that are still going on, no matter what was read before."""
    return frozenset(run_id for run_id, marks in marks_of.items() if not _may_be_over(marks, -math.inf, until))


def _may_be_over(marks: Marks, mark: float, until: float) -> bool:
    if marks.get("end", math.inf) <= mark:
        return False
    if "going" not in marks:
        return True
    pushed = marks.get("pushed")
    return "still" in marks if pushed is None else mark < pushed < until - contract.STALE_SECONDS


def bounds(
    scope: Scope, marks_of: Mapping[str, Marks], pod_times: Mapping[str, tuple[float | None, float | None]]
) -> tuple[dict[str, RunBounds], dict[str, float]]:
    """Start and end of the runs that ended since the mark, and the last reports of runs that fell silent too recently to be sure.

    A run of which no report can be found now, though the server has just named it, is not sure either.

    `marks_of`: by run id, from `new`; `pod_times`: by run id, when its pods started and completed, where known.
    """
    reported = {run_id: (marks.get("start"), marks.get("end")) for run_id, marks in marks_of.items()}
    merged = {
        run_id: tuple(pod if own is None else own for own, pod in zip(times, pod_times.get(run_id, (None, None)), strict=True))
        for run_id, times in reported.items()
    }
    reports = _reports(scope, {run_id: marks_of[run_id] for run_id, times in merged.items() if None in times})
    # If our clock were ahead of the server's, running runs would look silent.
    now = min(scope.until, scope.client.clock()) if reports else scope.until
    over: dict[str, RunBounds] = {}
    undecided = {}
    for run_id, (start, end) in merged.items():
        report = reports.get(run_id)
        if report and start is None and report.first > scope.begin + 2 * report.interval:
            start = report.first  # else it may have started before the window
        if end is not None:
            over[run_id] = RunBounds(start, end, closed=reported[run_id][1] is not None)
        elif report is None:
            undecided[run_id] = max(scope.begin, scope.mark)
        elif now - report.last <= max(contract.STALE_SECONDS, 4 * report.interval):
            undecided[run_id] = report.last
        else:
            over[run_id] = RunBounds(start, report.last, closed=False)
    # The ends up to the mark are on record, but a run that merely stands still is noticed hours late.
    late = {run_id for run_id, marks in marks_of.items() if "still" in marks and "pushed" not in marks}
    new_ones = {run_id: run for run_id, run in over.items() if run.ended_at > scope.mark - STILL_SECONDS * (run_id in late)}
    return new_ones, undecided


def _reports(scope: Scope, unclear: Mapping[str, Marks]) -> dict[str, ReportTimes]:
    """Report times of these runs: by push, by movement of their samples, or by scrape."""

    def pushes(row: AnswerRow) -> set[float]:
        """None from a group of the same name that another workload pushed."""
        return {value for _, value in row.points} if row.value == unclear[row.labels["run_id"]]["pushed"] else set()

    pushed = [run_id for run_id, marks in unclear.items() if "pushed" in marks]
    still = [run_id for run_id, marks in unclear.items() if "still" in marks and run_id not in pushed]
    scraped = [run_id for run_id in unclear if run_id not in {*pushed, *still}]
    return {
        **_times_of(scraped, lambda: scope.samples(contract.RUN_INFO, scraped), lambda row: [time for time, _ in row.points]),
        **_times_of(still, lambda: scope.samples(contract.SAMPLES, still), _movements),
        **_times_of(pushed, lambda: scope.samples("push_time_seconds", pushed, loose=True), pushes),
    }


def _times_of(
    run_ids: Sequence[str], samples: Callable[[], list[AnswerRow]], moments: Callable[[AnswerRow], Iterable[float]]
) -> dict[str, ReportTimes]:
    wanted, times = frozenset(run_ids), defaultdict[str, list[list[float]]](list)
    for row in samples() if run_ids else ():
        if row.labels.get("run_id") in wanted:
            times[row.labels["run_id"]].append(sorted(moments(row)))
    return {run_id: _report_times([times for times in series if times]) for run_id, series in times.items() if any(series)}


def _movements(row: AnswerRow) -> list[float]:
    changed = [later[0] for earlier, later in pairwise(row.points) if later[1] != earlier[1]]
    return [row.points[0][0], *changed]


def _report_times(series: list[list[float]]) -> ReportTimes:
    """Over all processes that reported one run."""
    longest = max(series, key=len)
    steps = [later - earlier for earlier, later in pairwise(longest)]
    return ReportTimes(min(t[0] for t in series), max(t[-1] for t in series), statistics.median(steps) if steps else 0.0)
