"""Traces of resources: what each execution of a container used at each sample; files/ and recorded.py read them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jpo.errors import UsageError
from jpo.wording.numbers import counted

Floats = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)
SHOWN_COLUMNS = 12
"""Of a file, in a message."""

CPU, MEMORY = "cpu_cores", "memory_bytes"
GPU = "gpu_utilisation"
GPU_MEMORY = "gpu_memory_bytes"
ALWAYS = (CPU, MEMORY)
"""Features that traces must have unless others are named; GPU columns are taken where they are."""


@dataclass(frozen=True, eq=False, slots=True)
class ExecutionTrace:
    """One execution's samples.

    Attributes:
        name: its id.
        times: shape (n,), Unix seconds, strictly ascending; n is at least 2.
        values: shape (n, features), what was used, finite and not negative.
    """

    name: str
    times: Floats
    values: Floats

    def __post_init__(self) -> None:
        assert self.times.shape == self.values.shape[:1]
        assert len(self.times) >= 2

    @property
    def seconds(self) -> float:
        return float(self.times[-1] - self.times[0])

    def part(self, begin: int, end: int) -> "ExecutionTrace":
        """Its samples from begin to end, at least two, as an execution of its own."""
        return ExecutionTrace(self.name, self.times[begin:end], self.values[begin:end])


def in_parts(rows: NDArray[Number], lengths: Sequence[int]) -> list[NDArray[Number]]:
    """Rows as views of so many each; numpy's `split` takes six times as long for a million of them."""
    return [rows[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]


def intervals(times: Floats, lengths: Sequence[int]) -> Floats:
    """Seconds between each two samples of an execution."""
    return np.delete(np.diff(times), np.cumsum(lengths)[:-1] - 1)


@dataclass(frozen=True, eq=False)
class Traces:
    """Executions with the same features; there may be a million, and what is known of all at once is found once.

    Attributes:
        features: names of the columns of every execution's values; what ends in `_bytes` is a size.
        executions: at least one, in the order in which they begin in the file.
        place: the file, for messages.
        notes: what was converted, or looks odd.
    """

    features: tuple[str, ...]
    executions: tuple[ExecutionTrace, ...]
    place: str = "traces"
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        return sum(self.lengths)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(execution.times) for execution in self.executions)

    @property
    def extent(self) -> str:
        """How much it is, in words."""
        return f"{counted(len(self.executions), 'execution')}, {counted(self.samples, 'sample')}"

    def split(self, rows: NDArray[Number]) -> list[NDArray[Number]]:
        """What is known of all samples, execution by execution."""
        return in_parts(rows, self.lengths)

    @cached_property
    def stacked(self) -> Floats:
        """All values, shape (samples, features), execution after execution."""
        return np.concatenate([execution.values for execution in self.executions])

    @cached_property
    def times(self) -> Floats:
        """The times of all samples, execution after execution."""
        return np.concatenate([execution.times for execution in self.executions])

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """Where each execution begins among all samples."""
        each = np.array(self.lengths, dtype=np.int64)
        return np.cumsum(each) - each

    def only(self, executions: Sequence[str]) -> "Traces":
        """The same with these executions alone; with all where none is named.

        Raises UsageError: JPO-E734, there is none of that name.
        """
        known = {execution.name: execution for execution in self.executions}
        for execution in executions:
            if execution not in known:
                some = ", ".join([*known][:SHOWN_COLUMNS])
                raise UsageError(self.place, f"has no execution {execution!r:.80}", f"it has {some}", code="JPO-E734")
        return replace(self, executions=tuple(known[execution] for execution in executions)) if executions else self

    def narrowed(self, features: Sequence[str]) -> "Traces":
        """The same with these features alone, in this order. Raises UsageError: JPO-E731, one of them was not read."""
        if tuple(features) == self.features:
            return self
        for feature in features:
            if feature not in self.features:
                finding = f"has no feature {feature}, which is needed here (it has {', '.join(self.features)})"
                raise UsageError(self.place, finding, f"name its column: --column {feature}=HEADER", code="JPO-E731")
        at = [self.features.index(feature) for feature in features]
        executions = tuple(
            ExecutionTrace(execution.name, execution.times, execution.values[:, at]) for execution in self.executions
        )
        return replace(self, features=tuple(features), executions=executions)
