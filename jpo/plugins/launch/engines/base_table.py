"""Table of jpo.toml that belongs to an engine, [launch.NAME]: what its launcher is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[^\x00-\x20]+$")]


class EngineTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
