"""[workload]: which job this is, and its config.ini."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def plain_name(given: str) -> str:
    if not given.strip() or not given.isprintable():
        raise ValueError('is not a name; write plain text, e.g. "street-signs"')
    return given.strip()


PlainName = Annotated[str, Field(max_length=200), AfterValidator(plain_name)]
IdentityPart = Literal["dataset", "model", "framework", "hardware"]


class WorkloadTable(BaseModel):
    """Which job this is: its name, or dataset, model and framework, or the options that say so (`identity`, `section.option`);
    its config.ini, and further names of its parts. Another config.ini below the same jpo.toml may say itself which job it is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: PlainName | None = None
    dataset: PlainName | None = None
    model: PlainName | None = None
    framework: PlainName | None = None
    config: str = "config.ini"
    identity: dict[IdentityPart, str] = {}
    aliases: dict[IdentityPart, tuple[Annotated[str, Field(pattern=r"\S")], ...]] = {}

    @property
    def said(self) -> dict[str, str]:
        """The parts of the identity that are said here."""
        parts = {"dataset": self.dataset, "model": self.model, "framework": self.framework}
        return {part: text for part, one in parts.items() if (text := self.name or one)}

    @model_validator(mode="after")
    def said_once(self) -> Self:
        if self.name and (self.dataset or self.model or self.framework or self.identity.keys() - {"hardware"}):
            raise ValueError("name says which job this is; leave dataset, model, framework and identity out")
        return self
