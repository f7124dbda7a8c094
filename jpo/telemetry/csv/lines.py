"""Lines of one CSV log (format: log.py), taken in one by one, whether read at once or while they are written.

Of the rows only the last values, the longest pause and a thinned learning curve are kept: a log of any length takes the same
memory.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import TelemetryError, quoted
from jpo.files.reading import number, number_or_nan
from jpo.records import MEASURED, PARAMETERS, Identity, Quality
from jpo.telemetry import contract

STEPS = ("step", "steps", "global_step")
"""Columns in which others count optimiser steps; what is in them is nothing that a log must have."""
DURATIONS = ("duration_seconds", "duration")
"""Keys under which others say how long a run took."""
LOSSES = ("train_loss", "val_loss")
FEWEST_ROWS = 4
"""Rows after which a trend says something."""
RISING = 0.9
"""Share of the steps up from which a loss rises all the time."""
PERCENT = 100.0
COLUMNS = ("time", "epoch", "samples", "train_loss", "val_loss")
OPTIONAL = ("val_accuracy",)
"""Columns which only some logs have, before the metrics of the user's own."""
LONGEST_LINE = 64 * 2**10
"""Bytes; no row of a log is longer: a file without line breaks is something else."""
PAUSES = 3.0
"""An epoch of ten minutes writes one row in ten minutes: only a job that is silent for several of its pauses has ended."""
MOST_LOSSES = 1000
"""Validation losses that are kept; of more, each second one of the earlier is left out."""
FIRST_PAUSE_SECONDS = 3600.0
"""The longest silence while it is not known how long an epoch takes."""


@dataclass(slots=True)
class Trends:
    """How the rows of a log went: what is needed of them, in the same memory for any number of them.

    Attributes:
        first, last: by column, the first and the last value; of losses finite ones.
        most: by loss, the highest finite value.
        up, steps: by loss, how often it rose, and how often it could.
        line: of the last row.
        back_line: of the first row whose time is before the one above it; 0: none.
        nan_line, nans: of the first row with a loss that is no number, and how many rows have one.
    """

    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    up: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    line: int = 0
    back_line: int = 0
    nan_line: int = 0
    nans: int = 0

    def take(self, row: Mapping[str, float], line: int) -> None:
        self.line = line
        if not self.back_line and row.get("time", math.inf) < self.last.get("time", -math.inf):
            self.back_line = line
        lost = False
        for name, value in row.items():
            if name in LOSSES:
                if not math.isfinite(value):
                    lost = True
                    continue
                if name in self.last:
                    self.steps[name] = self.steps.get(name, 0) + 1
                    self.up[name] = self.up.get(name, 0) + (value > self.last[name])
                self.most[name] = max(value, self.most.get(name, value))
            self.first.setdefault(name, value)
            self.last[name] = value
        if lost:
            self.nans += 1
            self.nan_line = self.nan_line or line

    def looks_like_accuracy(self, name: str) -> bool:
        """Whether a loss rises from row to row towards 1, or 100, and never beyond."""
        steps, first, last = self.steps.get(name, 0), self.first.get(name, 0.0), self.last.get(name, 0.0)
        top = 1.0 if self.most.get(name, 0.0) <= 1 else PERCENT
        rises = steps + 1 >= FEWEST_ROWS and self.up[name] >= RISING * steps
        return rises and first >= 0 and 0.5 * top <= last and self.most[name] <= top and last - first >= 0.1 * top


@dataclass(slots=True)
class Log:
    """Contents of a log so far; `take` adds the next line.

    Attributes:
        head: its `# key=value` lines.
        names: its columns; empty before they are named.
        latest: by column, the last value that was measured.
        longest_pause: seconds between two rows, or between start and first row; None while there are no two such times.
        curves: by column of a quality of the model, epochs done and value, of MOST_LOSSES rows at most.
        wanted: metrics of the user's own that are read, besides those which the log itself names (`# metrics=f1,auc`).
    """

    path: Path
    head: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    latest: dict[str, float] = field(default_factory=dict)
    lines: int = 0
    longest_pause: float | None = None
    trends: Trends = field(default_factory=Trends)
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    wanted: Mapping[str, Quality] = field(default_factory=dict)
    _places: list[tuple[str, int]] = field(default_factory=list)
    _step: int | None = None
    _head_lines: dict[str, int] = field(default_factory=dict)

    def take(self, line: str) -> dict[str, float] | None:
        """Take one more line, without its line break; returns the measured values of known columns if it is a row.

        TelemetryError JPO-E110 names the line.
        """
        self.lines += 1
        if len(line) > LONGEST_LINE:
            raise unreadable(self.path, f"line {self.lines} is longer than {LONGEST_LINE // 2**10} KiB")
        line = line.strip()
        if line.startswith("#"):
            key, equals, value = (part.strip() for part in line.lstrip("#").partition("="))
            if equals and key == "metrics":
                self.head[key] = value  # a later line names all, also those that came later
            elif equals and self.head.setdefault(key, value) != value:
                finding = f"{key} is already {quoted(self.head[key])} above; one log is one run"
                raise unreadable(self.path, f"line {self.lines}: {finding}")
            self._head_lines.setdefault(key, self.lines)
        elif line and (not self.names or line.startswith("time,")):  # once more where a column came later
            self.names = [name.strip() for name in line.split(",")]
            if "time" not in self.names or len(set(self.names)) != len(self.names):
                raise unreadable(self.path, f"line {self.lines}: the first row must name the columns")
            known = {*COLUMNS, *OPTIONAL, *self.metric_names}
            self._places = [(name, place) for place, name in enumerate(self.names) if name in known]
            self._step = next((place for place, name in enumerate(self.names) if name in STEPS), None)
        elif line:
            return self._row(line)
        return None

    def _row(self, line: str) -> dict[str, float]:
        cells = line.split(",")
        if len(cells) != len(self.names):
            raise unreadable(self.path, f"line {self.lines}: {len(cells)} cells under {len(self.names)} columns")
        row = {}
        for name, place in self._places:
            cell = cells[place]
            if cell and not cell.isspace():
                try:
                    row[name] = number(cell.strip())
                except ValueError as error:
                    raise _no_number(f"line {self.lines}: {name}", cell.strip(), self.path) from error
        if "time" in row:
            if not math.isfinite(row["time"]):
                raise unreadable(self.path, f"line {self.lines}: time is not finite")
            before = self.latest["time"] if "time" in self.latest else self.number("start")
            if before is not None:
                self.longest_pause = max(self.longest_pause or 0.0, row["time"] - before)
        self.latest |= row
        self.trends.take(row if self._step is None else row | _optional("step", cells[self._step]), self.lines)
        for name in (name for name in ("val_loss", "val_accuracy", *self.wanted) if name in row and "epoch" in self.latest):
            curve = self.curves.setdefault(name, [])
            if len(curve) == MOST_LOSSES:
                del curve[::2]
            curve.append((self.latest["epoch"], row[name]))
        return row

    @property
    def metric_names(self) -> list[str]:
        own = [name.strip() for name in self.head.get("metrics", "").split(",")]
        return [name for name in dict.fromkeys((*self.wanted, *own)) if name and name not in (*COLUMNS, *MEASURED, *PARAMETERS)]

    @property
    def closed(self) -> bool:
        """Whether the job itself reported the end of its run."""
        return {"end", "status"} <= self.head.keys()

    @property
    def longest_silence_seconds(self) -> float:
        """How long it may be silent before its run counts as over."""
        return max(contract.STALE_SECONDS, FIRST_PAUSE_SECONDS if self.longest_pause is None else PAUSES * self.longest_pause)

    def silent(self, now: float) -> bool:
        """Whether the last row is so old that no further one will come."""
        last = self.latest.get("time")
        return last is not None and now - last > self.longest_silence_seconds

    @property
    def run_id(self) -> str:
        """The run id; TelemetryError JPO-E110 if the log has none."""
        return self._required("run_id")

    @property
    def identity(self) -> Identity:
        """The workload; TelemetryError JPO-E110 if the log does not name it."""
        job = (self._required("dataset"), self._required("model"), self._required("framework"))
        return Identity(*job, self.head.get("hardware") or None)

    def number(self, key: str) -> float | None:
        """The number of a `# key=` line; None when it is absent or empty."""
        text = self.head.get(key)
        try:
            return number(text) if text else None
        except ValueError as error:
            raise _no_number(f"# {key}=", str(text), self.path) from error

    def place_of(self, key: str) -> str:
        """Where a `# key=` line is, for messages."""
        return f"# {key}= in line {self._head_lines[key]}" if key in self._head_lines else f"# {key}="

    @property
    def stated_duration(self) -> tuple[str, float] | None:
        """How long the run took as the log says besides start and end: under which key, and seconds."""
        found = ((key, _optional(key, self.head[key])) for key in DURATIONS if key in self.head)
        return next(((key, number[key]) for key, number in found if number), None)

    def _required(self, key: str) -> str:
        if not self.head.get(key):
            raise unreadable(self.path, f"has no line '# {key}=...'")
        return self.head[key]


def _optional(name: str, text: str) -> dict[str, float]:
    """A number that a log need not have; nothing where it is none."""
    value = number_or_nan(text.strip())
    return {name: value} if math.isfinite(value) else {}


def _no_number(what: str, text: str, path: Path) -> TelemetryError:
    return unreadable(path, f"{what} {quoted(text)} is not a number")


def unreadable(
    path: Path, finding: str, remedy: str = f"a log has '# key=value' lines, then {','.join(COLUMNS)}"
) -> TelemetryError:
    """JPO-E110 for a log that cannot be read; the default remedy says what a log contains."""
    return TelemetryError(str(path), finding, remedy, code="JPO-E110")
