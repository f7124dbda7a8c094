"""Tables of jpo.toml that belong to plugins: [launch] and the like of JPO's own, [plugins.NAME] of others'.

A plugin's model is imported where its table stands in jpo.toml, or where all settings are listed.
"""

from collections.abc import Container, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, create_model

from constraints.unknown import SECTIONS
from jpo import plugin
from jpo.project.settings import Settings, SettingsTable

OF_OTHERS = "plugins"
"""The table in which those of others' plugins stand."""


def settings_model(named: Container[str] | None) -> type[Settings]:
    """All settings, with the tables of plugins that are named; None: of all plugins that are installed here."""
    own = {table: where for each in plugin.plugins() for table, where in each.settings.items() if named is None or table in named}
    return _made(tuple(own.items()), bool(_tables_of_others()) if named is None else OF_OTHERS in named)


def settings_schema() -> dict[str, Any]:
    """JSON Schema of jpo.toml, its tables in the order of the guide."""
    schema = settings_model(None).model_json_schema()
    tables = schema["properties"]
    return {**schema, "properties": {name: tables[name] for name in sorted(tables, key=SECTIONS.index)}}


@cache
def _made(own: tuple[tuple[str, str], ...], of_others: bool) -> type[Settings]:
    tables = {table: plugin.load(where) for table, where in own}
    if of_others:
        tables[OF_OTHERS] = create_model("PluginTables", __base__=SettingsTable, **_fields(_tables_of_others()))
    return create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, **_fields(tables)) if tables else Settings


@cache
def _tables_of_others() -> dict[str, type[BaseModel]]:
    """Their models; one that cannot be imported is left out, and its table is unknown."""
    found = {table: plugin.part_of(each, where) for each in plugin.from_packages() for table, where in each.settings.items()}
    return {table: model for table, model in found.items() if not isinstance(model, plugin.Broken)}


def _fields(tables: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    return {name: (model, model()) for name, model in tables.items()}
