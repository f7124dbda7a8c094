"""[prices] of jpo.toml: what resources cost, and in which currency amounts are shown."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Price = Annotated[float, Field(ge=0, le=1e6)]


class PricesTable(BaseModel):
    """Prices of resources, in USD; without prices the cost of a run is unknown.

    `gpu_type` says which GPUs they are; `usd_per_gpu_hour_of` prices several types, and the chosen one counts. With a `catalogue`
    ("aws": the one that came with JPO; else a file as `jpo prices refresh` writes it) a configuration costs what the cheapest
    instance that holds it does, in `region`. `spot` counts spot prices: those of the catalogue, else `spot_share` of the others.
    Energy at `usd_per_kwh` comes on top where it was measured; `kg_co2_per_kwh` is what making it emits. Amounts are shown in
    `currency`, of which one USD is `per_usd`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    usd_per_gpu_hour: Price | None = None
    usd_per_cpu_hour: Price | None = None
    usd_per_gib_hour: Price | None = None
    usd_per_kwh: Price | None = None
    kg_co2_per_kwh: Price | None = None
    gpu_type: str | None = None
    usd_per_gpu_hour_of: dict[str, Price] = {}
    catalogue: str | None = None
    region: str | None = None
    spot: bool = False
    spot_share: Annotated[float, Field(gt=0, le=1)] | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] = "USD"
    per_usd: Annotated[float, Field(gt=0, le=1e9)] | None = None

    @property
    def single(self) -> list[str]:
        """The prices of single resources that it names."""
        names = ("usd_per_gpu_hour", "usd_per_gpu_hour_of", "usd_per_cpu_hour", "usd_per_gib_hour")
        return [name for name in names if getattr(self, name) not in (None, {})]

    @model_validator(mode="after")
    def consistent(self) -> Self:
        if self.catalogue is not None and self.single:
            raise ValueError(f"catalogue and {self.single[0]} both say what an hour costs; keep one of them")
        if self.usd_per_gpu_hour_of and self.usd_per_gpu_hour is not None:
            raise ValueError("usd_per_gpu_hour and usd_per_gpu_hour_of both say what a GPU costs; keep one of them")
        if self.usd_per_gpu_hour_of and self.gpu_type is None:
            raise ValueError(f"usd_per_gpu_hour_of needs gpu_type; write one of {', '.join(self.usd_per_gpu_hour_of)}")
        if len({name.strip().lower() for name in self.usd_per_gpu_hour_of}) < len(self.usd_per_gpu_hour_of):
            raise ValueError("usd_per_gpu_hour_of names a type twice; keep one of them")
        if self.region is not None and self.catalogue is None:
            raise ValueError("region says nothing without a catalogue; write e.g. catalogue = 'aws', or take it out")
        if self.spot and self.catalogue is None and self.spot_share is None:
            raise ValueError("spot needs a catalogue or spot_share; write e.g. spot_share = 0.4")
        if (self.currency == "USD") != (self.per_usd is None):
            raise ValueError("currency and per_usd go together; write e.g. currency = 'EUR', per_usd = 0.92")
        return self
