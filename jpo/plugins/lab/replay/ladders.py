"""Ladders of the knobs: each configuration as its step on every knob."""

from collections.abc import Mapping, Sequence

import numpy as np

from jpo.records import Floats, Ints


def values_of(configurations: Sequence[Mapping[str, float]]) -> Floats:
    """The values of configurations, one column per knob; shape (K, P)."""
    return np.array([list(configuration.values()) for configuration in configurations], dtype=np.float64)


def steps_of(configurations: Sequence[Mapping[str, float]]) -> Ints:
    """Steps of configurations: the rank of each value among all values of its knob, ascending from 0; shape (K, P)."""
    columns = [np.unique(column, return_inverse=True)[1] for column in values_of(configurations).T]
    return np.stack(columns, axis=1).astype(np.int64)  # (K, P)


def scaled(configurations: Sequence[Mapping[str, float]]) -> Floats:
    """Values scaled to 0..1 per knob, in log2; a knob that can be 0 (GPUs) is scaled without the logarithm; shape (K, P)."""
    values = values_of(configurations)
    positive = (values > 0).all(axis=0)
    logs = np.where(positive, np.log2(np.where(positive, values, 1.0)), values)
    low, high = logs.min(axis=0), logs.max(axis=0)
    return np.asarray((logs - low) / np.where(high > low, high - low, 1.0))


def next_step(steps: Ints, row: int, knob: int, direction: int) -> int | None:
    """The row one step up (+1) or down (-1) in one knob and equal to `row` in the others; None where there is none.

    Steps without such a configuration are skipped.
    """
    same_otherwise = np.delete(steps == steps[row], knob, axis=1).all(axis=1)
    steps_up = direction * (steps[:, knob] - steps[row, knob])
    rows = np.flatnonzero(same_otherwise & (steps_up > 0))
    return int(rows[np.argmin(steps_up[rows])]) if len(rows) else None
