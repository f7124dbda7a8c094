"""Phases and resources over time as lines of text, for a terminal: one character for each of some samples."""

from collections.abc import Iterator

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import ExecutionTrace, Floats, Traces, in_parts

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEVELS = "▁▂▃▄▅▆▇█"
LONGEST = 56
"""Characters of a line, with room for names in a terminal of 80 columns; of longer executions samples are left out evenly."""
MOST = 12


def phase_lines(traces: Traces, phases: Ints) -> Iterator[tuple[str, str]]:
    for execution, own in _each(traces, phases):
        yield execution.name, "".join(LETTERS[phase % len(LETTERS)] for phase in _some(own))


def resource_lines(traces: Traces, phases: Ints) -> Iterator[tuple[str, str]]:
    """The same with a line for each feature above it, from nothing to the execution's own peak."""
    for execution, own in _each(traces, phases):
        for feature, used in zip(traces.features, execution.values.T, strict=True):
            yield f"{execution.name} {feature}", _line(used)
        yield f"{execution.name} phase", "".join(LETTERS[phase % len(LETTERS)] for phase in _some(own))


def _each(traces: Traces, phases: Ints) -> list[tuple[ExecutionTrace, Ints]]:
    return list(zip(traces.executions[:MOST], in_parts(phases, traces.lengths[:MOST]), strict=True))


def _some(values: Floats | Ints) -> Floats | Ints:
    return values[:: -(-len(values) // LONGEST)]


def _line(used: Floats) -> str:
    shares = used / max(float(used.max()), 1e-12)
    return "".join(LEVELS[min(int(share * len(LEVELS)), len(LEVELS) - 1)] for share in _some(shares))
