"""What a cell says of a measurement: a number, with the unit and the thousands separators that dashboards write; or nothing.

A comma is read as a separator of thousands where it can be nothing else (1,234.5 and 12,345,678); 0,5 and 1,23 are refused, not
guessed at. Every pattern is applied to texts of bounded length.
"""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from jpo.errors import quoted
from jpo.files import reading
from jpo.plugins.phases.files.rows import malformed
from jpo.plugins.phases.traces import CPU, GPU, GPU_MEMORY, MEMORY
from jpo.tables.numerals import THOUSANDS
from jpo.tables.units import UNITS

LARGEST = 1e18
"""Of any measurement: an exabyte. Beyond it sums of squares would not stay exact."""
PERCENT = "percent"
SUFFIXES: Mapping[str, tuple[str | None, float]] = MappingProxyType(
    {
        **dict.fromkeys(("%", "percent"), (PERCENT, 1.0)),
        **{word: (CPU, UNITS[name].size) for name in ("cores", "millicores") for word in UNITS[name].spelt},
        **{word: (MEMORY, one.size) for name, one in UNITS.items() if one.measure == "size" for word in (name, name[:2])},
        **dict.fromkeys(UNITS["B"].spelt, (MEMORY, UNITS["B"].size)),
        "kB": (MEMORY, UNITS["KB"].size),
        **dict.fromkeys(("k", "K"), (None, 1e3)),
        **dict.fromkeys(("Mil", "M"), (None, 1e6)),
        **dict.fromkeys(("Bil", "G"), (None, 1e9)),
        **dict.fromkeys(("Tri", "T"), (None, 1e12)),
    }
)
"""Units behind a number as Grafana and Kubernetes write them: of which feature, None: of any, and how much one of it is."""
NOTHING = frozenset(("", "nan", "null", "none", "nil", "undefined", "-", "--", "—", "n/a", "na", "no data", "no value", "?"))
"""Cells of an export at whose time nothing was measured, in small letters; infinities are a division by nothing."""
ENDLESS = frozenset(("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"))
WITH_UNIT = re.compile(r"([-+.,0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%]{1,12})(?:/s)?")


class CellValue(NamedTuple):
    """A number and the feature whose unit stood behind it, PERCENT, or None: no unit."""

    value: float
    unit: str | None


def is_nothing(text: str) -> bool:
    """Whether a cell of an export says that nothing was measured."""
    text = text.strip()
    return len(text) < 12 and ((small := text.lower()) in NOTHING or small in ENDLESS)


def measurement(where: str, feature: str, text: str) -> CellValue:
    """A measurement in cores or bytes where its cell has a unit: finite, not negative.

    Raises UsageError: JPO-E730, it is none.
    """
    text = text.strip()
    if not text:
        raise malformed(where, f"has no value of {feature}", "fill the cell, or remove the row: a gap is not an error")
    cell = number(text)
    if cell is None:
        remedy = "write a number, with a decimal point; % and units of size or cores may follow"
        raise malformed(where, f"{feature} = {quoted(text)} is not a number", remedy)
    if not math.isfinite(cell.value):
        raise malformed(where, f"{feature} = {quoted(text)} is not finite", "remove the row: a gap is not an error")
    if cell.value < 0:
        remedy = "nothing uses less than nothing: correct or remove the row"
        raise malformed(where, f"{feature} = {quoted(text)} is negative", remedy)
    if cell.value > LARGEST:
        raise malformed(where, f"{feature} = {quoted(text)} is more than anything can use", "correct or remove the row")
    return cell


def number(text: str) -> CellValue | None:
    """The number of a text without spaces around it; None: it is none, or nobody can know which."""
    if len(text) > reading.LONGEST_NUMBER:
        return None
    try:
        return CellValue(reading.number(text), None)
    except ValueError:
        pass
    if THOUSANDS.fullmatch(text):
        return CellValue(float(text.replace(",", "")), None)
    found = WITH_UNIT.fullmatch(text)
    if found is None:
        return None
    known = SUFFIXES.get(found[2], SUFFIXES.get(found[2].lower()) if len(found[2]) > 2 else None)
    if known is None or (plain := number(found[1])) is None:
        return None
    unit, size = known
    return CellValue(plain.value * size, unit)


def in_base(where: str, feature: str, cell: CellValue) -> float:
    """A measurement in cores or bytes by the unit of its cell; percent of CPU are of one core.

    Raises UsageError: JPO-E730, the unit is none of this feature.
    """
    sizes, cores = (MEMORY, GPU_MEMORY), (CPU,)
    wrong = {MEMORY: feature in (*cores, GPU), CPU: feature in (*sizes, GPU), PERCENT: feature in sizes}
    if cell.unit is not None and wrong[cell.unit]:
        what = {MEMORY: "a size", CPU: "a number of cores", PERCENT: "a share of something"}[cell.unit]
        raise malformed(where, f"{feature} is {what}", "name the column, or the file, that has it: --column NAME=HEADER")
    return cell.value / 100 if cell.unit == PERCENT and feature == CPU else cell.value
