"""All new runs of one look, measured at once: what they say of themselves (reported.py), and what the cluster says of their pods.

The number of requests does not depend on the number of runs. Where cluster and job both measured something (CPU, memory), the
cluster is believed: it sees all processes of the container.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from jpo.records import Skipped
from jpo.telemetry import contract
from jpo.telemetry.outcome import Measured, Values
from jpo.telemetry.prometheus import cluster, discovery, joined, pod_lifetimes, queries, reported
from jpo.telemetry.prometheus.answers import Row
from jpo.telemetry.prometheus.cluster import Place, Pod
from jpo.telemetry.prometheus.discovery import Bounds
from jpo.telemetry.prometheus.joined import Joined
from jpo.telemetry.prometheus.pod_lifetimes import Life
from jpo.telemetry.prometheus.reported import Described
from jpo.telemetry.prometheus.scope import Look
from jpo.telemetry.prometheus.time_series import Traced

BEFORE_START_SECONDS = 60.0
"""Pods are there a little before their run says that it began."""


Run = tuple[Measured, Traced]
"""A run that is over, with what its traces need."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of one look: where series name them, how they lived, and which are of several runs."""

    places: tuple[Place, ...]
    lives: Mapping[Pod, Life]
    shared: frozenset[Pod]


@dataclass(frozen=True, slots=True)
class Found:
    """What one look brought.

    Attributes:
        runs: those that ended since the mark.
        ends: of all runs that are over, skipped ones included.
        undecided: last reports (unix seconds) of runs that may go on.
        places: where the cluster has their pods.
        starts: of the runs that are over, as far as known.
    """

    runs: tuple[Run, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ends: tuple[float, ...] = ()
    undecided: tuple[float, ...] = ()
    places: tuple[Place, ...] = ()
    starts: tuple[float, ...] = ()


def found(look: Look) -> Found:
    """Discover and measure; TelemetryError as the client raises it."""
    seen = discovery.seen(look)
    if not seen:
        return Found()
    described = reported.descriptions(look, list(seen))
    pods = _pods(look, described, seen)
    alone = [run_id for run_id in seen if not pods.shared & described[run_id].pods.keys()]
    pods_say = {run_id: joined.bounds(described[run_id].pods, pods.lives, look.until) for run_id in alone}
    over, undecided = discovery.bounds(look, seen, pods_say)
    useless = {run_id: reason for run_id, bounds in over.items() if (reason := _why_not(run_id, bounds, described[run_id], look))}
    whole = {run_id: bounds for run_id, bounds in over.items() if run_id not in useless}
    return Found(
        runs=tuple(_measure(look, whole, described, pods) if whole else ()),
        skipped=tuple(Skipped(run_id or "(no run_id)", reason) for run_id, reason in useless.items()),
        ends=tuple(bounds.ended_at for bounds in over.values() if bounds.ended_at <= look.until),
        undecided=tuple(undecided),
        places=pods.places,
        starts=tuple(bounds.started_at for bounds in over.values() if bounds.started_at is not None),
    )


def _pods(look: Look, described: Mapping[str, Described], run_ids: Collection[str]) -> Pods:
    """Those of these runs, without gateways, which are taken from what the runs say."""
    places = cluster.places(look, {pod for run_id in run_ids for pod in described[run_id].pods})
    known = pod_lifetimes.lives(look, places)
    for run in described.values():
        run.pods = {pod: name for pod, name in run.pods.items() if not ((life := cluster.of(known, pod)) and life.gateway)}
    return Pods(places, known, joined.shared(run.pods for run in described.values()))


def _why_not(run_id: str, bounds: Bounds, described: Described, look: Look) -> str | None:
    """The reason why nothing can be learnt from a run, for Skipped."""
    if not run_id:
        return f"{look.names.metric(contract.RUN_INFO)} has no {look.names.label('run_id')} label"
    if not bounds.ended_at <= look.until:  # nor is NaN
        return f"{look.names.metric(contract.END)} lies in the future; it must be unix seconds of a right clock"
    if bounds.started_at is None or not look.begin <= bounds.started_at:
        return "it started before the window, so its values would be partial"
    if bounds.started_at > bounds.ended_at:
        return f"it ends before it starts ({bounds.started_at} to {bounds.ended_at})"
    if len(described.configurations) > 1:
        return f"it reports {len(described.configurations)} different configurations; a run id must belong to one run"
    return None


def _measure(look: Look, whole: Mapping[str, Bounds], described: Mapping[str, Described], pods: Pods) -> list[Run]:
    """The values of whole runs. Their span is as short as it can be, so that little else is read."""
    first = min(bounds.started_at for bounds in whole.values() if bounds.started_at is not None)
    narrow = replace(look, begin=max(look.begin, first - BEFORE_START_SECONDS))
    lives_of = {run_id: [life for pod in described[run_id].pods if (life := cluster.of(pods.lives, pod))] for run_id in whole}
    by_itself, by_pods, by_jobs = _together(
        narrow,
        queries.quantities(look.names, look.chosen(list(whole)), queries.window(narrow.begin, narrow.until)),
        cluster.uses(narrow, pods.places),
        pod_lifetimes.sizes(narrow, pods.places, {life.job for several in lives_of.values() for life in several if life.job}),
    )
    told_values = reported.values(narrow, by_itself)
    endings = reported.endings(narrow, {run_id: described[run_id].endings for run_id in whole})
    used = cluster.usage(by_pods)
    sizes = {pod_lifetimes.job_of(row.labels): row.value for _, row in by_jobs}
    runs = []
    for run_id, bounds in whole.items():
        run = described[run_id]
        of_cluster = joined.joined(
            run.pods, bounds, pods.lives, used, pods.shared, sizes=sizes, since=narrow.begin, given=look.names.container
        )
        values = {**told_values.get(run_id, {}), **of_cluster.values}
        runs.append(_run(look, run_id, bounds, run, endings.get(run_id), replace(of_cluster, values=values)))
    return runs


def _together(look: Look, *asked: Mapping[str, str]) -> list[list[tuple[str, Row]]]:
    """The rows of groups of queries that are asked at once, each group in the order of its queries, which servers do not keep."""
    order = {key: i for i, key in enumerate(key for group in asked for key in group)}
    rows = sorted(look.ask_all({key: group[key] for group in asked for key in group}), key=lambda found: order[found[0]])
    return [[(key, row) for key, row in rows if key in group] for group in asked]


def _run(look: Look, run_id: str, bounds: Bounds, described: Described, status: str | None, found: Joined) -> Run:
    assert bounds.started_at is not None
    values = dict(found.values)
    if len(described.pods) > 1:
        values.pop("cpu_cores_p95", None)  # of one pod (recording_rules.yml)
    measured = Measured(
        run_id=run_id,
        identity=look.identity,
        parameters=dict(next(iter(described.configurations), ())),
        started_at=bounds.started_at,
        ended_at=bounds.ended_at,
        closed=bounds.closed,
        status=status,
        values=Values(**values),
        seen_to_end=found.seen_to_end,
    )
    return measured, Traced(run_id, bounds.started_at, bounds.ended_at, tuple(described.pods), found.container)
