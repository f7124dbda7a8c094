"""The Standard Workload Format of the Parallel Workloads Archive: one job per line, 18 columns, -1 = unknown.

The rules of reading are in docs/plugins/cluster.md. Memory (columns 7 and 10) is for options files of HDeepRM alone.

Source: Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", JSSPP 1999;
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
"""

import codecs
import gzip
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.files.reading import number, opened
from jpo.plugins.cluster.workload.jobs import JobTable, Seconds, sorted_jobs

COLUMNS = (
    *("job id", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory"),
    *("requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue"),
    *("partition", "preceding job", "think time"),
)
WHOLE = (0, 4, 7, 11)
"""Columns that count something: job id, processors, user."""
MUST_BE_KNOWN = (0, 1)
LONGEST_LINE = 1 << 16
MOST_JOBS = 10_000_000
"""The archive's largest log has 3.5 million."""
LARGEST = 2.0**53
"""Beyond it, a float does not tell whole numbers apart."""
UNIX_SECONDS = 1e8
"""March 1973; a log that counts from its own start would be three years long."""
HEADER = re.compile(r";\s*(MaxProcs|MaxNodes|UnixStartTime)\s*:\s*([0-9]{1,12})\s*$")


@dataclass(frozen=True, slots=True)
class SwfLog:
    """What a log holds.

    Attributes:
        lines: where each job of the table stands in the file, from 1.
        machine_processors: MaxProcs of the header, else MaxNodes; None: it says neither.
        never_ran: jobs left out because they have no run time or no processors.
        memory_kb: by job, of each processor: requested (column 10), else used (column 7), else 0.
        counted_from: the moment which submit times are counted from; 0: as the file has them.
    """

    jobs: JobTable
    lines: tuple[int, ...]
    machine_processors: int | None
    never_ran: int
    counted_from: float
    memory_kb: Seconds


def read_swf(path: Path, *, first: int | None = None) -> SwfLog:
    """A log, plain or compressed by gzip; `first`: at most so many jobs, the earliest; None: all.

    Raises UsageError: JPO-E740, the file cannot be read or a line is malformed; names line and column.
    """
    header: dict[str, int] = {}
    rows: list[tuple[float, ...]] = []
    lines: list[int] = []
    never_ran = 0
    with opened(path, lambda finding: malformed(str(path), finding)) as file:
        for line_number, line in _lines(file, path):
            if line.startswith(";"):
                if found := HEADER.match(line):
                    header[found[1]] = int(found[2])
                continue
            row = _row(line, path, line_number)
            if row[3] <= 0 or max(row[4], row[7]) <= 0:
                never_ran += 1
                continue
            rows.append(row)
            lines.append(line_number)
            if len(rows) > MOST_JOBS:
                raise malformed(str(path), f"has more than {MOST_JOBS} jobs", "cut it into parts")
    if not rows:
        raise malformed(str(path), "has no job that ran", "an SWF log has one job of 18 columns per line")
    table, origin = _table(rows, header.get("UnixStartTime"))
    order = np.lexsort(([row[0] for row in rows], [row[1] for row in rows]))
    keep = slice(None, first)
    machine = header.get("MaxProcs") or header.get("MaxNodes")
    memory = np.array([max(row[9] if row[9] >= 0 else row[6], 0.0) for row in rows])[order][keep]
    return SwfLog(table.rows(keep), tuple(lines[place] for place in order[keep]), machine, never_ran, origin, memory)


def malformed(place: str, finding: str, remedy: str = "") -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E740")


def _table(rows: list[tuple[float, ...]], unix_start: int | None) -> tuple[JobTable, float]:
    columns = np.array([(row[0], row[1], row[3], row[4], row[7], row[8], row[11]) for row in rows], dtype=np.float64).T
    ids, submit, run, allocated, requested_processors, requested, users = columns
    first = float(submit.min())
    origin = 0.0
    if first >= UNIX_SECONDS:
        origin = float(unix_start) if unix_start is not None and UNIX_SECONDS <= unix_start <= first else first
    processors = np.maximum(allocated, requested_processors).astype(np.int64)
    requested = np.where(requested > 0, requested, run)
    return sorted_jobs(ids.astype(np.int64), submit - origin, run, requested, processors, users.astype(np.int64)), origin


def _lines(file: BufferedReader, path: Path) -> Iterator[tuple[int, str]]:
    """The lines that say something, numbered from 1."""
    compressed = file.peek(2)[:2] == b"\x1f\x8b"
    stream = gzip.GzipFile(fileobj=file) if compressed else file
    line_number = 0
    try:
        while data := stream.readline(LONGEST_LINE + 1):
            line_number += 1
            if len(data) > LONGEST_LINE:
                raise malformed(f"{path}:{line_number}", f"is longer than {LONGEST_LINE} characters", "is it an SWF log?")
            if line_number == 1:
                data = data.removeprefix(codecs.BOM_UTF8)
            if line := data.decode("ascii", "replace").strip():
                if "\r" in line:
                    finding = "has a carriage return within the line"
                    raise malformed(f"{path}:{line_number}", finding, "end lines by \\n or \\r\\n")
                yield line_number, line
    except (OSError, EOFError, zlib.error) as error:
        raise malformed(f"{path}:{line_number + 1}", f"cannot be read ({error})") from error


def _row(line: str, path: Path, line_number: int) -> tuple[float, ...]:
    texts = line.split()
    try:
        row = tuple(map(float, texts[: len(COLUMNS)]))
    except ValueError:
        row = ()
    # A plain line is told at once: 18 finite numbers, none negative but for -1, in digits as everybody writes them.
    if len(row) == len(COLUMNS) and line.isascii() and "_" not in line and _plain(row):
        return row
    place, finding, remedy = _fault(texts)
    raise malformed(f"{path}:{line_number}", f"column {place + 1} ({COLUMNS[place]}) {finding}", remedy)


def _plain(row: tuple[float, ...]) -> bool:
    return (
        all(value >= 0 or value == -1 for value in row)
        and max(row) <= LARGEST
        and min(row[0], row[1]) >= 0
        and all(row[place].is_integer() for place in WHOLE)
    )


def _fault(texts: list[str]) -> tuple[int, str, str]:
    """The first column that is wrong: its place from 0, the finding and the remedy."""
    for place, text in enumerate(texts[: len(COLUMNS)]):
        try:
            value = number(text.removeprefix("+"))
        except ValueError:
            return place, f"is {quoted(text)}, not a number", "write a number, or -1 where it is unknown"
        if not math.isfinite(value) or value > LARGEST:
            return place, f"is {text:.40}, which is neither a time nor a count", "write a number, or -1 where it is unknown"
        if value < 0 and (value != -1 or place in MUST_BE_KNOWN):
            remedy = "every job has one, from 0" if place in MUST_BE_KNOWN else "only -1 may be, where it is unknown"
            return place, f"is {text:.40}, which is negative", remedy
        if place in WHOLE and not value.is_integer():
            return place, f"is {text:.40}, not a whole number", "write a whole number, or -1 where it is unknown"
    finding = f"is missing: the line has {len(texts)} of 18 columns"
    return min(len(texts), len(COLUMNS) - 1), finding, "write -1 where it is unknown"
