"""[launch] of jpo.toml: what starts a run, on which engine, and what each engine must be told."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from jpo.plugin import load
from jpo.plugins.launch.engines import OWN, described, is_installed
from jpo.project.durations import Duration
from jpo.project.load import LoadedSettings
from jpo.project.settings import SettingsTable


def installed(name: object) -> object:
    """The engine, if it is JPO's or one that another package brings."""
    if not is_installed(name):
        raise ValueError(f"input should be {', '.join(map(repr, OWN[:-1]))} or {OWN[-1]!r}, or an engine of a package")
    return name


EngineName = Annotated[str, BeforeValidator(installed), WithJsonSchema({"anyOf": [{"enum": [*OWN]}, {"type": "string"}]})]


class OfAllEngines(SettingsTable):
    """Command that trains (program and arguments, never a shell's line), the engine, and after how long a run is ended.

    `stop_at`: multiple of what the best values usually take after which `jpo optimize` ends a trial; 0: never. `keep`: how long
    output and files of a run stay after its end, once it is on record; 0: without end.
    """

    command: tuple[str, ...] = ()
    on: EngineName = "local"
    timeout: Annotated[Duration, Field(gt=0)] | None = None
    stop_at: Annotated[float, Field(ge=0, le=1000)] = 2.0
    keep: Annotated[Duration, Field(ge=0)] = 90 * 86400.0


TABLES: dict[str, Any] = {name: (load(where), load(where)()) for name in OWN if (where := described(name).table)}
"""Of JPO's own engines: model and defaults."""
LaunchTable = create_model("LaunchTable", __base__=OfAllEngines, __doc__=OfAllEngines.__doc__, **TABLES)


def launch_table(settings: LoadedSettings) -> OfAllEngines:
    """[launch] as it is in force."""
    return settings.table("launch", LaunchTable)


def table_of(settings: LoadedSettings, engine: str) -> BaseModel | None:
    """[launch.ENGINE] as it is in force; None for an engine without a table."""
    table: BaseModel | None = getattr(launch_table(settings), engine, None)
    return table
