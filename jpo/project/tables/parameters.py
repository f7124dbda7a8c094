"""The lines of [parameters]: what JPO may do with one parameter, its own or one that the team declares.

What a line allows is the guard's to say (constraints/limits.py and own.py read the same table by themselves); this is its form.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from jpo.errors import quoted
from jpo.records import COUNTS, PARAMETERS, Range, Word

Positive = Annotated[float, Field(gt=0)]


def numbers_or_words(given: object) -> object:
    """Choices as numbers where all of them are, in quotes or not; else as words. ValueError: no list, or of several kinds."""
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f'{quoted(given)} is not a list of choices; write e.g. [0.1, 0.2], or ["adam", "sgd"]')
    if wrong := [item for item in given if isinstance(item, bool) or not isinstance(item, int | float | str)]:
        raise ValueError(f'{str(wrong[0]).lower():.80} is not a word; write it in quotes, as config.ini has it, e.g. "True"')
    try:
        return [float(item) for item in given]
    except (ValueError, OverflowError):
        if numbers := [item for item in given if not isinstance(item, str)]:
            raise ValueError(f"{quoted(numbers[0])} is not a word, but others are; write all of them in quotes") from None
        return given


class ParameterTable(BaseModel):
    """Limits of what JPO may do with one parameter. The guard reads the same table by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    key: str | None = None
    min: float | None = None
    max: float | None = None
    choices: Annotated[tuple[float, ...] | tuple[str, ...] | None, BeforeValidator(numbers_or_words)] = None
    step: Literal["pow2"] | None = None
    multiple_of: Positive | None = None
    integer: bool | None = None
    max_change: Annotated[float, Field(gt=1)] | None = None
    scale: Literal["linear", "log"] | None = None
    follow: Annotated[str, Field(pattern="^batch_size:(sqrt|linear)$")] | None = None
    freeze: bool = False

    @model_validator(mode="after")
    def ordered(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min = {self.min:g} is above max = {self.max:g}")
        return self

    @property
    def values(self) -> tuple[float, ...] | None:
        """The choices, words as `Word`; None where there are none."""
        choices = self.choices
        return None if choices is None else tuple(Word(choice) if isinstance(choice, str) else choice for choice in choices)

    @property
    def worded(self) -> bool:
        """Whether the choices are words."""
        return any(isinstance(value, Word) for value in self.values or ())

    def is_whole(self, text: str) -> bool:
        """Whether a parameter of the team's own must stay a whole number, because the code may read it with int(): it says so,
        or neither the file nor the table has a fraction."""
        said = (self.min, self.max, self.multiple_of, *(self.values or ()))
        whole = text.strip("\"'").lstrip("+-").isdigit() and not any(number % 1 for number in said if number is not None)
        return whole if self.integer is None else self.integer

    def ladder(self, text: str) -> tuple[float, ...]:
        """Values of a parameter of the team's own that are tried, its choices, else steps of its range."""
        if self.values is not None or self.min is None or self.max is None:
            return self.values or ()
        if self.step == "pow2":
            powers = (2.0**k for k in range(-10, 54))
            return tuple(power for power in powers if self.min <= power <= self.max)
        whole = self.is_whole(text)
        return Range(self.min, self.max, self.scale == "log", whole, self.multiple_of).round_steps()


def is_own(name: str) -> bool:
    """Whether a parameter is the team's own: JPO gives it no meaning."""
    return name not in (*PARAMETERS, *COUNTS)
