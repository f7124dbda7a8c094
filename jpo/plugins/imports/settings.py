"""[imports] of jpo.toml: what `jpo import` reads by which name."""

from typing import Annotated, Literal

from pydantic import Field

from jpo.project.durations import Duration
from jpo.project.load import LoadedSettings
from jpo.project.settings import SettingsTable


class ImportsTable(SettingsTable):
    """What `jpo import` reads by which name: JPO's name -> column, or { column, unit }; an empty one leaves a quantity out.

    `metrics`: the user's own, by the names that they have in JPO -> column. `timeout`: for all questions to an MLflow server.
    """

    timeout: Annotated[Duration, Field(gt=0, le=86400)] = 60.0
    columns: dict[str, str | dict[Literal["column", "unit"], str]] = {}
    metrics: dict[str, str] = {}


def imports_table(settings: LoadedSettings) -> ImportsTable:
    """[imports] as it is in force."""
    return settings.table("imports", ImportsTable)
