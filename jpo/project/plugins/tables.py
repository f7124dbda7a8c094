"""Tables of jpo.toml that belong to plugins: [launch] and the like of JPO's own, [plugins.NAME] of others'.

A plugin's model is imported where its table stands in jpo.toml, or where all settings are listed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
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
    return _made(tuple(own.items()), named is None or OF_OTHERS in named)


def settings_schema() -> dict[str, Any]:
    """JSON Schema of jpo.toml, its tables in the order of the guide."""
    schema = settings_model(None).model_json_schema()
    tables = schema["properties"]
    return {**schema, "properties": {name: tables[name] for name in sorted(tables, key=SECTIONS.index)}}


@cache
def _made(own: tuple[tuple[str, str], ...], of_others: bool) -> type[Settings]:
    tables = {table: plugin.load(where) for table, where in own}
    if of_others and (found := _tables(each for each in plugin.others() if isinstance(each, plugin.Plugin))):
        tables[OF_OTHERS] = create_model("PluginTables", __base__=SettingsTable, **_fields(found))
    return create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, **_fields(tables)) if tables else Settings


def _tables(plugins: Iterable[plugin.Plugin]) -> dict[str, type[BaseModel]]:
    return {table: plugin.load(where) for each in plugins for table, where in each.settings.items()}


def _fields(tables: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    return {name: (model, model()) for name, model in tables.items()}
