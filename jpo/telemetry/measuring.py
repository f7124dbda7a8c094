"""All new runs of one look, measured at once: what they say of themselves, and what the cluster says of their pods.

The number of requests does not depend on the number of runs. Where cluster and job both measured something (CPU, memory), the
cluster is believed: it sees all processes of the container.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jpo.errors import TelemetryError
from jpo.records import PARAMETERS, Skipped
from jpo.telemetry import cluster, contract, discovery, joined, queries
from jpo.telemetry.answers import Row, TooMuch
from jpo.telemetry.cluster import Life, Place, Pod
from jpo.telemetry.discovery import Bounds
from jpo.telemetry.look import Look
from jpo.telemetry.measured import Measured, Values
from jpo.telemetry.traces import Traced

SAYS_PROMETHEUS = "goVersion"
"""Prometheus, Thanos and Mimir say which Go built them, and keep NaN; VictoriaMetrics does neither."""
LOSSES = ("train_loss", "val_loss")
BEFORE_START_SECONDS = 60.0
"""Pods are there a little before their run says that it began."""


@dataclass(slots=True)
class Described:
    """What a run says in jpo_run_info and jpo_run_status; several configurations or endings are a contradiction."""

    configurations: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    pods: dict[Pod, str | None] = field(default_factory=dict)
    """Each with its container, where that is said."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one look brought.

    Attributes:
        runs: those that ended since the mark, each with what its traces need; no trace without a start.
        ends: of all runs that are over, skipped ones included.
        undecided: last reports (unix seconds) of runs that may go on.
        places: where the cluster has their pods.
    """

    runs: tuple[tuple[Measured, Traced], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ends: tuple[float, ...] = ()
    undecided: tuple[float, ...] = ()
    places: tuple[Place, ...] = ()


def found(look: Look) -> Found:
    """Discover and measure; TelemetryError as the client raises it."""
    seen = discovery.seen(look)
    if not seen:
        return Found()
    described = _describe(look, list(seen))
    pods = {pod for run_id in seen for pod in described[run_id].pods}
    places = cluster.places(look, pods)
    lives = cluster.lives(look, places)
    pods_say = {run_id: joined.bounds(described[run_id].pods, lives, look.until) for run_id in seen}
    over, undecided = discovery.bounds(look, seen, pods_say)
    useless = {run_id: reason for run_id, bounds in over.items() if (reason := _why_not(run_id, bounds, described[run_id], look))}
    skipped = tuple(Skipped(run_id or "(no run_id)", reason) for run_id, reason in useless.items())
    whole = {run_id: bounds for run_id, bounds in over.items() if run_id not in useless}
    runs = _measure(look, whole, described, places, lives) if whole else []
    ends = tuple(bounds.ended_at for bounds in over.values() if bounds.ended_at <= look.until)
    return Found(tuple(runs), skipped, ends, tuple(undecided), places)


def _describe(look: Look, run_ids: Sequence[str]) -> dict[str, Described]:
    span = queries.window(look.begin, look.until)
    told: dict[str, Described] = defaultdict(Described)
    for kind, row in look.ask_all(queries.descriptions(look.names, look.chosen(run_ids), span)):
        labels, run = row.labels, told[row.labels.get("run_id", "")]
        if kind == "ending":
            run.endings.add(labels.get("status", ""))
            continue
        run.configurations.add(tuple((name, labels[name]) for name in PARAMETERS if name in labels))
        if "pod" in labels:
            run.pods[Pod(labels.get("namespace", ""), labels["pod"])] = labels.get("container")
    return told


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


def _measure(
    look: Look,
    whole: Mapping[str, Bounds],
    described: Mapping[str, Described],
    places: tuple[Place, ...],
    lives: Mapping[Pod, Life],
) -> list[tuple[Measured, Traced]]:
    """The values of whole runs. Their span is as short as it can be, so that little else is read."""
    first = min(bounds.started_at for bounds in whole.values() if bounds.started_at is not None)
    narrow = replace(look, begin=max(look.begin, first - BEFORE_START_SECONDS))
    own = queries.quantities(look.names, look.chosen(list(whole)), queries.window(narrow.begin, narrow.until))
    of_pods = cluster.uses(narrow, places)
    order = {key: i for i, key in enumerate([*own, *of_pods])}  # which servers do not keep
    rows = sorted(narrow.ask_all({**own, **of_pods}), key=lambda found: order[found[0]])
    told = _told(narrow, [(key, row) for key, row in rows if key in own])
    used = cluster.usage((key, row) for key, row in rows if key in of_pods)
    endings = _endings(narrow, {run_id: described[run_id].endings for run_id in whole})
    shared = joined.shared([run.pods for run in described.values()])
    runs = []
    for run_id, bounds in whole.items():
        pods = described[run_id].pods
        of_run = joined.joined(pods, bounds, lives, used, shared, given=look.names.container)
        measured = Measured(
            run_id=run_id,
            identity=look.identity,
            parameters=dict(next(iter(described[run_id].configurations), ())),
            started_at=bounds.started_at,
            ended_at=bounds.ended_at,
            closed=bounds.closed,
            status=endings.get(run_id),
            values=Values(**{**told.get(run_id, {}), **of_run.values}),
            seen_to_end=of_run.seen_to_end,
        )
        assert bounds.started_at is not None
        runs.append((measured, Traced(run_id, bounds.started_at, bounds.ended_at, tuple(pods), of_run.container)))
    return runs


def _told(look: Look, rows: Sequence[tuple[str, Row]]) -> dict[str, dict[str, float]]:
    """By run: what it says of itself, as far as measured.Values has a field for it."""
    told: dict[str, dict[str, float]] = defaultdict(dict)
    for quantity, row in rows:
        told[row.labels.get("run_id", "")][quantity] = row.value
    for run_id, loss in _lost_nan(look, told):
        told[run_id][loss] = math.nan
    return told


def _endings(look: Look, words: Mapping[str, set[str]]) -> dict[str, str]:
    """How each run says that it ended. A restarted one may have said so before: then its last word counts."""
    endings = {run_id: next(iter(several)) for run_id, several in words.items() if len(several) == 1}
    torn = [run_id for run_id, several in words.items() if len(several) > 1]
    if torn:
        said: dict[str, tuple[float, str]] = {}
        query = queries.raw(look.names.metric(contract.STATUS), look.chosen(torn), queries.window(look.begin, look.until))
        for row in look.ask(query):
            word = max((time for time, value in row.points if value == 1), default=0.0), row.labels.get("status", "")
            said[row.labels.get("run_id", "")] = max(word, said.get(row.labels.get("run_id", ""), word))
        endings |= {run_id: said[run_id][1] for run_id in torn if run_id in said}
    return endings


def _lost_nan(look: Look, told: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    """Runs and their losses that stopped being stored while the run went on.

    VictoriaMetrics stores no NaN: the last finite loss of a diverged run would look like its result.
    """
    if not any(loss in values for values in told.values() for loss in LOSSES):
        return
    if SAYS_PROMETHEUS in look.client.status("buildinfo"):
        return
    asked = queries.silences(look.names, look.chosen(), queries.window(look.begin, look.until))
    try:
        for loss, row in look.ask_all(asked):
            yield row.labels.get("run_id", ""), loss
    except TelemetryError as error:
        if error.code != "JPO-E105" or isinstance(error, TooMuch):
            raise  # else the function is unknown to the server, which then is none that drops NaN
