from __future__ import annotations

import numpy as np
from phase_traces import made_traces
from sklearn.metrics import adjusted_rand_score

from jpo.plugins.phases.fit import FitOptions, fit_phases
from jpo.plugins.phases.methods.hmm import fit_hmm
from jpo.plugins.phases.traces import Traces


def test_a_gaussian_model_finds_made_phases() -> None:
    traces, true = made_traces(runs=6, noise=1.0)
    assert adjusted_rand_score(true, fit_phases(traces, FitOptions("hmm")).predict(traces)) > 0.9


def test_probabilities_are_some_even_of_what_never_happened(traces: Traces) -> None:
    scaled = np.r_[np.zeros((20, 1)), np.full((20, 1), 9.0)]
    chain = fit_hmm(scaled, np.repeat([0, 1], 20), [40], 0)
    assert (chain.transitions > 0).all()
    assert np.allclose(chain.transitions.sum(1), 1)
    assert np.isclose(chain.start.sum(), 1)
