"""[phases] of jpo.toml: the model by which the phases of earlier runs count."""

from typing import Annotated

from pydantic import Field

from jpo.project.load import LoadedSettings
from jpo.project.settings import SettingsTable


class PhasesTable(SettingsTable):
    """Model of phases (`jpo phases fit`), relative to jpo.toml: what the last `runs` needed of CPU and memory."""

    model: str | None = None
    runs: Annotated[int, Field(ge=1, le=100)] = 5


def phases_table(settings: LoadedSettings) -> PhasesTable:
    return settings.table("phases", PhasesTable)
