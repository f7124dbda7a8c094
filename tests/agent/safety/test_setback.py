import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety.setback import Z, outlasting, setback, worsening
from jpo.records import Identity, Note, Outcome, Preference, Run, RunStatus
from tests.asked import a_problem

TIME = Preference(1, 0, 0)
NOISE = 0.05 * math.sqrt(1 / 1 + 1 / 4)
"""Of one run today and four before."""


def test_what_took_longer_by_more_than_noise_is_a_setback(grid, belief):
    for worse, found in ((0.9 * Z * NOISE, None), (1.1 * Z * NOISE, "JPO-I842")):
        harm = setback(a_problem(grid((64, 16)), belief([[0, -worse]], runs=(1, 4), failures=(0, 0)), TIME), 1)
        assert (harm and harm.code) == found
    assert harm is not None
    assert harm.text.startswith("since then the outcome is 14% worse under your preference, more than noise explains; ")
    assert harm.text.endswith("the values before it ended well 4 times")


def test_a_watch_that_found_the_belief_too_sure_asks_for_more(grid, belief):
    believed = belief([[0, -1.1 * Z * NOISE]], runs=(1, 4), failures=(0, 0))
    assert setback(a_problem(grid((64, 16)), believed, TIME, interval_factor=1.2), 1) is None


def test_what_the_preference_does_not_weigh_is_no_setback(grid, belief):
    believed = replace(belief([[0, -0.5]], runs=(1, 4), failures=(0, 0)), log_cost=np.zeros((1, 2)))
    assert setback(a_problem(grid((64, 16)), believed, Preference(0, 1, 0)), 1) is None


@pytest.mark.parametrize(("before", "found"), [(math.log(1 / 1.05), None), (math.log(1 / 1.2), "JPO-I842")])
def test_a_worse_validation_loss_is_a_setback_although_time_is_saved(grid, belief, before, found):
    believed = belief([[0, 0.1]], runs=(2, 3), failures=(0, 0), val_loss=0.12)  # 10% faster
    harm = setback(a_problem(grid((64, 16)), replace(believed, log_loss=np.array([[0.0, before]])), TIME), 1)
    assert (harm and harm.code) == found


def test_the_noise_of_the_loss_counts_where_the_loss_does(grid, belief):
    believed = replace(belief([[0, 0]], runs=(1, 1), failures=(0, 0), val_loss=0.1), log_loss=np.array([[0.0, -0.1]]))
    worse, noise = worsening(a_problem(grid((64, 16)), replace(believed, loss_noise=0.2), TIME), 1)
    assert worse == pytest.approx(3 * (0.1 - math.log(1.02)))
    assert noise == pytest.approx(math.sqrt(2) * math.hypot(0.05, 3 * 0.2))
    assert worsening(a_problem(grid((64, 16)), replace(believed, val_loss=None), TIME), 1) == pytest.approx(
        (0, math.sqrt(2) * 0.05)
    )


def test_a_target_that_was_kept_before_is_named_with_its_numbers(grid, belief):
    believed = belief([[0, -0.01]], runs=(1, 1), failures=(0, 0))
    told = setback(a_problem(grid((64, 16)), believed, TIME), 1, broken=[("time_max", 60.0, 59.0, 61.234)])
    assert told == Note("JPO-I841", "time_max = 60 was met before it and is not met since: from 59 to 61.23")


@pytest.mark.parametrize(("failures", "found"), [((1, 0), None), ((2, 0), "JPO-I843"), ((2, 3), None)])
def test_one_failed_run_may_be_bad_luck_and_two_are_not_unless_it_failed_before_as_well(grid, belief, failures, found):
    harm = setback(a_problem(grid((64, 16)), belief([[0, 0]], runs=(0, 3), failures=failures), TIME), 1)
    assert (harm and harm.code) == found


def test_without_an_earlier_run_that_ended_well_it_is_unknown(grid, belief):
    assert setback(a_problem(grid((64, 16)), belief([[0, -5]], runs=(3, 0), failures=(0, 0)), TIME), 1) is None
    assert setback(a_problem(grid((64, 16)), belief([[0, -5]], runs=(3, 3), failures=(0, 0)), TIME), 0) is None


def test_the_loss_is_held_against_what_the_agent_found_as_the_ordinary_decision_does(grid, belief):
    believed = belief([[0, math.log(0.8), 0]], runs=(2, 2, 2), failures=(0, 0, 0), val_loss=0.1)  # before it was faster ...
    believed = replace(believed, log_loss=np.array([[0.0, 0.3, 0.0]]))  # ... and the model worse than the one that was found
    assert setback(a_problem(grid((64, 16, 32)), believed, TIME), 1) is not None
    assert setback(a_problem(grid((64, 16, 32)), believed, TIME, reference=2), 1) is None


def ended(batch, seconds, status=RunStatus.SUCCEEDED):
    return Run("r", Identity("d", "m", "f"), {"batch_size": batch}, status, None, 1e9, Outcome(duration_seconds=seconds), "csv")


def test_runs_that_were_stopped_after_longer_than_those_before_took_are_as_bad_as_failed_ones(grid, belief):
    before = [ended(16, 100), ended(16, 120)]
    stopped = [ended(64, seconds, RunStatus.STOPPED) for seconds in (90, 130, 140)]
    assert outlasting([*before, *stopped], {"batch_size": 64.0}, {"batch_size": 16.0}) == 2
    assert outlasting(stopped, {"batch_size": 64.0}, {"batch_size": 16.0}) == 0  # nothing to hold them against
    problem = a_problem(grid((64, 16)), belief([[0, 0]], runs=(0, 3), failures=(0, 0)), TIME)
    assert setback(problem, 1, outlasted=1) is None
    assert setback(problem, 1, outlasted=2) == Note("JPO-I843", "2 had to be stopped since, and none ended well; before it 3 did")
    failed = a_problem(grid((64, 16)), belief([[0, 0]], runs=(0, 3), failures=(1, 0)), TIME)
    harm = setback(failed, 1, outlasted=1)
    assert harm == Note("JPO-I843", "1 runs failed and 1 had to be stopped since, and none ended well; before it 3 did")


def test_what_fails_more_often_than_by_chance_is_undone_though_it_is_faster_when_it_ends_well(grid, belief):
    believed = belief([[-0.5, 0]], runs=(1, 3), failures=(2, 0))
    assert setback(a_problem(grid((64, 16)), believed, TIME), 1) == Note(
        "JPO-W649",
        "the values that it set failed in 2 of 3 runs (runs with other values: 0 of 3), more often than by chance",
    )


def test_nothing_goes_back_to_what_failed_as_often_as_it_ended_well(grid, belief):
    slower = belief([[0, -1]], runs=(4, 2), failures=(0, 2))
    assert setback(a_problem(grid((64, 16)), slower, TIME), 1) is None
