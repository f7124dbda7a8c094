"""`jpo config check|show|schema`: the effective settings, where each comes from, and the published JSON Schemas."""

from jpo.project.load import LoadedSettings
from jpo.project.plugins.tables import settings_schema
from jpo.project.tables.effective import effective
from jpo.project.workload import limits_of
from jpo.report import suggestion
from jpo.report.forms import json, toml
from jpo.wording.printable import printable


def check(settings: LoadedSettings) -> list[str]:
    """Loading has validated everything that jpo knows; the guard reads its own tables too."""
    limits_of(settings)
    return [f"{settings.toml or 'built-in settings'}: valid"]


def show(settings: LoadedSettings) -> str:
    """All settings as a jpo.toml that would have them; what is secret, or lacks its secret, is a comment."""
    tables: dict[tuple[str, ...], list[str]] = {(): []}
    for each in effective(settings):
        *table, name = map(toml.key, each.path)
        line = f"{name} = {toml.value(each.value)}  # {printable(each.origin)}"
        tables.setdefault(tuple(table), []).append(line if each.exact else f"# {line}, without its secret")
    blocks = ["\n".join(([f"[{'.'.join(path)}]"] if path else []) + lines) for path, lines in tables.items() if lines]
    return "\n\n".join(blocks) + "\n"


def schema(output: str) -> str:
    """JSON Schema of jpo.toml ("settings") or of `jpo suggest -o json` ("suggestion")."""
    return json.dumps(suggestion.schema() if output == "suggestion" else settings_schema())
