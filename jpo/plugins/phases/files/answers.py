"""Answers of Prometheus to range queries: the JSON of its HTTP API, of promtool, or several of them in a list; and the text that
promtool prints where nobody asks for JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jpo.errors import quoted
from jpo.plugins.phases.files.cells import LARGEST, is_nothing, number
from jpo.plugins.phases.files.dates import LATEST
from jpo.plugins.phases.files.rows import malformed
from jpo.plugins.phases.files.series import ExportedSeries, named

ARROW = "=>"
ASK = "ask Prometheus for a range: /api/v1/query_range, or promtool query range -o json"


def read_answers(path: Path, text: str) -> list[ExportedSeries]:
    """The series of all answers in a file.

    Raises UsageError: JPO-E730, it is no such answer, or a value is no number; file, series and number of the value are named.
    """
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise malformed(str(path), "is JSON nested too deep", ASK) from error
    except ValueError as error:  # a number of thousands of digits, too
        place = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path)
        raise malformed(place, "is not JSON", ASK) from error
    results = [result for answer in (document if isinstance(document, list) else [document]) for result in _results(path, answer)]
    if not results:
        raise malformed(str(path), "has no series: nothing matched the query", "correct the query or its times")
    return [_series(path, at, result) for at, result in enumerate(results, start=1)]


def _results(path: Path, answer: Any) -> Iterator[Any]:
    """The parts of an answer; promtool writes them without what is around them."""
    if isinstance(answer, dict) and "values" in answer:
        yield answer
        return
    if isinstance(answer, dict) and answer.get("status") == "error":
        finding = f"is an error of Prometheus of type {quoted(answer.get('errorType', 'unknown'))}"
        raise malformed(str(path), finding, "correct the query: the file says what is wrong")
    data = answer.get("data", answer) if isinstance(answer, dict) else None
    kind, result = (data.get("resultType"), data.get("result")) if isinstance(data, dict) else (None, None)
    if kind != "matrix" or not isinstance(result, list):
        finding = f"is an answer of type {quoted(kind)}" if kind else "is JSON, but no answer of Prometheus"
        raise malformed(str(path), finding, ASK)
    yield from result


def is_printed(text: str) -> bool:
    """Whether a text is what promtool prints: a series, an arrow, and a line per value."""
    return text.lstrip().partition("\n")[0].rstrip().endswith(ARROW)


def read_printed(path: Path, text: str) -> list[ExportedSeries]:
    """The series of a text that promtool printed; JPO-E730 for a line that is neither a series nor a value at a time."""
    found: list[dict[str, Any]] = []
    for line, content in enumerate(text.splitlines(), start=1):
        content = content.strip()
        if content.endswith(ARROW):
            name, labels = named(content.removesuffix(ARROW))
            found.append({"metric": {**labels, "__name__": name} if name else labels, "values": []})
        elif content:
            value, at, time = content.removesuffix("]").partition(" @[")
            stamp = number(time)
            if not at or not found or stamp is None:
                raise malformed(f"{path}:{line}", f"{quoted(content)} is not a value at a time", ASK)
            found[-1]["values"].append([stamp.value, value])
    return [_series(path, at, result) for at, result in enumerate(found, start=1)]


def _series(path: Path, at: int, result: Any) -> ExportedSeries:
    place = f"{path}: series {at}"
    labels, pairs = (result.get("metric", {}), result.get("values")) if isinstance(result, dict) else ({}, None)
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()) or not isinstance(pairs, list):
        raise malformed(place, "has no metric with values", ASK)
    measured = []
    for row, pair in enumerate(pairs, start=1):
        where = f"{place}, value {row}"
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], bool) or not isinstance(pair[0], int | float):
            raise malformed(where, "is not a time with a value", ASK)
        if not abs(pair[0]) <= LATEST:  # NaN, and a whole number that no float holds
            raise malformed(where, "has a time that cannot be", ASK)
        if is_nothing(text := str(pair[1])):
            continue
        cell = number(text)
        if cell is None or cell.unit is not None or not 0 <= cell.value <= LARGEST:
            finding = f"{quoted(text)} is nothing that can be used"
            raise malformed(where, finding, "correct the query: usage is a number from 0 on")
        measured.append((float(pair[0]), cell.value))
    times, values = np.array(measured, dtype=np.float64).reshape(-1, 2).T
    if (np.diff(times) <= 0).any() or not np.isfinite(times).all():
        raise malformed(place, "has times that do not increase", ASK)
    name = labels.get("__name__", "")
    inside = ",".join(f'{label}="{text}"' for label, text in labels.items() if label != "__name__")
    return ExportedSeries(str(path), place, f"{name}{{{inside}}}", name, labels, times, values)
