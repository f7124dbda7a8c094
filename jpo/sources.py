"""The sources of finished runs which settings name: secrets are resolved here, and each source is asked."""

from __future__ import annotations

from pathlib import Path

from jpo import telemetry
from jpo.errors import TelemetryError, UsageError
from jpo.history import Store
from jpo.layers import Loaded
from jpo.records import Finished, Identity
from jpo.settings import AuthTable

PROMETHEUS, CSV = "prometheus", "csv"


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
        headers={name: value.get_secret_value() for name, value in table.headers.items()},
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
