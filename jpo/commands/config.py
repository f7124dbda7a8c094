"""`jpo config check|show|schema`: the effective settings, where each comes from, and the published JSON Schemas."""

from __future__ import annotations

from jpo.project.load import LoadedSettings, effective
from jpo.project.settings import Settings
from jpo.project.workload import limits_of
from jpo.report import suggestion
from jpo.report.forms import json


def check(settings: LoadedSettings) -> list[str]:
    """Loading has validated everything that jpo knows; the guard reads its own tables too."""
    limits_of(settings)
    return [f"{settings.toml or 'built-in settings'}: valid"]


def show(settings: LoadedSettings) -> list[str]:
    """`section.key = value   # origin`, one a line; secrets are shown as stars."""
    return [f"{key} = {json.value(value)}  # {origin}" for key, value, origin in effective(settings)]


def schema(output: str) -> str:
    """JSON Schema of jpo.toml ("settings") or of `jpo suggest -o json` ("suggestion")."""
    return json.dumps(suggestion.schema() if output == "suggestion" else Settings.model_json_schema())
