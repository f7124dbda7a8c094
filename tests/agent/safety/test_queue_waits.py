"""What an engine says of runs that are submitted now, by hand: waits, holds and features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety.queue_waits import TOO_LATE, TOO_MUCH, QueueWaits, features_of, queue_vetoes
from jpo.agent.safety.vetoes import held
from jpo.records import Candidates

DAY = 86400.0


def candidates(current=0, gpus=(4, 8, 1)):
    k = len(gpus)
    return Candidates(("gpus",), np.array(gpus, float)[:, None], current, np.ones(k, bool), np.zeros(k))


def test_what_waits_past_the_deadline_is_held_whatever_may_be_explored(belief):
    """Eight GPUs take half the time, and would wait for two days; one takes twice as long."""
    believed = belief([[0, -np.log(2), np.log(2)]], duration=3600.0)
    queue = QueueWaits("gpus", {4.0: 0.0, 8.0: 2 * DAY})
    holds = tuple(queue_vetoes(candidates(), believed, queue, 4 * 3600.0))
    assert held(holds, lasting=True).tolist() == [False, True, False]
    (late,) = [hold for hold in holds if hold.rows.any()]
    assert late.code == TOO_LATE
    assert "would wait 48h 00m for its 8 gpus" in late.why
    assert not np.any(held(queue_vetoes(candidates(), believed, queue, 3 * DAY)))


def test_of_what_would_start_at_once_no_waiting_is_said(belief):
    (slow,) = queue_vetoes(candidates(gpus=(4, 8)), belief([[0, 0]], duration=3600.0), QueueWaits("gpus", {4.0: 0.0}), 60.0)
    assert slow.why == "would be done after the deadline"


@pytest.mark.parametrize(("queue", "deadline"), [(None, 9.0), (QueueWaits("gpus", {8.0: DAY}), None), (QueueWaits("cpus"), 9.0)])
def test_without_a_deadline_or_an_answer_waiting_holds_nothing(belief, queue, deadline):
    assert not np.any(held(queue_vetoes(candidates(), belief([[0, 0, 0]]), queue, deadline)))


def test_nothing_is_late_while_nobody_knows_how_long_a_run_takes(belief):
    unknown = replace(belief([[0, 0, 0]]), duration_seconds=None)
    assert not list(queue_vetoes(candidates(), unknown, QueueWaits("gpus", {8.0: DAY}), 10.0))
    assert not features_of(QueueWaits("gpus", {8.0: DAY}), candidates(), unknown).any()


def test_more_than_one_run_may_have_is_held_unless_today_asks_for_more_already(belief):
    believed, queue = belief([[0, 0, 0]]), QueueWaits("gpus", most=4.0)
    (much,) = queue_vetoes(candidates(), believed, queue)
    assert (much.rows.tolist(), much.code) == ([False, True, False], TOO_MUCH)
    assert not list(queue_vetoes(candidates(current=1), believed, queue))


def test_all_that_was_told_goes_on_record_by_name():
    told = QueueWaits("gpus", {4.0: 0.0, 8.0: 60.0}, free=4.0, most=8.0).numbers
    assert told == {
        "seconds that a run with 4 gpus would wait": 0.0,
        "seconds that a run with 8 gpus would wait": 60.0,
        "gpus that are free": 4.0,
        "gpus that one run may have": 8.0,
    }


def test_a_resource_that_is_no_parameter_has_no_features_but_is_on_record(belief):
    found = features_of(QueueWaits("cpus", {2.0: 60.0}, free=1.0), candidates(), belief([[0, 0, 0]]))
    assert not found.any()
