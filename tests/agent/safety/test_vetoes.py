"""What is held back, by hand."""

from dataclasses import replace

import numpy as np

from jpo.agent.safety.vetoes import held, loss_vetoes, phase_vetoes, too_little_memory_vetoes, unmeasured_vetoes, vetoes
from jpo.records import Candidates, Identity, Outcome, PhaseNeeds, Run, RunStatus

NAMES = ("batch_size", "gpus", "memory_gib")
ROWS = ((32, 1, 16), (32, 2, 16), (32, 1, 32), (32, 1, 8), (32, 1, 4))


def candidates(current=0):
    return Candidates(NAMES, np.array(ROWS, float), current, np.ones(len(ROWS), bool), np.zeros(len(ROWS)))


def a_run(at=0, row=0, status=RunStatus.SUCCEEDED, memory_gib=None):
    outcome = Outcome(duration_seconds=100.0, memory_gib=memory_gib)
    return Run(
        str(at), Identity("d", "m", "f"), dict(zip(NAMES, map(float, ROWS[row]), strict=True)), status, None, at, outcome, "csv"
    )


def rows_held(*arguments, lasting=False):
    return np.flatnonzero(held(vetoes(*arguments), lasting=lasting)).tolist()


def test_no_more_than_ever_was_unless_the_user_named_it():
    measured = [a_run(memory_gib=3.0)]
    assert rows_held(candidates(), measured, ()) == [1, 2]
    assert rows_held(candidates(), measured, ("gpus", "memory_gib")) == []
    assert rows_held(candidates(), [*measured, a_run(1, 1, memory_gib=3.0)], ()) == [2]
    assert rows_held(candidates(), measured, (), lasting=True) == []


def test_memory_stays_above_the_measured_peak_whatever_may_be_explored():
    measured = [a_run(memory_gib=6.0)]
    assert rows_held(candidates(), measured, NAMES) == [4]
    assert rows_held(candidates(), measured, NAMES, lasting=True) == [4]


def test_memory_that_was_never_measured_is_not_lowered():
    assert rows_held(candidates(), [a_run()], ("gpus",)) == [2, 3, 4]
    assert rows_held(candidates(), [a_run()], NAMES) == []


def test_memory_may_grow_where_it_ran_out():
    out = a_run(status=RunStatus.OOM_KILLED, memory_gib=15.9)
    assert 2 not in rows_held(candidates(), [out], ())


def test_what_is_forecast_to_run_out_of_host_memory_is_held_unless_it_ended_well(grid, belief):
    need, there = np.array([3.0, 4.5, 6.0]), np.full(3, 4.0)
    (hold,) = too_little_memory_vetoes(grid(), belief([[0, 0, 0]]), np.array([0.6, 0.49, 0.9]), need, there)
    assert (hold.rows.tolist(), hold.code, hold.lasting) == ([False, False, True], "JPO-I648", False)
    assert hold.why == "needs about 6 GiB of host memory or more, and 4 GiB are allowed"
    assert too_little_memory_vetoes(grid(), belief([[0, 0, 0]], runs=(1, 1, 1)), np.ones(3), need, there) == ()


def test_todays_row_is_never_held_by_what_it_asks_for():
    assert 4 not in rows_held(candidates(current=4), [a_run(memory_gib=6.0)], ())


def test_the_quality_floor_holds_what_is_likely_to_end_worse(grid, belief):
    believed = belief([[0, 0, 0]] * 4)
    assert loss_vetoes(grid(), believed, 0, 0.02, quality_risk=0.2) == ()
    measured = replace(believed, val_loss=0.3, log_loss=np.array([[0, 0.1, 0.1], [0, 0, 0.1], [0, 0, 0.1], [0, 0, 0]]))
    assert loss_vetoes(grid(), measured, 0, None, quality_risk=0.2) == ()
    (hold,) = loss_vetoes(grid(), measured, 0, 0.02, quality_risk=0.2)
    assert hold.rows.tolist() == [False, True, True]
    assert hold.lasting


def test_todays_values_are_given_up_for_their_loss_when_it_is_likelier_lost_than_not(grid, belief):
    measured = replace(
        belief([[0, 0, 0]] * 4), val_loss=0.3, log_loss=np.array([[0, 0.1, 0.1], [0, 0, 0.1], [0, 0, 0.1], [0, 0, 0]])
    )
    assert [loss_vetoes(grid(current=row), measured, 0, 0.02, quality_risk=0.2)[0].rows[row] for row in (1, 2)] == [False, True]


def test_where_nobody_sees_how_good_a_model_is_only_hardware_is_changed(grid, belief):
    believed = belief([[0, 0, 0]] * 4)
    (hold,) = unmeasured_vetoes(grid(), believed, 0)
    assert (hold.rows.tolist(), hold.lasting) == ([False, True, True], True)
    measured = replace(believed, loss_runs=np.array([1, 1, 0]))
    assert unmeasured_vetoes(grid(), measured, 0)[0].rows.tolist() == [False, False, True], "a model whose loss some run measured"
    hardware = Candidates(NAMES, np.array(ROWS, float), 0, np.ones(5, bool), np.zeros(5))
    assert not unmeasured_vetoes(hardware, belief([[0] * 5] * 4), 0)[0].rows.any()


def test_less_than_the_phases_need_is_held_and_more_is_not_asked_for():
    needs = PhaseNeeds(runs=3, phases=5, cpus=2.0, memory_gib=6.0, peak_to_mean=1.5, drifted=0.0)
    (hold,) = phase_vetoes(candidates(), needs)
    assert np.flatnonzero(hold.rows).tolist() == [4]  # 4 GiB; 8 GiB are enough
    (hold,) = phase_vetoes(candidates(current=4), needs)
    assert not hold.rows.any()  # what is asked for today may be kept
    assert phase_vetoes(candidates(), None) == ()
