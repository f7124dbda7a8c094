"""Runs as another tool recorded them: cells of text by the tool's own names. Every format ends here; translate.py goes on."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.files import reading
from jpo.records import Skipped

MOST_CELLS = 2000
"""Of one run: hyperparameters and metrics by name; the largest sweeps have hundreds."""
LONGEST_CELL = 4096
"""Characters; what is longer is a prompt or a notebook, and no value of a run."""
MOST_POINTS = 1000
"""Of a curve; of more, every second one of the earlier is left out."""
NOT_MEASURED = {"", "-", "~", "none", "null", "n/a", "na", "nil"}
"""Cells that hold nothing, in lower case. "nan" is not among them: a loss that is NaN has diverged; of all else it is unknown."""
Curve = tuple[tuple[float, float], ...]
"""How one metric went: epoch (or step) and value."""


@dataclass(frozen=True, slots=True)
class ForeignColumn:
    """Column: where a quantity stands, and in which unit.

    Attributes:
        name: as the tool writes it.
        unit: one of units.py; None: as name and values suggest.
        origin: "jpo.toml", the format's name, or "guessed".
    """

    name: str
    unit: str | None = None
    origin: str = "guessed"


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """One run of another tool.

    Attributes:
        place: file and row, for messages and as provenance.
        key: what tells it from all other runs wherever the file is moved; None: its mapped cells do.
        cells: text by name; an empty text is left out.
        curves: by name of a cell, how it went.
        silent: nothing says that it is over: its file was last written when it seems to have ended.
        parent: key of the run that it is a part of; the parent of others (a sweep) is no run of a job.
        row_at: unix seconds that rise from row to row of a table: its end where nothing says it; None: it is in no table.
    """

    place: str
    key: str | None
    cells: Mapping[str, str]
    curves: Mapping[str, Curve] = field(default_factory=dict)
    silent: bool = False
    parent: str = ""
    row_at: float | None = None


@dataclass(frozen=True, slots=True)
class ForeignRuns:
    """Everything that one file or folder holds.

    Attributes:
        format: name of the tool's format.
        runs: as they stand there.
        known: JPO's name -> where this tool always has it.
        skipped: what is no finished run, and why.
        notes: what a reader must know of all of them.
    """

    format: str
    place: str
    runs: tuple[ForeignRun, ...]
    known: Mapping[str, ForeignColumn] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def unreadable(place: str | Path, finding: str, remedy: str = "") -> TelemetryError:
    """JPO-E150: what is there is not what the format says."""
    return TelemetryError(str(place), finding, remedy or "name what the tool wrote, whole", code="JPO-E150")


def contents(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file of bounded size; TelemetryError JPO-E150 otherwise."""
    return reading.contents(path, most_bytes, partial(unreadable, path))


def text_of(path: Path, most_bytes: int) -> str:
    """The same in UTF-8, with or without BOM."""
    try:
        return contents(path, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise unreadable(path, f"is not UTF-8 (byte {error.start})", "export it as UTF-8") from error


def modified_at(path: Path) -> float:
    """Unix seconds at which a file was last written: the end of a run whose tool writes no time."""
    try:
        return path.stat().st_mtime
    except OSError as error:
        raise unreadable(path, f"cannot be read ({error.strerror})") from error


def flat(values: Mapping[str, object], place: Path) -> dict[str, str]:
    """Cells of nested values: {"optim": {"lr": 0.1}} -> {"optim.lr": "0.1"}; lists and long texts are no values of a run.

    Raises TelemetryError: JPO-E150, deeper than reading.DEEPEST, or more than MOST_CELLS.
    """
    cells: dict[str, str] = {}
    level: list[tuple[str, object]] = list(values.items())
    for _ in range(reading.DEEPEST):
        below: list[tuple[str, object]] = []
        for name, value in level:
            if isinstance(value, Mapping):
                below += ((f"{name}.{key}", inner) for key, inner in value.items())
            elif isinstance(value, str | int | float) and (text := as_text(value)):
                cells[str(name)] = text
            if len(cells) + len(below) > MOST_CELLS:
                raise unreadable(place, f"contains more than {MOST_CELLS} values", "keep those of the run")
        level = below
    if level:
        raise unreadable(place, f"is nested deeper than {reading.DEEPEST}", "keep the values of the run")
    return cells


def as_text(value: object) -> str:
    """A value as a cell; empty where it is none."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > 1024:
        return ""
    text = repr(value) if isinstance(value, int | float) else str(value).strip()
    return text if len(text) <= LONGEST_CELL and text.lower() not in NOT_MEASURED else ""


def add_point(curves: dict[str, list[tuple[float, float]]], name: str, step: float, value: float) -> None:
    """Add a point to a curve, which has MOST_POINTS at most."""
    curve = curves.setdefault(name, [])
    if len(curve) == MOST_POINTS:
        del curve[::2]
    curve.append((step, value))


def is_of_a_step(metric: str) -> bool:
    """Whether a metric is not the run's but a step's: the last rate of a schedule is not the rate which the run was given."""
    return re.split(r"[./|]", metric.lower())[-1].startswith(("lr", "learning_rate"))


def digest_of(parts: Iterable[tuple[str, str]]) -> str:
    """Twelve hexadecimal digits of names and texts, whatever their order."""
    lines = "\n".join(f"{len(name)} {name} {len(text)} {text}" for name, text in sorted(parts))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def json_of(path: Path, most_bytes: int) -> dict[str, object]:
    """The JSON object of a file as Python's own tools write it: NaN and infinity are losses there.

    Raises TelemetryError: JPO-E150, it is none.
    """
    text = text_of(path, most_bytes)
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise unreadable(path, "is JSON nested too deep") from error
    except json.JSONDecodeError as error:
        remedy = "was it cut off? name what the tool wrote, whole"
        raise unreadable(f"{path}:{error.lineno}", "is not JSON", remedy) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise unreadable(path, "contains a number with thousands of digits") from error
    if not isinstance(document, dict):
        raise unreadable(path, "is not a JSON object")
    return document


def joined(sources: Sequence[ForeignRuns]) -> ForeignRuns:
    """Several files of one tool as one source, so that one map of columns holds for all of them."""
    first, *others = sources
    return replace(
        first,
        place=first.place if not others else f"{first.place} and {len(others)} more",
        runs=tuple(run for source in sources for run in source.runs),
        skipped=tuple(skipped for source in sources for skipped in source.skipped),
        notes=tuple(dict.fromkeys(note for source in sources for note in source.notes)),
    )
