"""`jpo config check|show|schema`: the effective settings, where each comes from, and the published JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jpo.project.load import LoadedSettings, without_credentials
from jpo.project.settings import Settings
from jpo.project.workload import limits_of
from jpo.report import suggestion


def check(settings: LoadedSettings) -> str:
    """Loading has validated everything that jpo knows; the guard reads its own tables too."""
    limits_of(settings)
    return f"{settings.toml or 'built-in settings'}: valid\n"


def show(settings: LoadedSettings) -> str:
    """`section.key = value   # origin`, one a line; secrets are shown as stars."""
    lines = []
    for key, value in flat(settings.values.model_dump(mode="json")):
        origin = next((settings.origins[k] for k in ancestors(key) if k in settings.origins), "built in")
        shown = without_credentials(value) if key in ("prometheus.url", "store.url") else value
        lines.append(f"{key} = {json.dumps(shown)}  # {origin}")
    return "\n".join(lines) + "\n"


def flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values; what is not set is left out."""
    for name, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}.")
        elif value is not None and value != {}:
            yield f"{prefix}{name}", value


def ancestors(key: str) -> Iterator[str]:
    """The key itself; then its table where that is a preference, whose weights have one origin."""
    yield key
    if key.startswith(("preference.", "preferences.")):
        yield key.rpartition(".")[0]


def schema(output: str) -> str:
    """JSON Schema of jpo.toml ("settings") or of `jpo suggest -o json` ("suggestion")."""
    return json.dumps(suggestion.schema() if output == "suggestion" else Settings.model_json_schema(), indent=2) + "\n"
