from __future__ import annotations

import numpy as np
from phase_traces import made_traces
from sklearn.metrics import adjusted_rand_score

from jpo.plugins.phases.fit import FitOptions, fit_phases
from jpo.plugins.phases.methods.changepoint import levelled, segments
from jpo.plugins.phases.methods.labels import phases_of

STEPS = np.repeat([0.0, 5.0, 1.0], 20)[:, None] + np.random.default_rng(0).normal(0, 0.3, (60, 1))


def test_segments_end_where_the_level_changes_and_where_an_execution_does() -> None:
    assert (np.flatnonzero(np.diff(segments(np.r_[STEPS, STEPS], [60, 60]))) + 1).tolist() == [20, 40, 60, 80, 100]


def test_samples_are_levelled_within_their_segment() -> None:
    assert np.unique(levelled(STEPS, [60])).size == 3


def test_short_executions_are_one_segment() -> None:
    assert segments(np.array([[0.0], [9.0], [0.0], [1.0], [0.0]]), [2, 3]).tolist() == [0, 0, 1, 1, 1]


def test_made_phases_are_found() -> None:
    traces, true = made_traces(runs=6, noise=1.0)
    assert adjusted_rand_score(true, phases_of(fit_phases(traces, FitOptions("changepoint")), traces)) > 0.9
