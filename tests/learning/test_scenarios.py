import numpy as np
import pytest

from jpo.learning.scenarios import FURTHEST, RUNS, SCENARIOS
from jpo.records import NAMED_PREFERENCES
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates

TIME = NAMED_PREFERENCES["time"]


def scripts(name, seeds=range(20)):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        candidates = random_candidates(rng)
        yield candidates, SCENARIOS[name](candidates, draw_jobs(candidates, 1, rng), TIME, rng)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_script_determines_every_run_of_every_candidate(name):
    for candidates, script in scripts(name):
        assert script.drift.shape == script.log_rate.shape == (script.runs, len(candidates.values))
        assert np.isfinite(script.drift).all()
        assert (script.drift[0] == 0).all(), "run 0 is the reference"
        assert (script.log_rate[0] == candidates.log_rate).all()


def test_a_drift_moves_candidates_apart_and_no_jump_is_without_bounds():
    apart = [np.ptp(script.drift[-1]) for _, script in scripts("drift")]
    assert np.mean(np.array(apart) > 0.1) > 0.5
    assert max(np.abs(np.diff(script.drift, axis=0)).max() for _, script in scripts("drift")) < FURTHEST + 1


def test_horizons_and_budgets_are_known_and_within_their_ranges():
    horizons = [script for _, script in scripts("horizon")]
    assert all(script.horizon_known and 5 <= script.runs <= 30 and script.budget is None for script in horizons)
    budgets = [script for _, script in scripts("budget")]
    assert all(script.budget is not None and 0 < script.budget <= 1.3 * (script.runs - 1) for script in budgets)


def test_switched_preferences_are_time_and_cost_in_turn():
    for _, script in scripts("switched"):
        assert set(script.preferences) <= {NAMED_PREFERENCES["time"], NAMED_PREFERENCES["cost"]}
        assert len(script.preferences) == RUNS


def test_prices_change_once_at_a_known_run_and_cost_matters():
    for candidates, script in scripts("prices"):
        before, after = script.log_rate[: script.later], script.log_rate[script.later :]
        assert (before == candidates.log_rate).all()
        assert (after == after[0]).all()
        assert script.preferences[0].cost >= 0.5
