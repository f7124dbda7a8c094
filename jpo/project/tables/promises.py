"""[sla] and [metric]: what every run must keep, and what else a team measures of its models."""

import re
from collections.abc import Callable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from constraints.amounts import gib, share
from jpo.project.durations import Duration
from jpo.records import COUNTS, MEASURED, PARAMETERS

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
Limit = Annotated[float, Field(gt=0, allow_inf_nan=False)]
METRIC_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
"""What a metric of the user's own may be called."""
KNOWN_NAMES = {*MEASURED, *PARAMETERS, *COUNTS, "time", "epoch", "cost", "efficiency", "accuracy", "loss", "metric"}
"""Quantities, parameters, columns and objectives that are JPO's own: no metric of the user's can have their name."""


def no_percentage(given: object) -> object:
    """An accuracy is a ratio: 93 is meant as 0.93."""
    if isinstance(given, int | float) and not isinstance(given, bool) and 1 < given <= 100:
        raise ValueError(f"{given:g} is not a ratio in 0..1; write {given / 100:g}")
    return given


def with_unit(read: Callable[[object, str], float | None], sign: str) -> BeforeValidator:
    """A limit that may be a text with its unit, which the guard's reader understands: '50%' is 0.5, '64 GiB' is 64."""

    def read_text(given: object) -> object:
        try:
            return read(given, "") if isinstance(given, str) and re.search(sign, given) else given
        except ValueError as error:
            raise ValueError(str(error).removeprefix(": ")) from None

    return BeforeValidator(read_text)


TEXT_TOO = {"type": "string"}
Share = Annotated[
    float,
    BeforeValidator(no_percentage),
    with_unit(share, "%"),
    Field(ge=0, le=1),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, TEXT_TOO]}),
]
Amount = Annotated[Limit, WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, TEXT_TOO]})]
"""A limit that may have its unit: "12 EUR", "5 kg" of CO2 (settings.py knows the rates), "64 GiB"."""


class SlaTable(BaseModel):
    """Targets that a run must meet, cost in USD or as "12 EUR"; what is left out is not promised, and by default nothing is.

    A promise is held against the forecast of what is suggested and against what was measured of runs; where nothing is known
    (no prices, nothing measured) it is neither kept nor broken. Losses may be below 0. The energy of GPUs has its unit:
    "12 kWh", or "5 kg" of CO2 where [prices] has `kg_co2_per_kwh`.
    """

    model_config = STRICT
    time_max: Annotated[Duration, Field(gt=0, allow_inf_nan=False)] | None = None
    cost_max: Amount | None = None
    throughput_min: Limit | None = None
    memory_max_gib: Annotated[Amount, with_unit(gib, "[a-zA-Z]")] | None = None
    gpu_util_min: Share | None = None
    cpu_util_min: Share | None = None
    val_loss_max: Annotated[float, Field(allow_inf_nan=False)] | None = None
    accuracy_min: Share | None = None
    energy_max: Annotated[Limit, WithJsonSchema(TEXT_TOO)] | None = None

    @field_validator("*", mode="before")
    @classmethod
    def no_switch(cls, given: object) -> object:
        """True would pass for 1."""
        if isinstance(given, bool):
            raise ValueError(f"{str(given).lower()} is not a limit; write a number")
        return given

    @property
    def targets(self) -> dict[str, float]:
        """What was promised, by name."""
        return {name: limit for name, limit in self.model_dump().items() if limit is not None}


class MetricTable(BaseModel):
    """A metric of the user's own: its name as runs report it, and which direction is better.

    `best`: value of a perfect model, where more is better; left out, 1.0 where all values lie in 0..1. `limit`: what every run
    must reach, or keep below, as a target of [sla] does: it is reported as NAME_min or NAME_max.
    """

    model_config = STRICT
    name: Annotated[str, Field(pattern=METRIC_NAME)] | None = None
    direction: Literal["max", "min"] | None = None
    best: Annotated[float, Field(allow_inf_nan=False)] | None = None
    limit: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def one_direction(self) -> Self:
        """Name and direction belong together; what contradicts the direction is an error, not a guess."""
        if self.name in KNOWN_NAMES:
            raise ValueError(f"{self.name} is a name of JPO's own, with a direction of its own; rename the metric")
        if (self.name is None) != (self.direction is None):
            missing = "direction" if self.name else "name"
            finding = f"a metric has a name and a direction, and {missing} is missing"
            raise ValueError(f'{finding}; write name = "f1", direction = "max"')
        if self.name is None and (self.best is not None or self.limit is not None):
            raise ValueError('best and limit are of a metric; write name = "f1", direction = "max"')
        if self.direction == "min" and self.best is not None:
            raise ValueError('best is for a metric that is better when higher, and direction is "min"; take one of them out')
        if None not in (self.best, self.limit) and (self.limit or 0.0) > (self.best or 0.0):
            raise ValueError(f"limit = {self.limit:g} is above best = {self.best:g}, which no run can exceed")
        return self

    @property
    def targets(self) -> dict[str, float]:
        """What was promised, by name."""
        return {} if self.limit is None else {f"{self.name}_{'min' if self.direction == 'max' else 'max'}": self.limit}
