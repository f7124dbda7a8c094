"""Sources of finished runs that settings name: secrets are resolved here, and each source is asked."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from constraints.names import WELL_KNOWN
from jpo.errors import StoreError, TelemetryError, UsageError
from jpo.files.reading import soon_read
from jpo.history import Store
from jpo.http.endpoint import Endpoint
from jpo.project.load import LoadedSettings
from jpo.project.project import own_metrics
from jpo.project.secrets import check_prometheus, unencrypted
from jpo.project.settings import AuthTable
from jpo.project.tables.parameters import is_own
from jpo.records import Finished, Identity, Note, Workload
from jpo.telemetry.diagnosis.near_identical import MOST_NAMED, near_identical
from jpo.telemetry.doubts import by_cause
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus.names import Names
from jpo.version import __version__
from jpo.wording.numbers import counted

PROMETHEUS, CSV = "prometheus", "csv"
LOGS = "logs"
"""Name under which the store keeps which CSV logs were read."""
SHORTEST_PART = 0.05
"""Of the deadline: what a question is given at least, however long the look before it took."""
LARGEST_SECRET_BYTES, SECRET_SECONDS = 1 << 16, 5.0
"""Of a token or password, which may come from a pipe that somebody is about to write into."""
MOST_WARNINGS = 3
"""Warnings of a server that are repeated; each store behind it may have its own."""
LABEL = re.compile("[A-Za-z_][A-Za-z0-9_]*")
"""What Prometheus takes for the name of a label, and a query as it stands."""
SPELT = ("batch_size", "learning_rate", "gpus", "cpus")  # plain numbers, where memory may be 32G and max_epochs -1
UNVERIFIED = (
    "The certificate of Prometheus is not verified ([prometheus] insecure): anyone in between can forge runs; set ca_file instead"
)


def logged(
    workload: Workload, settings: LoadedSettings, store: Store, *, now: float, strict: bool = False, keep: bool = True
) -> Iterator[Finished]:
    """The finished runs of the CSV logs that settings name, under each name of the workload, part by part.

    Logs that were read before are left out, as far as nothing must be said of them. `keep`: remember in the store what was read,
    once whoever asks has put the last part on record. Raises TelemetryError: JPO-E110, if `strict`: a log cannot be read; before
    the first part.
    """
    if not settings.values.csv.logs:
        return
    from jpo.telemetry.csv import remembered
    from jpo.telemetry.csv.folder import read_in_parts

    own = own_names(settings)
    saved = store.load_agent(LOGS)
    memory = remembered.unpacked(saved[0] if saved else None, remembered.reading_of(own, __version__))
    parts = read_in_parts(
        settings.csv_logs, workload.identity, aliases=workload.aliases, now=now, own=own, memory=memory, track=settings.track
    )
    if strict:
        parts = iter(every := tuple(parts))
        if not all(part.complete for part in every):
            unreadable = "; ".join(log.reason for log in by_cause([log for part in every for log in part.skipped]))
            raise TelemetryError(CSV, f"a log cannot be read: {unreadable}", "fix or remove it", code="JPO-E110")
    yield from parts
    if keep and memory.worth_saving:
        with suppress(StoreError):  # another process did so meanwhile, or the store is busy: they are read once more
            store.save_agent(LOGS, remembered.packed(memory), expected_version=saved[1] if saved else 0)


def own_names(settings: LoadedSettings) -> Own:
    """What runs may report under the team's own names, parameters in the order of [parameters], or under those of config.ini."""
    tables = settings.values.parameters
    keys = {name: table.key.rpartition(".")[2].lower().replace("-", "_") for name, table in tables.items() if table.key}
    known = {name: (keys.get(name, name), *WELL_KNOWN[name][1:]) for name in SPELT}
    spelt = {name: tuple(word for word in words if LABEL.fullmatch(word) and word != name) for name, words in known.items()}
    return Own({name: tables[name].worded for name in tables if is_own(name)}, own_metrics(settings), spelt)


def whole(finished: Finished) -> Finished:
    """The answer of a server, which lacks nothing; TelemetryError JPO-E113 where the server says that it does.

    What is missing from a partial answer would be recorded as "did not happen".
    """
    if finished.complete:
        return finished
    warnings, more = "; ".join(finished.warnings[:MOST_WARNINGS]), len(finished.warnings) - MOST_WARNINGS
    finding = f"answered in part: {warnings}{f'; and {more} more' if more > 0 else ''}"
    raise TelemetryError(PROMETHEUS, finding, "ask again later", code="JPO-E113")


def asked_since(settings: LoadedSettings, *, now: float) -> float:
    """Unix seconds from which on a server is asked at first contact."""
    return now - settings.values.prometheus.since


def files_of_secrets(settings: LoadedSettings) -> Mapping[str, Path]:
    """By the setting that names it; a secret that is in the environment is not looked for in a file."""
    table, auth = settings.values.prometheus, settings.values.prometheus.auth
    given = {
        "token_file": None if auth.token else auth.token_file,
        "password_file": None if auth.password else auth.password_file,
        "key_file": table.key_file or table.cert_file,  # certificate and key may be in one file
    }
    return {name: settings.root / file for name, file in given.items() if file}


def prometheus_of(settings: LoadedSettings) -> Endpoint | None:
    """The server to ask, with its secrets; None when none is named. Once per command: a token may come from a pipe."""
    table = settings.values.prometheus
    if not table.url:
        return None
    check_prometheus(settings)
    from jpo.http.endpoint import Endpoint

    root, basic, bearer, sigv4 = settings.root, *(table.auth.type == way for way in ("basic", "bearer", "sigv4"))
    password = secret(table.auth, "password", root) if basic else None
    token = secret(table.auth, "token", root) if bearer else None
    if table.key_file and not table.cert_file:
        raise UsageError("[prometheus] key_file", "has no cert_file next to it", "name the certificate too", code="JPO-E107")
    return Endpoint(
        url=table.url,
        timeout_seconds=table.timeout,
        username=table.auth.username if basic else None,
        password=password,
        bearer_token=token,
        headers={name: value.get_secret_value() for name, value in table.headers.items()},
        ca_file=root / table.ca_file if table.ca_file else None,
        verify=not table.insecure,
        client_cert=(root / table.cert_file, root / (table.key_file or table.cert_file)) if table.cert_file else None,
        sigv4_region=table.auth.region if sigv4 else None,
    )


def names_of(settings: LoadedSettings) -> Names:
    """What this site calls metrics and labels."""
    table = settings.values.prometheus
    return Names.of(table.metrics, table.labels, table.container, table.pod_labels, own=own_names(settings))


def caveats(server: Endpoint | None, settings: LoadedSettings) -> tuple[Note, ...]:
    """What every report must say about how this server was asked."""
    if server is None:
        return ()
    notes = [] if server.verify else [Note("JPO-W114", UNVERIFIED)]
    if secret := unencrypted(settings):
        finding = f"{server.shown_url} got {secret} unencrypted: anyone in between can read it; use https://"
        notes.append(Note("JPO-W323", finding))
    return tuple(notes)


def why_nothing(
    server: Endpoint, identity: Identity, settings: LoadedSettings, *, now: float, seconds_spent: float
) -> tuple[Note, ...]:
    """Why Prometheus reports no run: the likeliest cause; empty when nothing is amiss.

    The look began at `now` and took `seconds_spent` already; one deadline holds for both.
    """
    from jpo.telemetry.diagnosis.probes import why_empty

    left = max(SHORTEST_PART * server.timeout_seconds, server.timeout_seconds - seconds_spent)
    since, until = asked_since(settings, now=now), now + seconds_spent
    cause = why_empty(replace(server, timeout_seconds=left), identity, since=since, until=until, names=names_of(settings))
    finding = "" if cause is None else f"Prometheus reports no run: {cause.text}; {cause.remedy} [{cause.code}]"
    return (Note(cause.code or "", finding),) if cause else ()


def only_others(elsewhere: Mapping[Identity, int], identity: Identity) -> tuple[Note, ...]:
    """That CSV logs hold runs of other workloads alone, this many of each; empty where one differs in spelling alone, said by
    itself."""
    if not elsewhere or near_identical(identity, elsewhere):
        return ()
    most = sorted(elsewhere, key=lambda other: -elsewhere[other])
    more = f" and {len(most) - MOST_NAMED} more" if most[MOST_NAMED:] else ""
    named = ", ".join(f"{other!s:.80}" for other in most[:MOST_NAMED]) + more
    runs = counted(sum(elsewhere.values()), "run")
    finding = f"CSV logs contain no run of {identity}, but {runs} of {named}"
    return (Note("JPO-W142", f"{finding}; if the job has run, name the same in config.ini and in the job"),)


def secret(auth: AuthTable, name: str, root: Path) -> str:
    """A token or password: from the environment, else from its file (read anew each time, since tokens are rotated)."""
    given = getattr(auth, name)
    if given:
        return str(given.get_secret_value())
    path = root / str(getattr(auth, f"{name}_file"))
    try:
        text = soon_read(path, LARGEST_SECRET_BYTES, seconds=SECRET_SECONDS).decode().strip()
    except (OSError, ValueError) as error:  # not UTF-8, or no path at all
        finding = f"{name}_file cannot be read ({type(error).__name__})"
        raise UsageError(str(path), finding, "check its path and mode", code="JPO-E303") from error
    if not text:
        raise UsageError(str(path), f"{name}_file is empty", f"write the {name} into it", code="JPO-E303")
    return text
