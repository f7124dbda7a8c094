"""Traces of recorded jobs: the configurations that were run, and time and cost of each of their runs.

A trace file is a CSV below a head of `# key = value` lines in TOML, with one row per measured configuration and repetition. Batch
size and GPU count are the knobs of such a file. A power limit stays at the default's unless it is opened, and of several measured
placements the packed one counts: what JPO's users cannot choose is no knob.
"""

import csv
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from jpo.errors import UsageError, quoted
from jpo.files.reading import contents, number_or_nan, toml
from jpo.wording import numbers

CostUnit = Literal["J", "GPU h", "USD", "relative"]
LARGEST_BYTES = 64 << 20
SMALLEST, LARGEST = 1e-9, 1e15
"""Range of measurements: beyond it, products and sums would not stay finite and above 0."""
_COST_UNITS: Mapping[str, CostUnit] = {"energy_j": "J", "gpu_hours": "GPU h"}
_NEEDED = ("workload", "family", "default", "knobs", "cost_column")
_OPENED_ON_WISH = "power_limit_w"
_HELD = ("gpus", _OPENED_ON_WISH)
"""Columns that stay at the default's value where they are no knob."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One recorded run from its start to its target, or to its end where it never reached the target.

    `cost` is in the trace's unit.
    """

    duration_seconds: float
    cost: float
    converged: bool

    def __post_init__(self) -> None:
        for name, value in (("duration", self.duration_seconds), ("cost", self.cost)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"its {name} is {value}, which is not a finite number above 0")


@dataclass(frozen=True, slots=True)
class Trace:
    """A recurring job that can be replayed.

    Attributes:
        name: of the workload.
        configurations: those that can be run, by the names of the knobs; all have the same knobs.
        executions: runs of each configuration, in the same order; at least one each.
        default: position of today's configuration.
        cost_unit: unit of the costs.
    """

    name: str
    configurations: tuple[Mapping[str, float], ...]
    executions: tuple[tuple[Execution, ...], ...]
    default: int
    cost_unit: CostUnit

    def __post_init__(self) -> None:
        assert len(self.configurations) == len(self.executions)
        assert all(self.executions)
        assert 0 <= self.default < len(self.configurations)
        if len(self.configurations) < 2:
            remedy = "replay a job that was run with at least two"
            raise UsageError(self.name, "has one configuration only: there is nothing to choose", remedy, code="JPO-E702")
        if not any(execution.converged for executions in self.executions for execution in executions):
            finding = "none of its runs reached the target, so no configuration is the best"
            raise UsageError(self.name, finding, "replay a job that ended well at least once", code="JPO-E702")


def read_trace(path: Path, *, opened: Collection[str] = ()) -> Trace:
    """The trace in a file; `opened`: knobs that are not held at the default's value; "power_limit_w" is the only one that is.

    Raises UsageError: JPO-E701, it cannot be read or is no trace (with the line); JPO-E702, there is nothing to choose in it.
    """
    lines = _lines(path)
    head = _head(path, lines)
    if head["family"] not in ("zeus", "pollux"):
        raise _malformed(str(path), f"is of family {quoted(head['family'])}; known are zeus and pollux")
    knobs = tuple(knob for knob in head["knobs"] if knob != _OPENED_ON_WISH or knob in opened)
    held = {name: float(head["default"][name]) for name in _HELD if name in head["default"] and name not in knobs}
    by_values: dict[tuple[float, ...], list[Execution]] = {}
    for number, row in _rows(path, lines):
        cells = _Cells(row, f"{path}:{number}")
        # Of Pollux `rep` counts placements, of which the first is on the fewest nodes; of Zeus it is a training seed.
        usual = all(cells.number(name) == value for name, value in held.items())
        if usual and (head["family"] != "pollux" or cells.number("rep") == 1):
            key = tuple(cells.number(knob) for knob in knobs)
            by_values.setdefault(key, []).append(_execution(cells, head["cost_column"]))
    default = tuple(float(head["default"][knob]) for knob in knobs)
    if default not in by_values:
        values = ", ".join(f"{knob} = {numbers.plain(value)}" for knob, value in zip(knobs, default, strict=True))
        raise _malformed(str(path), f"has no row for its default ({values})")
    keys = sorted(by_values)
    return Trace(
        name=head["workload"],
        configurations=tuple(dict(zip(knobs, key, strict=True)) for key in keys),
        executions=tuple(tuple(by_values[key]) for key in keys),
        default=keys.index(default),
        cost_unit=_COST_UNITS[head["cost_column"]],
    )


@dataclass(frozen=True, slots=True)
class _Cells:
    """A row of the table, by column; errors name its line."""

    row: Mapping[str, str]
    place: str

    def number(self, column: str) -> float:
        text = self.row.get(column, "")
        value = number_or_nan(text.strip())
        if not SMALLEST <= value <= LARGEST:
            raise _malformed(self.place, f"{column} = {quoted(text)} is not a number above 0 that can be measured")
        return value


def _execution(cells: _Cells, cost_column: str) -> Execution:
    """The run of a row: up to the target where it was reached, else all of it."""
    flag = cells.row.get("converged", "")
    if flag not in ("0", "1"):
        raise _malformed(cells.place, f"converged = {quoted(flag)} is neither 0 nor 1")
    reached = flag == "1"
    seconds = cells.number("time_to_target_s" if reached else "time_full_s")
    if cost_column == "energy_j":
        cost = cells.number("energy_j" if reached else "energy_full_j")
    else:
        cost = cells.number("gpus") * seconds / 3600
    return Execution(seconds, cost, reached)


def _lines(path: Path) -> Sequence[str]:
    remedy = "name a trace or a config.ini"
    content = contents(path, LARGEST_BYTES, lambda finding: UsageError(str(path), finding, remedy, code="JPO-E701"))
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise _malformed(str(path), "is not UTF-8 text") from error


def _head(path: Path, lines: Sequence[str]) -> dict[str, Any]:
    """The TOML in the `# ` lines on top, checked for what a replay needs."""
    try:
        head = toml("\n".join(line[1:].strip() if line.startswith("#") else "" for line in lines[: _table_at(lines)]))
    except ValueError as error:
        raise _malformed(str(path), f"its head {error}") from error
    missing = [key for key in _NEEDED if key not in head]
    if missing:
        raise _malformed(f"{path}:1", f"has no `# {missing[0]} = ...` in its head")
    if not (isinstance(head["workload"], str) and head["workload"].strip() and head["workload"].isprintable()):
        raise _malformed(str(path), "its workload is not a printable name")
    knobs, default = head["knobs"], head["default"]
    if not (isinstance(knobs, list) and knobs and all(isinstance(knob, str) for knob in knobs) and len(set(knobs)) == len(knobs)):
        raise _malformed(str(path), "its knobs are not a list of different names")
    if not (isinstance(default, dict) and all(_is_number(default.get(knob)) for knob in knobs)):
        raise _malformed(str(path), "its default does not give a number for each of its knobs")
    if not all(_is_number(default[name]) for name in _HELD if name in default):
        raise _malformed(str(path), "its default gives no number for gpus or power_limit_w")
    if not (isinstance(head["cost_column"], str) and head["cost_column"] in _COST_UNITS):
        raise _malformed(str(path), f"its cost_column is neither of {', '.join(_COST_UNITS)}")
    return head


def _table_at(lines: Sequence[str]) -> int:
    """Index of the line with the column names: the first that is neither head nor blank."""
    return next((index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))


def _rows(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of the table with their line numbers, without comments and blank lines."""
    top = _table_at(lines)
    names = lines[top].split(",") if top < len(lines) else []
    for number, line in enumerate(lines[top + 1 :], start=top + 2):
        if line.strip() and not line.startswith("#"):
            try:
                cells = next(csv.reader([line]))
            except csv.Error as error:
                raise _malformed(f"{path}:{number}", f"is not CSV ({error})") from error
            if len(cells) != len(names):
                raise _malformed(f"{path}:{number}", f"has {len(cells)} cells below {len(names)} columns")
            yield number, dict(zip(names, cells, strict=True))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _malformed(place: str, finding: str) -> UsageError:
    return UsageError(place, finding, "see `jpo lab replay` in docs/plugins/lab.md for the format of a trace", code="JPO-E701")
