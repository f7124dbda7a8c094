"""Time series of CPU, memory, GPUs and losses during the newest runs: single samples, for percentiles, phases and slopes.

Single samples are expensive (a thousand runs of one metric took seconds), so they are read for few runs only, and over no more
than their time. Containers of a pod follow each other; GPUs, and servers that store everything twice, run in parallel: samples
taken at the same time are averaged. Over the pods of a run, cores are added up, and memory is the highest of any pod.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from jpo.records import VAL_LOSS, Quality, Series
from jpo.telemetry import contract
from jpo.telemetry.learning_curve import Slope, loss_slope
from jpo.telemetry.outcome import BYTES_PER_GIB, MeasuredRun, MeasuredValues
from jpo.telemetry.prometheus import cluster, queries
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Labelling, Pod
from jpo.telemetry.prometheus.scope import Scope

NEWEST_RUNS = 50
"""Runs whose single samples are read at once, at most; after the first contact there are fewer new runs."""
MOST_SECONDS = 10 * 86400.0
"""Longest total duration of the runs whose samples are read at once: 60,000 samples of each series at the usual 15 s."""
MOST_POINTS = 2000
"""Points kept of one quantity of one run."""
MARGIN_SECONDS = 60.0
"""What was measured during a run may be stored a little later."""
FROM_CLUSTER = {
    "cpu_cores": {"container_cpu_seconds_total": 1.0},
    "memory_gib": {"container_memory_bytes": 1 / BYTES_PER_GIB},
    "gpu_utilisation": cluster.GPU_UTILISATION,
}
"""By quantity: the roles of the metrics that hold it, and the factor to JPO's unit."""
OVER_PODS: Mapping[str, Callable[[list[float]], float]] = {"cpu_cores": sum, "memory_gib": max}
OWN = (("cpu_cores", contract.CPU_SECONDS, 1.0), ("memory_gib", contract.MEMORY_BYTES, 1 / BYTES_PER_GIB))
Point = tuple[float, float]
"""Unix seconds and value."""


def newest(runs: Iterable[MeasuredRun]) -> list[MeasuredRun]:
    """The newest runs whose samples are worth reading: at most NEWEST_RUNS, and MOST_SECONDS together."""
    left, chosen = MOST_SECONDS, []
    for run in sorted(runs, key=lambda run: run.ended_at, reverse=True)[:NEWEST_RUNS]:
        left -= run.ended_at - run.begin
        if left >= 0:
            chosen.append(run)
    return chosen


def read(scope: Scope, runs: Sequence[MeasuredRun], labellings: Sequence[Labelling]) -> list[Series]:
    """Time series of these runs, every sample; what neither the cluster, under these labels, nor the job measured is missing."""
    series: dict[tuple[str, str], list[Point]] = {}
    pods = sorted({name for run in runs for _, name in run.pods})
    names = queries.one_of(pods, queries.LONGEST_PATTERN_ALONE)
    for labelling in labellings if pods else ():
        narrow = replace(labelling, chosen=f"{labelling.labels[1]}=~{names}") if names else labelling
        for quantity, rows, factor in _cluster_rows(scope, narrow):
            for run in runs:
                if points := _run_points(run, rows, quantity, factor):
                    series.setdefault((run.run_id, quantity), points)
    for quantity, role, factor in OWN:
        missing = {run.run_id: run for run in runs if (run.run_id, quantity) not in series}
        for run_id, points in _own(scope, quantity, role, factor, missing).items() if missing else ():
            series[run_id, quantity] = points
    return [_series(*key, points) for key, points in sorted(series.items()) if points]


def _cluster_rows(scope: Scope, labelling: Labelling) -> Iterator[tuple[str, list[AnswerRow], float]]:
    """By quantity: the series of a labelling, and the factor to JPO's unit; names given by the site come first."""
    span = queries.window(scope.begin, scope.until)
    containers, pods = labelling.containers(scope), labelling.selector()
    for quantity, roles in FROM_CLUSTER.items():
        for role, factor in cluster.roles_in_order(scope, roles):
            for name in labelling.names(scope, role):
                chosen = pods if quantity == "gpu_utilisation" else containers
                yield quantity, scope.ask(name + chosen + span, samples=True), factor


def _run_points(run: MeasuredRun, rows: Sequence[AnswerRow], quantity: str, factor: float) -> list[Point]:
    """One time series for a run from those of its pods: its trainer's, or all of its GPUs'."""
    series: dict[Pod, list[list[Point]]] = defaultdict(list)
    for row in rows:
        names = row.labels.get("namespace", ""), row.labels.get("pod", "")
        # Pods of a run that does not report its namespace have none.
        pod = next((pod for pod in (Pod(*names), Pod("", names[1])) if pod in run.pods), None)
        if pod and (quantity == "gpu_utilisation" or run.container in (None, row.labels.get("container"))):
            points = _points(row, quantity, factor)
            if kept := _within(points, run, min(_interval(points), MARGIN_SECONDS)):
                series[pod].append(kept)
    if quantity not in OVER_PODS:
        return _merged([points for of_pod in series.values() for points in of_pod])
    if len(series) < len(run.pods):
        return []
    return _over_pods([_merged(of_pod) for of_pod in series.values()], OVER_PODS[quantity])


def _own(scope: Scope, quantity: str, role: str, factor: float, runs: Mapping[str, MeasuredRun]) -> dict[str, list[Point]]:
    """Time series that the jobs report themselves, where the cluster has none. A Pushgateway repeats the last value for ever."""
    series: dict[str, list[list[Point]]] = defaultdict(list)
    for row in scope.samples(role, list(runs)):
        run = runs.get(row.labels.get("run_id", ""))
        if run and (points := _within(_points(row, quantity, factor), run, 0.0)):
            series[run.run_id].append(points)
    return {run_id: _merged(of_run) for run_id, of_run in series.items()}


def loss_slopes(
    scope: Scope, runs: Sequence[MeasuredRun], role: str = contract.VAL_LOSS, quality: Quality = VAL_LOSS
) -> dict[str, Slope]:
    """Slopes of the learning curves of these runs, by run id, over time instead of epochs; of several processes the one that
    reported most. A loss that stays the same is one validation, seen again and again. `role`: the metric that is read; the
    slope is that of the error of `quality`, which it holds."""
    sampled, curves = {run.run_id: run for run in runs}, dict[str, list[Point]]()
    for row in scope.samples(role, list(sampled)):
        run = sampled.get(row.labels.get("run_id", ""))
        points = _within(sorted(row.points), run, 0.0) if run else []
        if run and len(points) > len(curves.get(run.run_id, ())):
            curves[run.run_id] = points
    slopes = {}
    for run_id, points in curves.items():
        news = [after for before, after in pairwise([(0.0, 0.0), *points]) if after[1] != before[1]]
        if quality.more_is_better:  # 0 is what a gauge shows before the first validation
            news = quality.errors_of([point for point in news if point[1] > 0])
        slopes[run_id] = loss_slope((time - sampled[run_id].begin, loss) for time, loss in news)
    return {run_id: slope for run_id, slope in slopes.items() if slope is not None}


def _points(row: AnswerRow, quantity: str, factor: float) -> list[Point]:
    """A series in JPO's unit; a counter becomes its rate per second since the previous sample, from 0 after a restart."""
    most = 1.5 if quantity == "gpu_utilisation" else 1e15
    converted = ((time, value * factor) for time, value in row.points if math.isfinite(time))
    points = sorted({time: value for time, value in converted if 0 <= value < most}.items())
    if quantity == "gpu_utilisation":
        return [(time, min(1.0, value)) for time, value in points]
    if quantity == "memory_gib":
        return points
    return [
        (time, (value - before if value >= before else value) / (time - earlier))
        for (earlier, before), (time, value) in pairwise(points)
    ]


def _merged(series: Sequence[list[Point]]) -> list[Point]:
    """One time series from several: the mean over each sampling interval, at the time of its last sample."""
    if len(series) <= 1:
        return series[0] if series else []
    slots = _slots(series, _interval(max(series, key=len)))
    return [_mean([point for points in slot.values() for point in points]) for slot in slots]


def _over_pods(series: Sequence[list[Point]], combined: Callable[[list[float]], float]) -> list[Point]:
    """One time series from those of several pods; intervals in which a running pod reported nothing are left out."""
    if len(series) <= 1:
        return series[0] if series else []
    interval, result = _interval(max(series, key=len)), []
    for slot in _slots(series, interval):
        means = [_mean(points) for points in slot.values()]
        time = max(time for time, _ in means)
        running = {n for n, points in enumerate(series) if points[0][0] - interval < time < points[-1][0] + interval}
        if running <= slot.keys():
            result.append((time, combined([value for _, value in means])))
    return result


def _slots(series: Sequence[list[Point]], interval: float) -> list[dict[int, list[Point]]]:
    """The points of each sampling interval, in the order of time, by number of the series."""
    # Half an interval earlier: samples of the first series, a little early or late, stay apart.
    first = min(points[0][0] for points in series) - interval / 2
    slots: dict[int, dict[int, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for n, points in enumerate(series):
        for point in points:
            slots[int((point[0] - first) / interval)][n].append(point)
    return [slots[slot] for slot in sorted(slots)]


def _interval(points: Sequence[Point]) -> float:
    return statistics.median(later[0] - earlier[0] for earlier, later in pairwise(points)) if len(points) > 1 else 1.0


def _mean(points: Sequence[Point]) -> Point:
    return max(time for time, _ in points), statistics.fmean(value for _, value in points)


def _within(points: list[Point], run: MeasuredRun, margin: float) -> list[Point]:
    return [point for point in points if run.begin - margin <= point[0] <= run.ended_at + margin]


def _series(run_id: str, quantity: str, points: Sequence[Point]) -> Series:
    return Series(run_id, quantity, tuple(time for time, _ in points), tuple(value for _, value in points))


def thinned(series: Series) -> Series:
    """A time series of at most MOST_POINTS points, each the mean of equally many consecutive samples."""
    points = list(zip(series.times, series.values, strict=True))
    every = -(-len(points) // MOST_POINTS)
    if every <= 1:
        return series
    return _series(series.run_id, series.quantity, [_mean(points[i : i + every]) for i in range(0, len(points), every)])


def completed(values: MeasuredValues, run_series: Sequence[Series]) -> MeasuredValues:
    """The values of a run with what only its time series show: exact percentiles, and means where they are missing."""
    for series in run_series:
        mean, single = statistics.fmean(series.values), len(series.values) == 1
        # As Prometheus and numpy compute it: linear between the nearest two.
        p95 = series.values[0] if single else statistics.quantiles(series.values, n=20, method="inclusive")[-1]
        if series.quantity == "cpu_cores":
            values = replace(values, cpu_cores_p95=p95, cpu_cores_mean=_or(values.cpu_cores_mean, mean))
        elif series.quantity == "memory_gib":
            values = replace(
                values,
                memory_p95_bytes=p95 * BYTES_PER_GIB,
                memory_mean_bytes=_or(values.memory_mean_bytes, mean * BYTES_PER_GIB),
                memory_bytes=_or(values.memory_bytes, max(series.values) * BYTES_PER_GIB),
            )
        else:
            values = replace(values, gpu_utilisation=_or(values.gpu_utilisation, mean))
    return values


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
