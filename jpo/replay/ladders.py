"""Knobs as ladders: each configuration by the step of every knob on which it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jpo.records import Floats, Ints


def values_of(configurations: Sequence[Mapping[str, float]]) -> Floats:
    """Shape (K, P): the values, one column per knob."""
    return np.array([list(one.values()) for one in configurations], dtype=np.float64)


def steps_of(configurations: Sequence[Mapping[str, float]]) -> Ints:
    """Shape (K, P): position of each value among all values of its knob, ascending from 0."""
    columns = [np.unique(column, return_inverse=True)[1] for column in values_of(configurations).T]
    return np.stack(columns, axis=1).astype(np.int64)  # (K, P)


def scaled(configurations: Sequence[Mapping[str, float]]) -> Floats:
    """Shape (K, P): log2 of the values, each knob from 0 to 1; a knob that can be 0 (GPUs) is not taken the log of."""
    values = values_of(configurations)
    positive = (values > 0).all(axis=0)
    logs = np.where(positive, np.log2(np.where(positive, values, 1.0)), values)
    low, high = logs.min(axis=0), logs.max(axis=0)
    return np.asarray((logs - low) / np.where(high > low, high - low, 1.0))


def next_step(steps: Ints, row: int, knob: int, direction: int) -> int | None:
    """The row one step up (+1) or down (-1) in one knob and like `row` in the others; None where there is none.

    Steps on which no such configuration exists are passed over.
    """
    others = np.delete(steps == steps[row], knob, axis=1).all(axis=1)
    ahead = direction * (steps[:, knob] - steps[row, knob])
    rows = np.flatnonzero(others & (ahead > 0))
    return int(rows[np.argmin(ahead[rows])]) if len(rows) else None
