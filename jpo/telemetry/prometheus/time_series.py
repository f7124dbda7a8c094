"""How CPU, memory and GPUs went during the newest runs: single samples, for percentiles and phases.

Single samples are the one thing that is expensive (a thousand runs of one metric took seconds), so they are asked for few runs
only, and over no more than the time of these. Containers of a pod follow each other; GPUs, and servers that store everything
twice, go side by side: of what was sampled at the same time there is the mean. Over the pods of a run cores are added up, and
memory is the highest.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from jpo.records import Series
from jpo.telemetry import contract
from jpo.telemetry.outcome import BYTES_PER_GIB, Values
from jpo.telemetry.prometheus import cluster, queries
from jpo.telemetry.prometheus.answers import Row
from jpo.telemetry.prometheus.cluster import Place, Pod
from jpo.telemetry.prometheus.scope import Look

NEWEST_RUNS = 50
"""Of so many new runs at most the single samples are asked; the looks after the first one bring fewer."""
MOST_SECONDS = 10 * 86400.0
"""Runs that are traced in one look last no longer together: 60,000 samples of each series at the usual 15 s."""
MOST_POINTS = 2000
"""Points that are kept of one quantity of one run."""
MARGIN_SECONDS = 60.0
"""What was measured during a run may be stored a little later."""

FROM_CLUSTER = {
    "cpu_cores": {"container_cpu_seconds_total": 1.0},
    "memory_gib": {"container_memory_bytes": 1 / BYTES_PER_GIB},
    "gpu_utilisation": cluster.GPU_UTILISATION,
}
"""Quantity: the roles of the metrics that hold it, and what makes their unit JPO's."""
OVER_PODS: Mapping[str, Callable[[list[float]], float]] = {"cpu_cores": sum, "memory_gib": max}
OWN = (("cpu_cores", contract.CPU_SECONDS, 1.0), ("memory_gib", contract.MEMORY_BYTES, 1 / BYTES_PER_GIB))

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Traced:
    """A run whose samples are wanted: its bounds in unix seconds, its pods, and its trainer's container if that is known."""

    run_id: str
    started_at: float
    ended_at: float
    pods: tuple[Pod, ...]
    container: str | None


def newest(runs: Sequence[Traced]) -> list[Traced]:
    """Those of the newest runs that are traced."""
    left, chosen = MOST_SECONDS, []
    for run in sorted(runs, key=lambda run: run.ended_at, reverse=True)[:NEWEST_RUNS]:
        left -= run.ended_at - run.started_at
        if left >= 0:
            chosen.append(run)
    return chosen


def traces(look: Look, runs: Sequence[Traced], places: Sequence[Place]) -> list[Series]:
    """The courses of these runs, every sample; what neither the cluster nor the job measured is missing.

    Args:
        places: where the cluster has the pods of these runs.
    """
    lines: dict[tuple[str, str], list[Point]] = {}
    pods = sorted({pod for run in runs for pod in run.pods})
    for place in places if pods else ():
        narrow = replace(place, chosen=_matchers(place, pods))
        for quantity, rows, factor in _cluster_rows(look, narrow):
            for run in runs:
                if points := _of_run(run, rows, quantity, factor):
                    lines.setdefault((run.run_id, quantity), points)
    for quantity, role, factor in OWN:
        missing = {run.run_id: run for run in runs if (run.run_id, quantity) not in lines}
        for run_id, points in _own(look, quantity, role, factor, missing).items() if missing else ():
            lines[run_id, quantity] = points
    return [_series(*key, points) for key, points in sorted(lines.items()) if points]


def _matchers(place: Place, pods: Sequence[Pod]) -> str:
    names = queries.one_of(sorted({pod.name for pod in pods}), queries.LONGEST_PATTERN_ALONE)
    return f"{place.labels[1]}=~{names}" if names else place.chosen


def _cluster_rows(look: Look, place: Place) -> Iterator[tuple[str, list[Row], float]]:
    """By quantity: the series of a place, and what makes their unit JPO's; what a site named itself comes first."""
    span = queries.window(look.begin, look.until)
    containers, pods = place.containers(look), place.selector()
    for quantity, roles in FROM_CLUSTER.items():
        for role, factor in cluster.roles_in_order(look, roles):
            for name in place.names(look, role):
                chosen = pods if quantity == "gpu_utilisation" else containers
                yield quantity, look.ask(name + chosen + span), factor


def _of_run(run: Traced, rows: Sequence[Row], quantity: str, factor: float) -> list[Point]:
    """One line for a run from the series of its pods: its trainer's, or all of its GPUs'."""
    lines: dict[Pod, list[list[Point]]] = defaultdict(list)
    for row in rows:
        pod = _pod(run, row)
        if pod and (quantity == "gpu_utilisation" or run.container in (None, row.labels.get("container"))):
            line = _points(row, quantity, factor)
            if kept := _within(line, run, min(_interval(line), MARGIN_SECONDS)):
                lines[pod].append(kept)
    if quantity not in OVER_PODS:
        return _together([line for several in lines.values() for line in several])
    if len(lines) < len(run.pods):
        return []
    return _over_pods([_together(several) for several in lines.values()], OVER_PODS[quantity])


def _pod(run: Traced, row: Row) -> Pod | None:
    """Which of the run's pods a series is of; one whose run does not say the namespace has none."""
    name, namespace = row.labels.get("pod", ""), row.labels.get("namespace", "")
    return next((pod for pod in (Pod(namespace, name), Pod("", name)) if pod in run.pods), None)


def _own(look: Look, quantity: str, role: str, factor: float, runs: Mapping[str, Traced]) -> dict[str, list[Point]]:
    """What the jobs say of themselves, where the cluster says nothing. A Pushgateway repeats their last word for ever."""
    lines: dict[str, list[list[Point]]] = defaultdict(list)
    for row in look.samples(role, list(runs)):
        run = runs.get(row.labels.get("run_id", ""))
        if run and (points := _within(_points(row, quantity, factor), run, 0.0)):
            lines[run.run_id].append(points)
    return {run_id: _together(several) for run_id, several in lines.items()}


def _points(row: Row, quantity: str, factor: float) -> list[Point]:
    """A series in JPO's unit; a counter becomes what it gained per second since the sample before, from 0 after a restart."""
    most = 1.5 if quantity == "gpu_utilisation" else 1e15
    points = sorted(
        {time: value * factor for time, value in row.points if math.isfinite(time) and 0 <= value * factor < most}.items()
    )
    if quantity == "gpu_utilisation":
        return [(time, min(1.0, value)) for time, value in points]
    if quantity == "memory_gib":
        return points
    return [
        (time, (value - before if value >= before else value) / (time - earlier))
        for (earlier, before), (time, value) in pairwise(points)
    ]


def _together(lines: Sequence[list[Point]]) -> list[Point]:
    """One line from several: the mean of what lies within the same sampling interval, at the time of the last of it."""
    if len(lines) <= 1:
        return lines[0] if lines else []
    slots = _slots(lines, _interval(max(lines, key=len)))
    return [_mean([point for points in slot.values() for point in points]) for slot in slots]


def _over_pods(lines: Sequence[list[Point]], combined: Callable[[list[float]], float]) -> list[Point]:
    """One line from those of several pods; nothing of an interval in which one that was there is not heard of."""
    if len(lines) <= 1:
        return lines[0] if lines else []
    interval, found = _interval(max(lines, key=len)), []
    for slot in _slots(lines, interval):
        means = [_mean(points) for points in slot.values()]
        time = max(time for time, _ in means)
        there = {n for n, line in enumerate(lines) if line[0][0] - interval < time < line[-1][0] + interval}
        if there <= slot.keys():
            found.append((time, combined([value for _, value in means])))
    return found


def _slots(lines: Sequence[list[Point]], interval: float) -> list[dict[int, list[Point]]]:
    """What lies within the same sampling interval, in the order of time, by number of the line."""
    first = min(line[0][0] for line in lines) - interval / 2  # the first line's samples, a little early or late, stay apart
    slots: dict[int, dict[int, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for n, line in enumerate(lines):
        for point in line:
            slots[int((point[0] - first) / interval)][n].append(point)
    return [slots[slot] for slot in sorted(slots)]


def _interval(points: Sequence[Point]) -> float:
    """The usual seconds between two samples."""
    return statistics.median(later[0] - earlier[0] for earlier, later in pairwise(points)) if len(points) > 1 else 1.0


def _mean(points: Sequence[Point]) -> Point:
    return max(time for time, _ in points), statistics.fmean(value for _, value in points)


def _within(points: list[Point], run: Traced, margin: float) -> list[Point]:
    """What was sampled during the run, or up to `margin` seconds beside it."""
    return [point for point in points if run.started_at - margin <= point[0] <= run.ended_at + margin]


def _series(run_id: str, quantity: str, points: Sequence[Point]) -> Series:
    return Series(run_id, quantity, tuple(time for time, _ in points), tuple(value for _, value in points))


def thinned(series: Series) -> Series:
    """At most MOST_POINTS, each the mean of as many samples that follow each other."""
    points = list(zip(series.times, series.values, strict=True))
    every = -(-len(points) // MOST_POINTS)
    if every <= 1:
        return series
    return _series(series.run_id, series.quantity, [_mean(points[i : i + every]) for i in range(0, len(points), every)])


def completed(values: Values, courses: Sequence[Series]) -> Values:
    """The values of a run with what only its courses tell: percentiles exactly, and means where they are missing."""
    for series in courses:
        mean, p95 = statistics.fmean(series.values), _p95(series.values)
        if series.quantity == "cpu_cores":
            values = replace(values, cpu_cores_p95=p95, cpu_cores_mean=_known(values.cpu_cores_mean, mean))
        elif series.quantity == "memory_gib":
            values = replace(
                values,
                memory_p95_bytes=p95 * BYTES_PER_GIB,
                memory_mean_bytes=_known(values.memory_mean_bytes, mean * BYTES_PER_GIB),
                memory_bytes=_known(values.memory_bytes, max(series.values) * BYTES_PER_GIB),
            )
        else:
            values = replace(values, gpu_utilisation=_known(values.gpu_utilisation, mean))
    return values


def _p95(values: Sequence[float]) -> float:
    """As Prometheus and numpy compute it: linear between the nearest two."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def _known(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
