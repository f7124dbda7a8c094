"""Workload of a config.ini: which job it describes, what JPO may tune there, and what is pinned.

The caller provides the names of options and the function from text to number: the guard owns both. Nothing is guessed: where two
options could be meant, the user says which.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from jpo.config.identity import find_identity
from jpo.config.locate import IniOption, locate
from jpo.config.lookup import OptionNames, ambiguous, keyed, named
from jpo.config.pins import held, refuse_strays
from jpo.config.source import contents, decode, shown
from jpo.errors import UsageError
from jpo.records import LARGEST_VALUE, PARAMETERS, SMALLEST_VALUE, Parameter, Workload

ParseValue = Callable[[str, str, str], float | None]


def read(
    path: Path,
    *,
    names: OptionNames,
    parse_value: ParseValue,
    frozen: Mapping[str, str] = MappingProxyType({}),
    today: datetime.date,
) -> Workload:
    """The training job that config.ini describes.

    Args:
        path: the file; a symlink is followed.
        parse_value: (parameter, option, text) -> number in JPO's unit, None where the unit is unknown; raises ValueError.
        frozen: parameters that must not change, with the reason.
        today: `jpo: ignore until` holds before its date.

    Raises:
        UsageError: the file cannot be read, is ambiguous, has no identity or nothing to tune.
    """
    data, place = contents(path), str(path)
    source = decode(data, place)
    options = locate(source, place)
    refuse_strays(source, options, place)
    parameters = []
    for name in PARAMETERS:
        if name in names.keys:
            candidates = [keyed(options, f"parameters.{name}.key", names.keys[name], place)]
        else:
            candidates = named(options, names.known.get(name, ()))
        held_reasons = {option: held(option, place, today) or frozen.get(name) for option in candidates}
        tunable = _numbers(name, held_reasons, parse_value, place)
        if name in names.keys and not tunable and not any(held_reasons.values()):
            raise _without_unit(candidates[0], place)
        if len(tunable) > 1:
            raise ambiguous(name, tunable, place, f"[parameters] {name} = {{ key = KEY }}")
        parameters += [
            Parameter(name, option.key, value, option.text, option.line, held_reasons[option])
            for option, value in tunable.items()
        ]
    _refuse_shared(parameters, place)
    if not parameters:
        remedy = 'name what JPO may change in jpo.toml: [parameters] batch_size = { key = "section.option" }'
        raise UsageError(place, "contains no parameter that JPO knows", remedy, code="JPO-E205")
    return Workload(find_identity(options, names, place), tuple(parameters), path, data)


def _numbers(
    name: str, candidates: Mapping[IniOption, str | None], parse_value: ParseValue, place: str
) -> dict[IniOption, float]:
    """Options that hold a number. Memory of unknown unit is left out, as is held text that is no number (`auto # jpo: pin`)."""
    numbers = {}
    for option, held_reason in candidates.items():
        try:
            value = _number(name, option, parse_value, place)
        except UsageError:
            if held_reason is None:
                raise
        else:
            if value is not None:
                numbers[option] = value
    return numbers


def _number(name: str, option: IniOption, parse_value: ParseValue, place: str) -> float | None:
    here = f"{place}:{option.line}"
    if not option.one_line or not option.key.isprintable():
        finding = f"{shown(option.key)} " + ("has unprintable characters" if option.one_line else "continues on the next line")
        raise UsageError(here, finding, "write name = value on one line, in plain text", code="JPO-E209")
    try:
        value = parse_value(name, option.name, option.text)
    except ValueError as error:
        raise UsageError(here, str(error), code="JPO-E208") from error
    if value and not SMALLEST_VALUE <= abs(value) <= LARGEST_VALUE:
        finding = f"{option.name} = {shown(option.text)} is no value of a training job"
        raise UsageError(here, finding, "write what the job is to use", code="JPO-E208")
    return value


def _without_unit(option: IniOption, place: str) -> UsageError:
    finding = f"{option.name} = {shown(option.text)} has no unit"
    return UsageError(f"{place}:{option.line}", finding, f"write e.g. {option.name} = 16Gi", code="JPO-E208")


def _refuse_shared(parameters: Iterable[Parameter], place: str) -> None:
    by_key: dict[str, Parameter] = {}
    for parameter in parameters:
        other = by_key.setdefault(parameter.key, parameter)
        if other is not parameter:
            finding = f"{other.name} and {parameter.name} are both {shown(parameter.key)} of {place}"
            raise UsageError("jpo.toml", finding, "give each its own key", code="JPO-E207")
