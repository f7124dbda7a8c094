"""Which column of a table has which quantity: by the usual names, or by the names that users give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
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

    Attributes:
        named: header of a quantity (`execution`, `time`, a feature, or one of `units.UNITS`); what is absent is found by USUAL.
        features: the features to read, in this order; empty: CPU, memory, and GPU where it is measured.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()


class ColumnPlace(NamedTuple):
    """Where a quantity stands in a row, and in which of `units.UNITS`, None: its own."""

    at: int
    unit: str | None = None

    @property
    def parts(self) -> float:
        """By which a measurement is divided."""
        return units.UNITS[self.unit][2] if self.unit else 1.0


def features_of(columns: TraceColumns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that traces must have, and those that are taken where they are."""
    more = (name for name in columns.named if name not in USUAL and name not in units.UNITS)
    return (columns.features, ()) if columns.features else ((*ALWAYS, *more), (GPU, GPU_MEMORY))


def places_of(place: str, header: Sequence[str], columns: TraceColumns, *, alone: bool = True) -> dict[str, ColumnPlace]:
    """Where each quantity stands in a row: execution where there is one, time, then the features in their order.

    Args:
        place: file and line of the header, for messages.
        alone: no other file has what this one lacks.

    Raises:
        UsageError: JPO-E731, it lacks a column.
    """
    needed, optional = features_of(columns)
    optional = optional if alone else (*needed, *optional)
    wanted = (EXECUTION, TIME, *needed, *optional)
    places: dict[str, ColumnPlace] = {}
    for name in dict.fromkeys(wanted):
        header_name, unit = column_of(header, name, columns)
        if header_name is not None and header.count(header_name) > 1:
            finding = f"has {header.count(header_name)} columns named {quoted(header_name)}"
            raise malformed(place, finding, "give each column a name of its own")
        if header_name is not None:
            places[name] = ColumnPlace(header.index(header_name), unit)
        elif name not in (EXECUTION, *optional) or (alone and _is_named(name, columns)):
            shown = ", ".join(quoted(each) for each in header[:SHOWN_COLUMNS] if each)
            usual = " or ".join(repr(each) for each, _ in _names(name, columns)[:3])
            raise UsageError(
                place,
                f"has no column {usual} for {name} (it has {shown or 'no names'})",
                f"name it: --column {name}=HEADER",
                code="JPO-E731",
            )
    return places


def column_of(header: Sequence[str], name: str, columns: TraceColumns) -> tuple[str | None, str | None]:
    """The header of a quantity, None: there is none, and its unit, None: the quantity's own."""
    names = _names(name, columns)
    large = {} if _is_named(name, columns) else {each.lower(): each for each in reversed(header)}
    found = chain(
        ((each, unit) for each, unit in names if each in header),
        ((large[each], unit) for each, unit in names if each in large),
    )
    return next(found, (None, None))


def _names(name: str, columns: TraceColumns) -> list[tuple[str, str | None]]:
    """Headers by which a quantity is found, each with its unit, None: the quantity's own; the one that is named alone."""
    others = [unit for unit, (of, _, _) in units.UNITS.items() if of == name]
    named: list[tuple[str, str | None]] = [(columns.named[unit], unit) for unit in others if unit in columns.named]
    if name in columns.named:
        named.insert(0, (columns.named[name], None))
    if len(named) > 1:
        finding = f"{name} is named {len(named)} times, in several units"
        raise UsageError("--column", finding, "name the one that the file has", code="JPO-E734")
    usual: list[tuple[str, str | None]] = [(each, None) for each in (*USUAL.get(name, ()), name)]
    return named or [*usual, *((each, unit) for unit in others for each in units.USUAL_UNITS[unit])]


def _is_named(name: str, columns: TraceColumns) -> bool:
    return any(each == name or units.UNITS.get(each, ("",))[0] == name for each in columns.named)
