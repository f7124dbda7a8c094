"""Knowledge gradient of a trial: how much cheaper the best next choice is expected to become once its outcome is known.

Expected improvement counts only the case that the candidate itself turns out better. On jobs whose configurations resemble each
other a run says something about all of them, and a trial can pay off although its own candidate loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jpo.records import Bools, Floats, Ints

OUTCOMES = 5
"""Equally likely outcomes of a trial that are thought through; nine gave the same."""
SPREAD = 0.15
"""sd of ln: by how much a run of the same job may differ from what a particle says (its discrepancy and the run's noise)."""
MOST = 40
"""Candidates that are thought through; the others are far behind in expected cost and improvement."""


def knowledge_gain(cost: Floats, weights: Floats, rows: Ints, eligible: Bools) -> Floats:
    """Expected fall of the best expected cost once one more run of a candidate is known.

    Args:
        cost: shape (J, K), charged cost of a run per particle, in multiples of the incumbent's.
        weights: shape (J,), sum 1.
        rows: shape (M,), candidates that might be tried.
        eligible: shape (K,), candidates that may be chosen afterwards.

    Returns:
        Shape (M,), at least 0.

    Source: Frazier, Powell and Dayanik, "The Knowledge-Gradient Policy for Correlated Normal Beliefs", INFORMS Journal on
    Computing 2009; here over weighted particles instead of a normal distribution.
    """
    logs = np.log(cost[:, rows])  # (J, M)
    outcomes = _quantiles(logs, weights)  # (OUTCOMES, M)
    likely = np.exp(-0.5 * ((logs[None] - outcomes[:, None]) / SPREAD) ** 2) + 1e-12  # (OUTCOMES, J, M)
    joint = weights[:, None] * likely / likely.sum(axis=0)  # each particle is shared among the outcomes
    chance = joint.sum(axis=1)  # (OUTCOMES, M)
    flat = joint.transpose(0, 2, 1).reshape(-1, len(weights))  # (OUTCOMES M, J)
    best = (flat @ cost[:, eligible]).min(axis=1).reshape(chance.shape)  # chance x expected cost of the best choice then
    now = float((weights @ cost[:, eligible]).min())
    return np.asarray(np.maximum(now - best.sum(axis=0), 0.0))


def _quantiles(logs: Floats, weights: Floats) -> Floats:
    """The middle of OUTCOMES equally likely parts of each column, shape (OUTCOMES, M)."""
    order = np.argsort(logs, axis=0)
    cumulated = np.cumsum(weights[order], axis=0)  # (J, M)
    middles = (np.arange(OUTCOMES) + 0.5) / OUTCOMES
    at = np.stack([(cumulated < middle * cumulated[-1]).sum(axis=0) for middle in middles])  # (OUTCOMES, M)
    return np.asarray(np.take_along_axis(np.take_along_axis(logs, order, axis=0), np.minimum(at, len(logs) - 1), axis=0))
