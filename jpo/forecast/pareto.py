"""The Pareto front of a set of points, and its hypervolume.

All objectives are minimised; negate those that are to be maximised, the reference point included.
"""

from collections.abc import Sequence

import numpy as np

from jpo.records import Bools, Floats, Ints


def non_dominated(points: Floats) -> Bools:
    """The points on the front: no other point is at least as good in every objective and better in one.

    `points`: shape (n, m), smaller is better; n may be 0. Infinite values are compared as numbers. The result has shape (n,).
    Equal points do not dominate each other: all of them are on the front, or none. A point with a NaN (a quantity that was not
    measured) is never on it and dominates nothing.
    """
    beaten = [bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any()) for point in points]
    front: Bools = ~np.array(beaten, dtype=np.bool_) & ~np.isnan(points).any(axis=1)
    return front


def hypervolume(points: Floats, reference: "Sequence[float] | Floats") -> float:
    """The hypervolume: the space up to the reference point that the points dominate. Larger is better; no point makes it smaller.

    Args:
        points: shape (n, m) with m of at least 1, smaller is better; n may be 0.
        reference: shape (m,), finite: the worst value that counts in each objective.

    Returns the exact volume, in the product of the objectives' units. A point that is not better than the reference in every
    objective, or has a NaN, adds nothing, nor does a duplicate or a dominated point. Infinite where a point that counts is at
    -infinity.

    Raises ValueError: the shapes do not fit, or the reference point is not finite.

    Source: slicing objectives, While et al., "A Faster Algorithm for Calculating Hypervolume", IEEE Trans. Evol. Comp. 2006.
    """
    points, end = np.asarray(points, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if points.ndim != 2 or end.size == 0 or points.shape[1:] != end.shape:
        shapes = f"points of shape {points.shape} and a reference point of shape {end.shape}"
        raise ValueError(f"{shapes}; they must be (n, m) and (m,)")
    if not np.isfinite(end).all():
        raise ValueError(f"the reference point {end.tolist()} is not finite")
    inside = points[(points < end).all(axis=1)]
    if np.isneginf(inside).any():
        return float("inf")
    if len(end) > 2:  # with two objectives dominated points do no harm
        inside = inside[non_dominated(inside)]
    return _volume(np.unique(inside, axis=0), end)


def _volume(points: Floats, end: Floats) -> float:
    """The volume by slices along the last objective: each reaches to the next point, and has the volume of the points so far."""
    if len(points) == 0:
        return 0.0
    if len(end) == 1:
        return float(end[0] - points.min())
    order = points[np.argsort(points[:, -1])]
    depths = np.diff(np.append(order[:, -1], end[-1]))
    if len(end) == 2:
        return float(depths @ (end[0] - np.minimum.accumulate(order[:, 0])))
    slices = [depth * _volume(order[: last + 1, :-1], end[:-1]) for last, depth in enumerate(depths) if depth > 0]
    return float(sum(slices))


def reference_beyond(points: Floats) -> Floats:
    """The reference point beyond the worst value in each objective by a tenth of it, so that every point counts.

    `points`: shape (n, m) with n of at least 1, finite, smaller is better. The result has shape (m,). Where the worst is 0 it
    stays 0, and the hypervolume with it.
    """
    worst = points.max(axis=0)
    return np.asarray(worst + 0.1 * np.abs(worst))


def spread(points: Floats, most: int) -> Ints:
    """Rows of at most `most` points, spread evenly along the first objective, both ends included; shape (n,), ascending by it."""
    order = np.argsort(points[:, 0], kind="stable")
    if len(order) <= most:
        return order
    rows: Ints = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    return rows
