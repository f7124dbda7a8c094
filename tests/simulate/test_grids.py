from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.records import PARAMETERS
from jpo.simulate.grids import random_candidates


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_grids_are_plausible(seed: int) -> None:
    grid = random_candidates(np.random.default_rng(seed))
    assert 10 <= len(grid.values) <= 150
    assert list(grid.names) == [name for name in PARAMETERS if name in grid.names]
    assert (grid.values > 0).all()
    assert len(np.unique(grid.values, axis=0)) == len(grid.values)
    assert np.isfinite(grid.log_rate).all()
    assert grid.log_rate[grid.current] == 0
    if {"batch_size", "gpus"} <= set(grid.names):
        assert (grid.values[:, grid.names.index("gpus")] <= grid.values[:, grid.names.index("batch_size")]).all()


def test_every_parameter_is_a_column_of_some_grid_and_seeds_repeat() -> None:
    seen = {name for seed in range(40) for name in random_candidates(np.random.default_rng(seed)).names}
    assert seen == set(PARAMETERS)
    first, again = (random_candidates(np.random.default_rng(5)) for _ in range(2))
    assert (first.values == again.values).all()
    assert first.current == again.current


def test_more_gpus_cost_more() -> None:
    grids = (random_candidates(np.random.default_rng(seed)) for seed in range(20))
    grid = next(grid for grid in grids if "gpus" in grid.names)
    gpus = grid.values[:, grid.names.index("gpus")]
    assert grid.log_rate[gpus == gpus.max()].mean() > grid.log_rate[gpus == gpus.min()].mean()
