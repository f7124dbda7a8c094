from __future__ import annotations

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.fit import fit_phases
from jpo.plugins.phases.model import PhaseModel, rolling_means
from jpo.plugins.phases.traces import CPU, MEMORY, Traces


def test_a_model_knows_what_it_saw(model: PhaseModel, traces: Traces) -> None:
    assert (model.executions, model.samples) == (len(traces.executions), traces.samples)
    assert model.interval_seconds == 20
    assert (model.most.ever == traces.stacked.max(0)).all()
    assert (model.most.first < model.most.ever).all()
    assert model.needs is not None


def test_features_are_found_by_name_whatever_their_order(model: PhaseModel, traces: Traces) -> None:
    turned = traces.narrowed((MEMORY, CPU))
    assert (model.predict(turned) == model.predict(traces)).all()


def test_a_missing_feature_is_named(model: PhaseModel, traces: Traces) -> None:
    with pytest.raises(UsageError, match="has no feature memory_bytes"):
        model.predict(traces.narrowed((CPU,)))


def test_without_memory_there_are_phases_and_no_needs(traces: Traces) -> None:
    model = fit_phases(traces.narrowed((CPU,)))
    assert model.needs is None
    assert model.predict(traces).shape == (traces.samples,)


def test_probabilities_of_whole_executions_and_of_samples_so_far_end_alike(model: PhaseModel, traces: Traces) -> None:
    ends = np.cumsum(traces.lengths) - 1
    assert np.allclose(model.smoothed(traces)[ends], model.filtered(traces)[ends])


def test_a_rolling_mean_is_of_the_last_ten() -> None:
    means, full = rolling_means(np.r_[5.0, 7.0, np.arange(12.0)], (2, 12))
    assert means.tolist()[:5] == [5, 6, 0, 0.5, 1]
    assert means[-1] == np.arange(2.0, 12).mean()
    assert np.flatnonzero(full).tolist() == [1, 11, 12, 13]
