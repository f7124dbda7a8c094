"""The figures by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.plugins.lab.replay.metrics import Estimate, Score, over_workloads, score
from jpo.plugins.lab.replay.play import Replay


def replay(*charges: float, delivered: int | None = None, stopped: int = 0) -> Replay:
    n = len(charges)
    ends = np.arange(n)
    return Replay(np.zeros(n, dtype=np.int64), np.array(charges), ends < (n if delivered is None else delivered), ends < stopped)


def test_the_curve_is_the_mean_cost_of_the_runs_so_far() -> None:
    result = score([replay(4.0, 2.0), replay(2.0, 2.0)], [replay(4.0, 4.0)] * 2)
    assert [point.mean for point in result.curve] == [3.0, 2.5]
    assert result.curve[0].error == pytest.approx(1.0)  # sd sqrt(2) / sqrt(2)


def test_cost_per_model_divides_by_the_runs_that_delivered() -> None:
    result = score([replay(2.0, 4.0, delivered=1), replay(2.0, 2.0)], [replay(2.0, 2.0)] * 2)
    assert result.per_model.mean == pytest.approx(10 / 3)
    residuals = np.array([6 - 10 / 3, 4 - 20 / 3])
    assert result.per_model.error == pytest.approx(residuals.std(ddof=1) / math.sqrt(2) / 1.5)


def test_a_policy_that_never_delivers_has_an_infinite_cost_per_model() -> None:
    assert score([replay(2.0, delivered=0)], [replay(1.0)]).per_model.mean == math.inf


def test_harm_is_more_than_five_percent_above_never_changing_with_the_same_luck() -> None:
    keeping = [replay(1.0, 1.0), replay(2.0, 2.0), replay(1.0, 1.0), replay(1.0, 1.0)]
    result = score([replay(1.0, 1.09), replay(1.0, 1.2), replay(1.0, 1.2), replay(1.0, 1.0, stopped=1)], keeping)
    assert result.harm.mean == 0.25
    assert result.stopped.mean == 0.125


def test_harm_looks_at_the_first_ten_runs_only() -> None:
    result = score([replay(*[1.0] * 10, 9.0)], [replay(*[1.0] * 11)])
    assert result.harm.mean == 0.0


def test_one_replay_gives_no_standard_error() -> None:
    assert math.isnan(score([replay(1.0)], [replay(1.0)]).curve[0].error)


def test_workloads_are_combined_by_the_geometric_mean_of_costs_and_the_mean_of_shares() -> None:
    cheap = Score((Estimate(1.0, 0.1),), Estimate(2.0, 0.0), Estimate(0.0, 0.0), Estimate(0.2, 0.3))
    dear = Score((Estimate(4.0, 0.4),), Estimate(8.0, 0.0), Estimate(0.5, 0.0), Estimate(0.4, 0.4))
    both = over_workloads([cheap, dear])
    assert both.curve[0].mean == pytest.approx(2.0)
    assert both.curve[0].error == pytest.approx(2.0 * math.sqrt(0.1**2 + 0.1**2) / 2)
    assert both.per_model.mean == pytest.approx(4.0)
    assert (both.stopped.mean, both.harm.mean) == (0.25, pytest.approx(0.3))
    assert both.harm.error == pytest.approx(0.25)
