"""Values as text: a new number in the style of the old text. Whole stays whole, 1e-3 stays scientific, 16Gi keeps its unit.

The edits that give a file other values are of such texts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from jpo.records import WHOLE, Edit, Parameter, Parameters, Word, Workload

QUOTED = re.compile(r"""(["'])(.*)\1""")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def format_value(parameter: Parameter, value: float) -> str:
    """The text of `value` in place of `parameter.text`.

    CPUs and memory written as whole numbers stay whole, because training code may read them with int(): the value is then
    rounded. So read the text back and take that number as the one that is executed.

    Args:
        parameter: as read. Its value and text together give the unit, also when the option's name says it (memory_mb).
        value: finite, in JPO's unit (memory in GiB).

    Raises ValueError: a fraction for a parameter that is a whole number, a number for a word.
    """
    if quoted := QUOTED.fullmatch(parameter.text):
        return f"{quoted[1]}{format_value(replace(parameter, text=quoted[2].strip()), value)}{quoted[1]}"
    if isinstance(parameter.value, Word):
        if not isinstance(value, Word):
            raise ValueError(f"{parameter.name} = {value} is not a word")
        return value.word
    if parameter.name in WHOLE or parameter.whole:
        if not value.is_integer():
            raise ValueError(f"{parameter.name} = {value} is not a whole number")
        return str(int(value))
    number = NUMBER.match(parameter.text)
    assert number, f"{parameter.text!r} was read as a number"
    if parameter.name == "memory_gib":
        return _memory(parameter, number[0], value)
    if parameter.name == "cpus" and number[0].isdigit():
        return str(_whole(value))
    return _scientific(value) if "e" in number[0].lower() else f"{_shortest(value):f}"


def edits_of(workload: Workload, suggested: Parameters, restored: Mapping[str, str]) -> tuple[Edit, ...]:
    """Edits that give config.ini the suggested values, or the earlier text of a parameter where one is restored."""
    now, then = workload.terms.in_file(workload.current), workload.terms.in_file(suggested)
    wanted = (
        (p, restored[p.name] if p.name in restored else format_value(p, then[p.name]))
        for p in workload.parameters
        if p.name in restored or then[p.name] != now[p.name]
    )
    return tuple(Edit(p.key, p.line, p.text, text) for p, text in wanted if text != p.text)


def _memory(parameter: Parameter, number: str, value: float) -> str:
    """Memory in the old text's unit; in GiB when the old text is 0, which shows no unit."""
    if float(number) == 0:
        return f"{_shortest(value):f}Gi"
    amount = value / (parameter.value / float(number))
    text = str(_whole(amount)) if number.isdigit() else f"{_shortest(round(amount, 6)):f}"
    return text + parameter.text[len(number) :]


def _whole(value: float) -> int:
    """A rounded amount; a positive one never becomes 0."""
    return max(round(value), 1) if value > 0 else round(value)


def _shortest(value: float) -> Decimal:
    """The fewest digits that read back as exactly `value`."""
    return Decimal(repr(value)).normalize()


def _scientific(value: float) -> str:
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "the value is finite"
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' * sign}{first}{'.' * bool(rest)}{rest}e{exponent + len(digits) - 1}"
