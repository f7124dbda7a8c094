"""Reading of a server from where it was left. A watermark belongs to one server, seen through one set of names.

Another address, another tenant, or other names of the labels that select the runs are another history: it is read from its own
start, and the report says so. What is on record already is not recorded twice, so the same server under a new address costs one
long look and nothing else.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from jpo.history.following.labelled_pods import with_values_in_force, without_doubles
from jpo.history.runs import Reading
from jpo.history.undo import in_effect
from jpo.http.endpoint import Endpoint
from jpo.project.project import Project
from jpo.project.sources import PROMETHEUS, asked_since, names_of, whole
from jpo.records import KUBERNETES, Finished, Note
from jpo.telemetry.contract import RUN_INFO
from jpo.telemetry.prometheus.names import Names

TENANTS = ("x-scope-orgid", "thanos-tenant")
"""Headers that say whose runs a server shows (Mimir, Cortex; Thanos), in lower case."""
SELECTING = ("run_id", "dataset", "model", "framework", "hardware")
"""Labels that say which runs are a workload's."""
DEFAULT_PORTS = {"http": 80, "https": 443}
LOOK_AGAIN_SECONDS = 86400.0
"""A run that could not be used may be told in full later: once a day it is looked at again, while the server still has it."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Where the reading of a server goes on.

    Attributes:
        source: under which its watermark is stored.
        watermark: unix seconds, or None at first contact.
        passed_over: by id of a run that was seen and not recorded, unix seconds of that look.
        takes_over: the source whose watermark becomes this one's; None: there is no such.
        notes: what the report must say.
    """

    source: str
    watermark: float | None = None
    passed_over: Mapping[str, float] = field(default_factory=dict)
    takes_over: str | None = None
    notes: tuple[Note, ...] = ()


def read_on(server: Endpoint, job: Project, *, again_seconds: float | None) -> tuple[Finished, Bookmark]:
    """The runs of a server that are not on record, and its bookmark as it was found.

    `again_seconds`: how far back every run that is not on record is looked at, those passed over included; None: as [prometheus]
    late says, or --since where that reaches further back. Raises TelemetryError: JPO-E101 to E109, E113.
    """
    from jpo.telemetry.prometheus.runs import Late, finished_runs

    store, identity, now, settings = job.store, job.workload.identity, job.now, job.settings
    table, names = settings.values.prometheus, names_of(settings)
    mark = bookmark(store.readings(identity), server, names)
    lately = recent(mark.passed_over, now)
    since = table.since if settings.said_by("prometheus.since") == "command line" else 0.0
    late_seconds = max(table.late, since) if again_seconds is None else again_seconds
    seen = lately.keys() if again_seconds is None else set[str]()
    late = Late(now - late_seconds, store.ended_ids(identity) | seen) if late_seconds else None
    begin, mark_at = min(asked_since(settings, now=now), now - (again_seconds or 0.0)), mark.watermark
    for _ in settings.track(range(1), "first contact with Prometheus") if mark_at is None else range(1):  # it may take long
        answer = finished_runs(server, identity, since=begin, until=now, watermark=mark_at, names=names, late=late)
    runs = whole(answer).runs
    if any(run.source == KUBERNETES for run in runs):
        recorded = store.recorded_runs(identity)
        once = without_doubles(runs, [entry.run for entry in recorded])
        runs = with_values_in_force(once, in_effect(store, identity, recorded))
    return replace(answer, runs=runs, passed_over={**lately, **(answer.passed_over or {})}), mark


def bookmark(readings: Mapping[str, Reading], server: Endpoint, names: Names) -> Bookmark:
    """Where the reading of this server goes on; a watermark from before addresses were kept is this server's."""
    source = source_of(server, names)
    if source in readings:
        return Bookmark(source, *readings[source])
    if PROMETHEUS in readings:
        note = f"What was read of Prometheus so far is taken to be of {server.shown_url}, since its address was not kept"
        again = "if it was of another, `jpo observe --again 90d` reads this one's"
        return Bookmark(source, *readings[PROMETHEUS], PROMETHEUS, (Note("JPO-I120", f"{note}; {again}"),))
    if any(other.startswith(f"{PROMETHEUS} ") for other in readings):
        note = (
            f"{server.shown_url} was not read before for this workload, but another address, tenant or set of labels: "
            "its history is read from the start, and runs on record are not recorded twice"
        )
        return Bookmark(source, notes=(Note("JPO-I121", note),))
    return Bookmark(source)


def source_of(server: Endpoint, names: Names) -> str:
    """The server as watermarks are stored: its address without credentials, and a digest of what else selects the runs."""
    parts = urlsplit(server.shown_url)
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    selecting = [f"{name.lower()}: {value}" for name, value in server.headers.items() if name.lower() in TENANTS]
    selecting += [f"{role} = {names.label(role)}" for role in SELECTING if names.label(role) != Names().label(role)]
    selecting += [f"pod {role} = {label}" for role, label in names.site_pod_labels.items() if role in SELECTING]
    selecting += [f"{RUN_INFO} = {names.metric(RUN_INFO)}"] if names.metric(RUN_INFO) != RUN_INFO else []
    digest = hashlib.sha256("\n".join(sorted(selecting)).encode()).hexdigest()[:12]
    return f"{PROMETHEUS} {parts.scheme}://{host}{port}{parts.path}" + (f" {digest}" if selecting else "")


def recent(passed_over: Mapping[str, float], now: float) -> dict[str, float]:
    """Those that need no other look yet."""
    return {run_id: looked_at for run_id, looked_at in passed_over.items() if now - looked_at < LOOK_AGAIN_SECONDS}
