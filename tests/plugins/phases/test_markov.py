from __future__ import annotations

import numpy as np
import pytest
from phase_traces import made_traces
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from jpo.plugins.phases.markov import MarkovPhases
from jpo.plugins.phases.traces import CPU, MEMORY, Traces


@pytest.mark.parametrize(("noise", "least"), [(1.0, 0.95), (2.0, 0.75)])
def test_phases_of_made_runs_are_found_through_noise(noise: float, least: float) -> None:
    traces, true = made_traces(runs=8, noise=noise, seed=3)
    found = MarkovPhases(names=traces.features).fit_predict(traces.stacked, lengths=traces.lengths)
    assert adjusted_rand_score(true, found) >= least


def test_the_conventions_of_scikit_learn_hold(traces: Traces) -> None:
    estimator = clone(MarkovPhases(n_phases=4, names=(CPU, MEMORY), random_state=3))
    assert estimator.get_params() == {"n_phases": 4, "names": (CPU, MEMORY), "random_state": 3}
    assert estimator.set_params(n_phases=5).fit(traces.stacked, lengths=traces.lengths) is estimator
    n = traces.samples
    assert estimator.predict(traces.stacked, traces.lengths).shape == (n,)
    assert estimator.transform(traces.stacked).shape == (n, 5)
    assert np.allclose(estimator.predict_proba(traces.stacked, traces.lengths).sum(1), 1)
    assert np.isfinite(estimator.score(traces.stacked, lengths=traces.lengths))


def test_the_same_seed_finds_the_same(traces: Traces) -> None:
    one, other = (MarkovPhases(random_state=1).fit(traces.stacked, lengths=traces.lengths) for _ in range(2))
    assert (one.chain_.transitions == other.chain_.transitions).all()


def test_the_means_are_the_centres_of_the_levels(traces: Traces) -> None:
    estimator = MarkovPhases(n_phases=5, names=traces.features).fit(traces.stacked, lengths=traces.lengths)
    levels = estimator.chain_.means * estimator.scaler_.scale + estimator.scaler_.centre
    assert levels[0, 0] == pytest.approx(0.1, abs=0.15)  # init comes first
    assert levels[:, 0].max() == pytest.approx(3.0, rel=0.1)
