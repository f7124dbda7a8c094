"""What the commands know before they decide: the workload in config.ini, the guard's limits, and finished runs from every source.

Here settings meet the parts that read: secrets are resolved, sources are asked, and what they bring goes into the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import constraints
from constraints import Limits, names
from jpo import config, telemetry
from jpo.errors import TelemetryError, UsageError
from jpo.forecast.track_record import track_record
from jpo.history import Store
from jpo.layers import Loaded
from jpo.records import Evidence, Finished, Identity, Run, RunStatus, Skipped, TrackRecord, Workload
from jpo.settings import AuthTable

PROMETHEUS, CSV = "prometheus", "csv"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What asking all sources brought: the runs that were new to the store, and the account of it for the report."""

    fresh: tuple[Run, ...]
    evidence: Evidence
    codes: tuple[str, ...]


def workload_of(path: Path, loaded: Loaded, *, today: date) -> Workload:
    """Read config.ini with the names that guard and jpo.toml know."""
    tables = loaded.settings.parameters
    return config.read(
        path,
        identity={str(part): key for part, key in loaded.settings.workload.identity.items()},
        keys={name: table.key for name, table in tables.items() if table.key},
        names=names.WELL_KNOWN,
        identity_names=names.IDENTITY,
        parse_value=names.parse_value,
        frozen=[name for name, table in tables.items() if table.freeze],
        today=today,
    )


def limits_of(workload: Workload, loaded: Loaded) -> Limits:
    """The guard's limits from the same tables, with config.ini's pins."""
    try:
        limits = constraints.limits_from(loaded.tables)
    except ValueError as error:
        raise UsageError(str(loaded.toml or "settings"), str(error), code="JPO-E302") from error
    return limits.holding(p.name for p in workload.parameters if p.held)


def refresh(store: Store, identity: Identity, loaded: Loaded, *, now: float, offline: bool, strict: bool) -> Refreshed:
    """Ask every source for finished runs and put them on record.

    A source that cannot be read is an error only if `strict`; otherwise the history goes without it, and the report says so.
    """
    fresh: list[Run] = []
    skipped: list[Skipped] = []
    notes: list[str] = []
    requests, seconds = 0, 0.0
    for source in (CSV, PROMETHEUS):
        try:
            finished = look(source, store, identity, loaded, now=now, offline=offline)
        except TelemetryError as error:
            if strict:
                raise
            notes.append(f"History not refreshed from {source} ({age(store, identity, now)}): {error} [{error.code}]")
            continue
        fresh += store.record(finished, now=now, identity=identity, source=source)
        skipped += finished.skipped
        requests, seconds = requests + finished.requests, seconds + finished.seconds
    evidence = Evidence(len(store.runs_of(identity)), tuple(skipped), requests, seconds, tuple(notes))
    return Refreshed(tuple(fresh), evidence, ("JPO-W113",) if notes else ())


def age(store: Store, identity: Identity, now: float) -> str:
    """How old the newest run on record is, in words."""
    runs = store.runs_of(identity)
    return f"newest run on record: {(now - runs[-1].ended_at) / 86400:.1f} days old" if runs else "no run on record"


def look(source: str, store: Store, identity: Identity, loaded: Loaded, *, now: float, offline: bool) -> Finished:
    """One source's finished runs; nothing when it is not configured, or needs the network and there shall be none."""
    settings = loaded.settings
    if source == CSV:
        return telemetry.read_logs([str(loaded.root / pattern) for pattern in settings.csv.logs], identity, now=now)
    if offline or not settings.prometheus.url:
        return Finished()
    found = telemetry.finished_runs(
        prometheus_of(loaded),
        identity,
        since=now - settings.prometheus.since,
        until=now,
        watermark=store.watermark(identity, PROMETHEUS),
    )
    if not found.complete:  # what is missing from a partial answer would be recorded as "did not happen"
        raise TelemetryError(PROMETHEUS, f"answered in part: {'; '.join(found.warnings)}", "ask again later", code="JPO-E113")
    return found


def prometheus_of(loaded: Loaded) -> telemetry.PrometheusSource:
    """The server to ask, with its secrets."""
    table = loaded.settings.prometheus
    basic, bearer = table.auth.type == "basic", table.auth.type == "bearer"
    return telemetry.PrometheusSource(
        url=table.url or "",
        timeout_seconds=table.timeout,
        username=table.auth.username if basic else None,
        password=secret(table.auth, "password", loaded.root) if basic else None,
        bearer_token=secret(table.auth, "token", loaded.root) if bearer else None,
        headers=table.headers,
        ca_file=loaded.root / table.ca_file if table.ca_file else None,
    )


def secret(auth: AuthTable, name: str, root: Path) -> str:
    """A token or password: from the environment, else from its file (read anew each time, since tokens are rotated)."""
    given = getattr(auth, name)
    if given:
        return str(given.get_secret_value())
    path = root / str(getattr(auth, f"{name}_file"))
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        finding = f"{name}_file cannot be read ({type(error).__name__})"
        raise UsageError(str(path), finding, "check its path and mode", code="JPO-E303") from error


def past_forecasts(store: Store, identity: Identity, *, last: int = 10) -> TrackRecord | None:
    """How the last forecasts of the duration turned out."""
    pairs = [
        (suggestion.next.duration_seconds, run.outcome.duration_seconds)
        for suggestion in store.suggestions_of(identity)
        if suggestion.next.duration_seconds
        for run in store.runs_following(suggestion.suggestion_id)[:1]
        if run.outcome.duration_seconds and run.status is RunStatus.SUCCEEDED
    ]
    return track_record(pairs[-last:])
