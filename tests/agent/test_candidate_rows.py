import math

import numpy as np

from jpo.agent.candidate_rows import base_row, rate_between, row_of, row_of_run, rows_of, rows_of_runs
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

CANDIDATES = Candidates(
    ("batch_size", "gpus"),
    np.array([[32.0, 1.0], [64.0, 1.0], [64.0, 2.0]]),
    0,
    np.ones(3, bool),
    np.log([1.0, 1.0, 2.0]),
)


def run(**parameters):
    return Run("r", Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")


def test_a_configuration_is_found_by_all_its_values_and_what_is_no_candidate_has_no_row():
    assert row_of(CANDIDATES, {"batch_size": 64.0, "gpus": 2.0}) == 2
    assert rows_of(CANDIDATES, {"batch_size": 32.0, "gpus": 2.0}).tolist() == []


def test_values_that_travelled_through_texts_and_units_are_the_same():
    assert row_of(CANDIDATES, {"batch_size": 64.0, "gpus": 2.0 * (1 + 1e-9)}) == 2
    assert rows_of(CANDIDATES, {"batch_size": 64.0, "gpus": 2.0 * (1 + 1e-3)}).size == 0


def test_what_a_run_does_not_report_had_todays_value():
    assert row_of_run(CANDIDATES, run(batch_size=64.0)) == 1
    assert row_of_run(CANDIDATES, run()) == 0


def test_rows_of_several_runs_are_the_first_of_each_and_below_0_where_there_is_none():
    runs = [run(batch_size=64.0), run(batch_size=128.0), run(), run(batch_size=64.0, gpus=2.0 * (1 + 1e-9))]
    assert rows_of_runs(CANDIDATES, runs).tolist() == [1, -1, 0, 2]
    assert rows_of_runs(CANDIDATES, []).tolist() == []


def test_without_a_reference_a_model_is_worse_against_todays():
    assert (base_row(CANDIDATES, 2), base_row(CANDIDATES, None)) == (2, 0)


def test_the_rate_between_two_runs_is_that_of_their_configurations():
    assert rate_between(CANDIDATES, run(batch_size=64.0, gpus=2.0), run()) == math.log(2)
    assert rate_between(CANDIDATES, run(), run(batch_size=64.0, gpus=2.0)) == -math.log(2)
