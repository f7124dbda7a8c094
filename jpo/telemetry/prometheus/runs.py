"""Finished runs from Prometheus: one request finds what is new, a dozen more measure all new runs at once.

A run's series exist only while its process does, so one instant query `xxx_over_time(metric{workload}[window])` gives one
row per run, where asking run by run took 25 times as long with 1,000 runs. Discovery reads only what was reported since
the watermark; the measuring queries reach back far enough to see the new runs whole. A long window is read in chunks, oldest
first, each as if it were the next reading; where the server rejects a query as too large, the chunk is halved. What became
visible late, behind the watermark, is found by its id.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jpo.errors import TelemetryError
from jpo.http.answers import TooMuch
from jpo.http.endpoint import Endpoint
from jpo.records import KUBERNETES, VAL_ACCURACY, VAL_LOSS, Finished, Identity, Quality, Run, Series, Skipped
from jpo.telemetry import contract
from jpo.telemetry.doubts import ending_doubts, once_each
from jpo.telemetry.learning_curve import Slope
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues, NoEvidence, Own, to_run
from jpo.telemetry.prometheus import discovery, measuring, time_series
from jpo.telemetry.prometheus.answers import PartialAnswer
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.discovery import NewRuns
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.scope import Scope

if TYPE_CHECKING:
    from jpo.http.session import GuardedSession

LONGEST_RUN_SECONDS = 14 * 86400.0
"""How far before the watermark a new run may have started."""
CHUNK_SECONDS = 30 * 86400.0
SHORTEST_CHUNK_SECONDS = 86400.0
"""A server that cannot answer for one day will not answer at all."""
LAST_REPORTS_SECONDS = 120.0
"""How long a run may still be reported after the end of its pod: for a scrape or two."""
OUT_OF_TIME = "JPO-E103"
DEFAULT = Names()


@dataclass(slots=True)
class Collected:
    """Runs of the chunks read so far; a run that two chunks contain counts once, as in the later one.

    Attributes:
        mark: up to where all runs are on record, unix seconds; -inf before the first chunk.
        newest: end of the newest run, skipped ones included.
        open_ids: runs that are not over.
        cut_short: what kept the later chunks from being read; None when nothing did.
    """

    mark: float
    runs: dict[str, MeasuredRun] = field(default_factory=dict)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    labellings: dict[tuple[str, str, str], Labelling] = field(default_factory=dict)
    newest: float = -math.inf
    open_ids: frozenset[str] = frozenset()
    cut_short: TelemetryError | None = None

    def add(self, new: NewRuns, until: float) -> None:
        """Add the runs of a chunk that ends at `until`, unix seconds."""
        for run_id in [*(measured.run_id for measured in new.runs), *(skipped.run_id for skipped in new.skipped)]:
            self.runs.pop(run_id, None)
            self.skipped.pop(run_id, None)
        self.runs |= {measured.run_id: measured for measured in new.runs}
        self.skipped |= {skipped.run_id: skipped for skipped in new.skipped}
        self.labellings |= {labelling.labels: labelling for labelling in new.labellings}
        self.newest = max([self.newest, *(run.ended_at for run in new.over if run.ended_at <= until)])
        self.open_ids = self.open_ids.union(new.open_ids)
        self.mark = max(self.mark, min([until - discovery.OVERLAP_SECONDS, *(last - 1 for last in new.undecided)]))


@dataclass(frozen=True, slots=True)
class Late:
    """Where to look for runs that became visible late, behind the watermark.

    `since`: unix seconds: what reported since then is asked for. `settled`: ids of runs that need no look: they are on record, or
    were looked at lately.
    """

    since: float
    settled: frozenset[str] = frozenset()


def finished_runs(
    source: Endpoint,
    identity: Identity,
    *,
    since: float,
    until: float,
    watermark: float | None,
    names: Names = DEFAULT,
    late: Late | None = None,
) -> Finished:
    """The runs of a workload that ended in (watermark, until] and started after `since`.

    They come oldest first, with time series of the newest of them (time_series.NEWEST_RUNS). When the server warned that its
    answer is partial, there are no runs, `complete` is False and `watermark` None: the next reading must ask for them again. A
    reading of several chunks that fails halfway, e.g. because time is up, returns the complete ones, with their watermark,
    and says in `unread` why; the next one continues there. One request when nothing is new, and one for `late`.

    Args: times are unix seconds.
        since: runs that started earlier would be measured in part and are skipped.
        until: now.
        watermark: what the last complete reading returned, or None at first contact.
        late: take these runs, too, whenever they ended. Asked where the watermark is later than its beginning: what lies behind
            the watermark is read anyway.

    Raises TelemetryError: JPO-E101 to JPO-E109; not even the first chunk could be read.
    """
    from jpo.telemetry.prometheus.client import Client  # loads requests, which takes longer than the queries

    with Client(source) as client:
        mark = -math.inf if watermark is None else watermark
        scope = Scope(client, names, identity, since, until, mark)
        session = client.session
        try:
            collected = _in_chunks(scope)
            reached, unread, passed_over = _next_watermark(watermark, collected), None, frozenset[str]()
            if why := collected.cut_short:
                day = datetime.fromtimestamp(collected.mark, UTC).date()
                unread = f"read up to {day}, the rest next time: {why.finding} [{why.code}]"
            elif late and late.since < mark:
                unread, passed_over = _add_late(collected, scope, late)
            series_of, slope_of = _newest_samples(scope, collected)
        except PartialAnswer:
            return _nothing(session)
        runs, skipped = _records(collected, series_of, slope_of, names.own)
        if session.warnings:
            return _nothing(session)
        # Of CPU cores only series of all of a run's pods (see outcome.py).
        of_runs = ((run, series) for run in runs for series in series_of.get(run.run_id, ()))
        whole = (each for run, each in of_runs if each.quantity != "cpu_cores" or run.outcome.cpu_cores_mean is not None)
        not_used = [*passed_over, *(skip.run_id for skip in skipped), *(run.run_id for run in runs if run.fell_silent)]
        return Finished(
            runs=tuple(sorted(runs, key=lambda run: (run.ended_at, run.run_id))),
            series=tuple(map(time_series.thinned, whole)),
            skipped=tuple(sorted(skipped, key=lambda skip: skip.run_id)),
            doubts=once_each([doubt for run in runs for doubt in ending_doubts(collected.runs[run.run_id], run)], "run"),
            unread=unread,
            watermark=reached,
            passed_over=dict.fromkeys(not_used, until),
            requests=session.requests,
            seconds=session.seconds(),
        )


def _nothing(session: "GuardedSession") -> Finished:
    """Of a partial answer nothing is used."""
    return Finished(complete=False, warnings=tuple(session.warnings), requests=session.requests, seconds=session.seconds())


def _add_late(collected: Collected, scope: Scope, late: Late) -> tuple[str | None, frozenset[str]]:
    """Add the runs that came late; why they could not be read, and the ids of those that are none. The others stay."""
    begin = max(scope.begin, late.since)
    try:
        listed = discovery.reported_ids(scope, begin)
        missing = listed - late.settled - collected.open_ids - collected.runs.keys() - collected.skipped.keys()
        found = _in_chunks(replace(scope, mark=begin, run_ids=tuple(sorted(missing)))) if missing else Collected(begin)
        if found.cut_short:
            raise found.cut_short
    except PartialAnswer:
        raise
    except TelemetryError as error:
        return f"not asked for runs that came late: {error.finding} [{error.code}]", frozenset()
    collected.runs |= found.runs
    collected.skipped |= found.skipped
    collected.labellings |= found.labellings
    return None, missing - found.runs.keys() - found.open_ids


def _in_chunks(whole: Scope) -> Collected:
    """Everything that ended since the mark, asked chunk by chunk."""
    collected = Collected(whole.mark)
    seconds = whole.until - max(whole.begin, whole.mark)
    count = max(1, math.ceil(seconds / CHUNK_SECONDS))  # as few as possible, of equal length
    waiting = [whole.until - seconds * (1 - (i + 1) / count) for i in range(count)]
    while waiting:
        until = waiting.pop(0)
        length = until - max(whole.begin, collected.mark)
        try:
            collected.add(_chunk(whole, collected.mark, until), until)
        except PartialAnswer:
            raise
        except TelemetryError as error:
            if isinstance(error, TooMuch) and length > SHORTEST_CHUNK_SECONDS:
                waiting = [until - length / 2, until, *waiting]
            elif collected.mark > whole.mark:
                collected.cut_short = error
                break
            else:
                raise
    return collected


def _chunk(whole: Scope, mark: float, until: float) -> NewRuns:
    """Runs that ended in (mark, until]; read again from further back if a run reports an earlier start than was assumed."""
    known_until = -math.inf if whole.run_ids else mark  # of runs that are named none is on record
    scope = replace(whole, begin=max(whole.begin, mark - LONGEST_RUN_SECONDS), until=until, mark=known_until)
    new = measuring.new_runs(scope)
    starts = (run.started_at for run in new.over if run.started_at is not None)
    earlier = [start for start in starts if whole.begin <= start < scope.begin]
    return measuring.new_runs(replace(scope, begin=min(earlier))) if earlier else new


def _newest_samples(scope: Scope, collected: Collected) -> tuple[dict[str, list[Series]], Mapping[str, Slope]]:
    """By run id: series and slopes of learning curves of the newest runs; none, at a limit or the deadline: not worth failing."""
    wanted = time_series.newest(collected.runs.values())
    if not wanted or collected.cut_short:
        return {}, {}
    begin = min(run.begin for run in wanted) - time_series.MARGIN_SECONDS
    until = min(scope.until, max(run.ended_at for run in wanted) + time_series.MARGIN_SECONDS)
    narrow = replace(scope, begin=begin, until=until)
    series_of: dict[str, list[Series]] = defaultdict(list)
    try:
        for series in time_series.read(narrow, wanted, tuple(collected.labellings.values())):
            series_of[series.run_id].append(series)
        reporting = [run for run in wanted if not run.labelled]
        if not reporting:
            return series_of, {}
        curve = curve_of([measured.values for measured in collected.runs.values()], scope)
        return series_of, time_series.loss_slopes(narrow, reporting, *curve)
    except TelemetryError as error:
        if not isinstance(error, TooMuch) and error.code != OUT_OF_TIME:
            raise
        return {}, {}


def curve_of(measured: Sequence[MeasuredValues], scope: Scope) -> tuple[str, Quality]:
    """The metric whose samples are the learning curves of runs, and its quality: the first that any of them reports."""
    if all(values.val_loss is None for values in measured):
        if any(values.val_accuracy is not None for values in measured):
            return contract.VAL_ACCURACY, VAL_ACCURACY
        if scope.names.own_metric and any(values.metrics for values in measured):
            return contract.OWN_METRIC, scope.names.own_metric
    return contract.VAL_LOSS, VAL_LOSS


def _records(
    collected: Collected, series_of: Mapping[str, list[Series]], slope_of: Mapping[str, Slope], own: Own
) -> tuple[list[Run], list[Skipped]]:
    runs, skipped = [], list(collected.skipped.values())
    for measured in collected.runs.values():
        values = time_series.completed(measured.values, series_of.get(measured.run_id, ()))
        slope, error = slope_of.get(measured.run_id, (None, None))
        values = replace(values, loss_slope=slope, loss_slope_error=error)
        try:
            source = KUBERNETES if measured.labelled else "prometheus"
            runs.append(to_run(replace(measured, values=values), source, own))
        except NoEvidence as why:
            skipped.append(Skipped(measured.run_id, str(why), why.code))
    return runs, skipped


def _next_watermark(watermark: float | None, collected: Collected) -> float | None:
    """The watermark just after the end of the newest run, whose last reports are not new; runs yet to be seen are not missed."""
    if collected.cut_short:  # a history of years with long gaps would else never be read to its end
        return collected.mark
    if collected.newest == -math.inf:
        return watermark
    reached = min(collected.newest + LAST_REPORTS_SECONDS, collected.mark)
    return reached if watermark is None else max(watermark, reached)
