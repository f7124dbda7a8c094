"""Steps out of failure, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety.recovery import cause_of, cause_of_last, recovery_reason, ruled_out, step_out
from jpo.records import Belief, Candidates, Identity, Outcome, Run, RunStatus

JOB = Identity("d", "m", "f")
NAMES = ("batch_size", "learning_rate", "gpus", "memory_gib")
TODAY = (512.0, 0.1, 1.0, 16.0)


def candidates(*rows, current=0, admissible=None):
    k = len(rows)
    allowed = np.ones(k, bool) if admissible is None else np.array(admissible)
    return Candidates(NAMES, np.array(rows, float), current, allowed, np.zeros(k))


def nothing_known(k, log_time=None):
    """The prior: nothing was measured."""
    time = np.zeros((1, k)) if log_time is None else np.array([log_time], float)
    flat, none = np.zeros((1, k)), np.zeros(k, int)
    return Belief(np.ones(1), time, flat, flat, flat, flat > 0, np.zeros(k), none, none, none, 0.05, None, None, 0.5, False)


def a_run(values=TODAY, status=RunStatus.FAILED, at=0, **outcome):
    parameters = dict(zip(NAMES, values, strict=True))
    return Run(str(at), JOB, parameters, status, None, float(at), Outcome(**outcome), "observe")


OOM, DIVERGED, STOPPED, WELL = RunStatus.OOM_KILLED, RunStatus.DIVERGED, RunStatus.STOPPED, RunStatus.SUCCEEDED
LADDER = candidates(
    TODAY, *((batch, *TODAY[1:]) for batch in (256.0, 128.0, 64.0)), (512.0, 0.05, 1.0, 16.0), (512.0, 0.1, 1.0, 32.0)
)


@pytest.mark.parametrize(
    ("used", "cause"), [(15.9, "host memory"), (6.0, "GPU memory"), (None, "memory")], ids=["full", "empty", "not measured"]
)
def test_which_memory_ran_out_is_read_from_what_the_host_used(used, cause):
    assert cause_of(a_run(status=OOM, memory_gib=used)) == cause


def test_without_gpus_it_is_the_hosts_memory():
    assert cause_of(a_run((512.0, 0.1, 0.0, 16.0), OOM)) == "host memory"


def test_the_batch_is_halved_at_first_and_then_quartered():
    run = a_run(status=OOM, memory_gib=6.0)
    assert LADDER.values[step_out(LADDER, nothing_known(6), [run]), 0] == 256
    assert LADDER.values[step_out(LADDER, nothing_known(6), [run, run]), 0] == 128


def test_host_memory_is_doubled():
    assert step_out(LADDER, nothing_known(6), [a_run(status=OOM, memory_gib=16.0)]) == 5


def test_the_rate_is_halved_where_it_diverged():
    assert step_out(LADDER, nothing_known(6), [a_run(status=DIVERGED)]) == 4


def test_without_a_known_cause_batch_and_rate_take_turns():
    run = a_run()
    assert [step_out(LADDER, nothing_known(6), [run] * n) for n in (1, 2)] == [1, 4]


def test_a_run_that_was_stopped_is_made_faster_for_the_same_money():
    times = [0.0, -0.2, -0.4, 0.1, -0.1, -0.9]
    dear = Candidates(NAMES, LADDER.values, 0, LADDER.admissible, np.array([0, 0, 0, 0, 0, 0.7]))
    assert step_out(dear, nothing_known(6, times), [a_run(status=STOPPED)]) == 2


def cut_off(epochs, seconds=3600.0, at=0):
    run = a_run(at=at, epochs=epochs, duration_seconds=seconds)
    return replace(run, parameters={**run.parameters, "epochs": 12.0})


def test_a_run_that_did_well_until_it_ended_is_made_faster():
    """As at a time limit that the cluster does not report."""
    times = [0.0, -0.2, -0.4, 0.1, -0.1, -0.9]
    assert cause_of(cut_off(9.0)) == "cut off"
    assert step_out(LADDER, nothing_known(6, times), [cut_off(9.0)]) == 5
    assert "as at a time limit" in recovery_reason(LADDER, [cut_off(9.0)], 5).text


@pytest.mark.parametrize("epochs", [None, 1.0, 12.0])
def test_a_run_that_ended_at_once_or_after_its_epochs_met_no_time_limit(epochs):
    assert cause_of(cut_off(epochs)) == "unknown"


def test_what_ends_in_the_same_epoch_at_any_speed_met_no_time_limit():
    assert cause_of_last([cut_off(9.0), cut_off(9.0, 2400.0, 1)]) == "unknown"
    assert cause_of_last([cut_off(9.0), cut_off(9.0, 3610.0, 1)]) == "cut off"
    assert cause_of_last([cut_off(7.0), cut_off(9.0, 2400.0, 1)]) == "cut off"


def test_what_failed_is_not_asked_again_and_nothing_is_left_in_the_end():
    held = candidates(TODAY, (512.0, 0.2, 1.0, 16.0))
    run = a_run(status=DIVERGED)
    assert step_out(held, nothing_known(2), [run]) is None
    found = recovery_reason(held, [run], None)
    assert found.text.endswith("the last run diverged; no change that is allowed is expected to help")
    assert found.code == "JPO-I610"


def test_the_step_is_told_with_its_reason():
    found = recovery_reason(LADDER, [a_run(status=OOM, memory_gib=6.0)], 1)
    assert found.text == "no run has ended well yet (1 did not), and the last run ran out of GPU memory: batch_size 512 -> 256"
    assert found.code == "JPO-W618"


def test_no_less_than_what_failed_is_ruled_out_until_it_ends_well():
    rows = candidates(
        (64.0, *TODAY[1:]), (256.0, *TODAY[1:]), (512.0, *TODAY[1:]), (512.0, 0.1, 4.0, 16.0), (256.0, 0.01, 1.0, 64.0)
    )
    failed = a_run((256.0, *TODAY[1:]), OOM, memory_gib=6.0)
    assert ruled_out(rows, [failed]).tolist() == [False, True, True, False, True]
    assert not ruled_out(rows, [failed, a_run((512.0, *TODAY[1:]), WELL, 1)]).any()


def test_a_rate_that_diverged_rules_out_larger_ones_for_smaller_batches():
    rows = candidates(TODAY, (256.0, 0.1, 1.0, 16.0), (1024.0, 0.1, 1.0, 16.0), (512.0, 0.2, 1.0, 16.0), (512.0, 0.05, 1.0, 16.0))
    assert ruled_out(rows, [a_run(status=DIVERGED)]).tolist() == [True, True, False, True, False]


def test_a_failure_without_a_cause_rules_out_itself_and_a_stop_nothing():
    assert ruled_out(LADDER, [a_run()]).tolist() == [True, False, False, False, False, False]
    assert not ruled_out(LADDER, [a_run(status=STOPPED)]).any()


HALVINGS = [512.0 / 2**n for n in range(8)]


def test_after_four_steps_that_failed_for_one_cause_the_next_parameter_is_tried_and_other_causes_are_named():
    ladder = candidates((HALVINGS[4], *TODAY[1:]), (HALVINGS[6], *TODAY[1:]), (HALVINGS[4], *TODAY[1:3], 32.0))
    for used, better, why in ((None, 2, "the model or the data alone"), (6.0, 1, "the model alone")):
        runs = [a_run((batch, *TODAY[1:]), OOM, at, memory_gib=used) for at, batch in enumerate(HALVINGS[:5])]
        row = step_out(ladder, nothing_known(3), runs)
        assert row == better  # where only the batch may help, it goes on
        assert f"4 steps of batch_size did not help, so {why} may not fit" in recovery_reason(ladder, runs, row).text
        assert "did not help" not in recovery_reason(ladder, runs[1:], 1).text


def test_at_the_smallest_value_it_is_said_and_the_next_parameter_is_tried():
    rows = candidates((64.0, 0.1, 1.0, 16.0), (128.0, 0.1, 1.0, 16.0), (64.0, 0.1, 1.0, 32.0))
    runs = [a_run((batch, *TODAY[1:]), OOM, at) for at, batch in enumerate((128.0, 64.0))]
    assert step_out(rows, nothing_known(3), runs) == 2
    diverged = [a_run((64.0, rate, 1.0, 16.0), DIVERGED, at) for at, rate in enumerate((0.2, 0.1))]
    row = step_out(rows, nothing_known(3), diverged)
    assert row == 1
    assert (
        "learning_rate 0.1 is the smallest value that may be tried, so the data, the loss"
        in recovery_reason(rows, diverged, row).text
    )


def test_one_run_that_ended_well_does_not_clear_what_fails_often():
    runs = [a_run(status=status, at=at, memory_gib=6.0) for at, status in enumerate((OOM, WELL, OOM))]
    assert ruled_out(LADDER, runs)[0]
    assert not ruled_out(LADDER, [*runs, *runs[1:2] * 6])[0]
