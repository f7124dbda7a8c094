from __future__ import annotations

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.features import fit_scaler
from jpo.plugins.phases.traces import CPU, MEMORY


def test_memory_counts_by_its_logarithm_and_cpu_does_not() -> None:
    values = np.array([[1.0, 1e8], [2.0, 1e9], [3.0, 1e10], [1.5, 1e9]])
    scaled = fit_scaler(values, (CPU, MEMORY)).transform(values)
    assert np.allclose(np.diff(scaled[:3], axis=0)[0], np.diff(scaled[:3], axis=0)[1])


def test_what_is_constant_or_said_already_is_left_out_with_a_note() -> None:
    rng = np.random.default_rng(0)
    cpu = rng.random(60)
    values = np.stack([cpu, np.full(60, 4.0), cpu**3 * 25, rng.random(60)], axis=1)
    scaler = fit_scaler(values, (CPU, "limit", "cpu_pct", "other"))
    assert scaler.kept == (0, 3)
    assert scaler.notes == ("limit is constant: left out", "cpu_pct says nearly what cpu_cores says: left out")


def test_steady_usage_has_no_levels_that_only_its_collector_sees() -> None:
    values = np.stack([np.tile([0.96, 1.0, 1.04], 30), np.exp(np.linspace(19, 22, 90))], axis=1)
    scaled = fit_scaler(values, (CPU, MEMORY)).transform(values)
    assert np.ptp(scaled[:, 0]) < 0.5 < np.ptp(scaled[:, 1])


def test_a_long_plateau_does_not_make_the_scale_nothing() -> None:
    values = np.r_[np.full(98, 1.0), 2.0, 3.0][:, None]
    assert fit_scaler(values, (CPU,)).scale[0] > 0.05


def test_traces_in_which_nothing_changes_are_refused() -> None:
    with pytest.raises(UsageError, match="every feature is constant"):
        fit_scaler(np.ones((10, 2)), (CPU, MEMORY))
