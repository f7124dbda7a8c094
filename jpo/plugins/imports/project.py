"""What jpo.toml and the environment say of imports: where each quantity stands, and how an MLflow server is asked."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from jpo.errors import UsageError, quoted
from jpo.http.endpoint import Endpoint
from jpo.plugins.imports.columns import FIELDS, GIVEN_OWN, OWN
from jpo.plugins.imports.foreign import ForeignColumn
from jpo.plugins.imports.settings import imports_table
from jpo.plugins.imports.units import UNITS
from jpo.project.load import LoadedSettings
from jpo.project.secrets import check_mlflow, travels_openly
from jpo.project.sources import own_names
from jpo.project.tables.promises import METRIC_NAME
from jpo.records import MEASURED, Note


def columns_given(settings: LoadedSettings) -> Mapping[str, ForeignColumn]:
    """The columns that [imports.columns] and [imports.metrics] name, by JPO's names.

    Raises UsageError: JPO-E157, a name or unit that JPO does not know.
    """
    found, own = dict[str, ForeignColumn](), own_names(settings)
    for field, entry in imports_table(settings).columns.items():
        name, unit = (entry, None) if isinstance(entry, str) else (entry.get("column", ""), entry.get("unit"))
        place = f"{settings.place}: [imports.columns] {field}"
        if field in own.parameters:
            found[f"{GIVEN_OWN}{field}"] = ForeignColumn(name, None, "jpo.toml")
            continue
        if field not in FIELDS:
            raise UsageError(place, "is nothing that is read of a run", f"known are {', '.join(FIELDS)}", code="JPO-E157")
        units = UNITS.get(FIELDS[field], {})
        if unit is not None and unit not in units:
            has = f"it is one of {', '.join(units)}" if units else "it has none"
            raise UsageError(place, f"cannot have the unit {quoted(unit)}", has, code="JPO-E157")
        found[field] = ForeignColumn(name, unit, "jpo.toml")
    for metric, name in imports_table(settings).metrics.items():
        if metric in FIELDS or metric in MEASURED or not re.fullmatch(METRIC_NAME, metric):
            place = f"{settings.place}: [imports.metrics] {metric:.80}"
            remedy = "give the metric another one, of letters, digits and _"
            raise UsageError(place, "is a name of JPO's own, or none that a metric can have", remedy, code="JPO-E157")
        found[f"{OWN}{metric}"] = ForeignColumn(name, None, "jpo.toml")
    return found


def mlflow_of(url: str, settings: LoadedSettings, environ: Mapping[str, str]) -> Endpoint:
    """An MLflow server, with the credentials that MLflow's own client would send: user and password, else the token.

    Raises UsageError: as check_mlflow; JPO-E107, a certificate that cannot be used, or a token with line breaks.
    """
    inside = "@" in urlsplit(url).netloc
    user, password, token = (environ.get(f"MLFLOW_TRACKING_{name}") or None for name in ("USERNAME", "PASSWORD", "TOKEN"))
    basic = bool(user and password) and not inside
    bearer = bool(token) and not basic and not inside
    words = "the user and password in its URL" if inside else "the password of MLFLOW_TRACKING_PASSWORD" if basic else None
    check_mlflow(url, "the token of MLFLOW_TRACKING_TOKEN" if bearer else words)
    authority = environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH")
    return Endpoint(
        url=url,
        timeout_seconds=imports_table(settings).timeout,
        username=user if basic else None,
        password=password if basic else None,
        bearer_token=token if bearer else None,
        ca_file=Path(authority) if authority else None,
        verify=environ.get("MLFLOW_TRACKING_INSECURE_TLS", "").lower() not in ("true", "1"),
    )


def caveats_of(server: Endpoint) -> Iterator[Note]:
    """What a report of `jpo import` must say about how an MLflow server was asked."""
    if not server.verify:
        yield Note("JPO-W114", f"the certificate of {server.shown_url} is not verified: anyone in between can forge runs")
    if server.secrets and travels_openly(server.url):
        yield Note("JPO-W323", f"{server.shown_url} got a secret unencrypted: anyone in between can read it; use https://")
