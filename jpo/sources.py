"""The sources of finished runs which settings name: secrets are resolved here, and each source is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jpo import telemetry
from jpo.errors import TelemetryError, UsageError
from jpo.history import Store
from jpo.layers import Loaded
from jpo.records import Finished, Identity
from jpo.settings import AuthTable, PrometheusTable
from jpo.telemetry.names import Names
from jpo.telemetry.probes import in_one_line, why_empty

PROMETHEUS, CSV = "prometheus", "csv"
SHORTEST_SECONDS = 0.5
"""What a question is given at least, however long the look before it took."""
UNVERIFIED = (
    "The certificate of Prometheus is not verified ([prometheus] insecure): anyone in between can forge runs; set ca_file instead"
)


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
        names=names_of(loaded),
    )
    if not found.complete:  # what is missing from a partial answer would be recorded as "did not happen"
        raise TelemetryError(PROMETHEUS, f"answered in part: {'; '.join(found.warnings)}", "ask again later", code="JPO-E113")
    return found


def prometheus_of(loaded: Loaded) -> telemetry.PrometheusSource:
    """The server to ask, with its secrets."""
    table = loaded.settings.prometheus
    basic, bearer, sigv4 = (table.auth.type == way for way in ("basic", "bearer", "sigv4"))
    return telemetry.PrometheusSource(
        url=table.url or "",
        timeout_seconds=table.timeout,
        username=table.auth.username if basic else None,
        password=secret(table.auth, "password", loaded.root) if basic else None,
        bearer_token=secret(table.auth, "token", loaded.root) if bearer else None,
        headers={name: value.get_secret_value() for name, value in table.headers.items()},
        ca_file=loaded.root / table.ca_file if table.ca_file else None,
        verify=not table.insecure,
        client_cert=client_cert(table, loaded.root),
        sigv4_region=table.auth.region if sigv4 else None,
    )


def names_of(loaded: Loaded) -> Names:
    """What this site calls metrics and labels."""
    table = loaded.settings.prometheus
    return Names.of(table.metrics, table.labels, table.container)


def client_cert(table: PrometheusTable, root: Path) -> tuple[Path, Path] | None:
    """JPO's own certificate and its key, which may lie in one file."""
    if not table.cert_file:
        if table.key_file:
            raise UsageError("[prometheus] key_file", "has no cert_file beside it", "name the certificate too", code="JPO-E107")
        return None
    return root / table.cert_file, root / (table.key_file or table.cert_file)


def caveats(loaded: Loaded, *, offline: bool) -> Mapping[str, str]:
    """What every report must say about how the sources were asked: sentence -> reason code."""
    asked = loaded.settings.prometheus.url and not offline
    return {UNVERIFIED: "JPO-W114"} if asked and loaded.settings.prometheus.insecure else {}


def why_nothing(identity: Identity, loaded: Loaded, *, now: float, seconds_spent: float) -> Mapping[str, str]:
    """Why Prometheus told of no run: the likeliest cause -> its reason code; empty when nothing is amiss.

    Args:
        seconds_spent: what the look took already; one deadline holds for both.
    """
    table = loaded.settings.prometheus
    source = replace(prometheus_of(loaded), timeout_seconds=max(SHORTEST_SECONDS, table.timeout - seconds_spent))
    causes = why_empty(source, identity, since=now - table.since, until=now, names=names_of(loaded))
    return {f"Prometheus told of no run: {in_one_line(causes)}": causes[0].code or ""} if causes else {}


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
