"""Which column of a table has which quantity: by the usual names, or by the names that users give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from jpo.errors import UsageError, quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.rows import malformed
from jpo.plugins.phases.traces import ALWAYS, CPU, GPU, GPU_MEMORY, MEMORY, SHOWN_COLUMNS

EXECUTION, TIME = "execution", units.TIME
USUAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        EXECUTION: ("pod.id", "exec_id", "execution", "execution_id", "run_id", "pod", "container", "id"),
        TIME: ("timestamp", "time", "t", "ts", "unix_seconds", "datetime", "date"),
        CPU: ("cpu.usage.cores", "cpu_cores", "cpu_usage_cores", "cpu"),
        MEMORY: ("mem.working.set", "memory_bytes", "memory_working_set_bytes", "mem_bytes", "memory", "mem"),
        GPU: ("gpu_utilisation", "gpu_utilization", "gpu.usage", "gpu.util", "gpu"),
        GPU_MEMORY: ("gpu_memory_bytes", "gpu.memory", "gpu.mem.used"),
    }
)
"""TraceColumns by which a quantity is found where none is named; the first that the file has. AI4DL's come first."""


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """Names of a file's columns.

    `named`: header of a quantity (`execution`, `time`, a feature, or one of `units.UNITS`); what is absent is found by USUAL.
    `features`: the features to read, in this order; empty: CPU, memory, and GPU where it is measured.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()


class ColumnPlace(NamedTuple):
    """Where a quantity stands in a row, and in which of `units.UNITS`, None: its own."""

    at: int
    unit: str | None = None


def features_of(columns: TraceColumns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that traces must have, and those that are taken where they are."""
    more = (name for name in columns.named if name not in USUAL and name not in units.UNITS)
    return (columns.features, ()) if columns.features else ((*ALWAYS, *more), (GPU, GPU_MEMORY))


def places_of(place: str, header: Sequence[str], columns: TraceColumns, *, alone: bool = True) -> dict[str, ColumnPlace]:
    """Where each quantity stands in a row: execution where there is one, time, then the features in their order.

    `alone`: no other file has what this one lacks. Raises UsageError: JPO-E731, it lacks a column.
    """
    needed, optional = features_of(columns)
    optional = optional if alone else (*needed, *optional)
    places: dict[str, ColumnPlace] = {}
    for name in dict.fromkeys((EXECUTION, TIME, *needed, *optional)):
        found = place_of(header, name, columns)
        if found is not None:
            if (count := header.count(header[found.at])) > 1:
                finding = f"has {count} columns named {quoted(header[found.at])}"
                raise malformed(place, finding, "give each column a name of its own")
            places[name] = found
        elif name not in (EXECUTION, *optional) or (alone and _named(name, columns)):
            shown = ", ".join(quoted(each) for each in header[:SHOWN_COLUMNS] if each)
            usual = " or ".join(map(repr, [*(_named(name, columns) or _usual(name))][:3]))
            finding = f"has no column {usual} for {name} (it has {shown or 'no names'})"
            raise UsageError(place, finding, f"name it: --column {name}=HEADER", code="JPO-E731")
    return places


def place_of(header: Sequence[str], name: str, columns: TraceColumns) -> ColumnPlace | None:
    """Where a quantity stands, None: nowhere; usual names count in large letters, too, where none is there in small ones."""
    named = _named(name, columns)
    backwards = [*enumerate(header)][::-1]
    exact, small = {each: at for at, each in backwards}, {each.lower(): at for at, each in backwards}
    for places in (exact,) if named else (exact, small):
        for each, unit in (named or _usual(name)).items():
            if each in places:
                return ColumnPlace(places[each], unit)
    return None


def _named(name: str, columns: TraceColumns) -> dict[str, str | None]:
    """The header that the user names for a quantity, if any, with its unit, None: the quantity's own."""
    found = [(columns.named[each], each) for each in (name, *units.units_of(name)) if each in columns.named]
    if len(found) > 1:
        finding = f"{name} is named {len(found)} times, in several units"
        raise UsageError("--column", finding, "name the one that the file has", code="JPO-E734")
    return {header: None if each == name else each for header, each in found}


def _usual(name: str) -> dict[str, str | None]:
    """Headers by which a quantity is found, with their units; the first that the file has."""
    usual: dict[str, str | None] = dict.fromkeys((*USUAL.get(name, ()), name))
    return usual | {each: unit for unit in units.units_of(name) for each in units.USUAL_UNITS[unit]}
