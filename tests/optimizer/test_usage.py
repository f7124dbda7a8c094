"""Usage of the last run that ended well, against the first; what was not measured is not known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jpo.agent.context import PhaseSummary, Usage
from jpo.optimizer.problem import phases_of, usage_of
from jpo.records import Outcome, PhaseNeeds, RunStatus
from tests.optimizer.test_advise import a_run, request

MEASURED = Outcome(
    100.0, val_loss=0.5, throughput_samples_per_second=10.0, gpu_utilisation=0.3, cpu_utilisation=0.9, memory_gib=4.0
)
LATER = replace(MEASURED, duration_seconds=50.0, val_loss=0.25, throughput_samples_per_second=40.0, gpu_utilisation=0.6)


def test_the_last_run_that_ended_well_is_held_against_the_first() -> None:
    asked = request(targets={"time_max": 100.0})
    memory = {**a_run(1, 1.0).parameters, "memory_gib": 8.0}
    runs = [
        replace(a_run(1, 100.0), outcome=MEASURED),
        replace(a_run(2, 50.0), outcome=LATER, parameters=memory),
        replace(a_run(3, 5.0), outcome=Outcome(5.0, val_loss=9.0), status=RunStatus.FAILED),
    ]
    usage = usage_of(runs, asked)
    assert (usage.gpu_utilisation, usage.cpu_utilisation, usage.memory_share) == (0.6, 0.9, 0.5)
    assert usage.throughput == pytest.approx(math.log(4))
    assert usage.loss == pytest.approx(math.log(0.5))
    assert usage.samples == pytest.approx(math.log(2)), "by speed and duration: 2,000 after 1,000"
    assert usage.sla_slack == pytest.approx(math.log(2))


def test_samples_that_were_counted_go_before_those_by_speed() -> None:
    runs = [
        replace(a_run(1, 100.0), outcome=replace(MEASURED, samples=1000.0)),
        replace(a_run(2, 50.0), outcome=replace(LATER, samples=3000.0)),
    ]
    assert usage_of(runs, request()).samples == pytest.approx(math.log(3))


def test_what_was_not_measured_is_not_known() -> None:
    assert usage_of([], request()) == Usage()
    assert usage_of([replace(a_run(1, 5.0), status=RunStatus.FAILED)], request()) == Usage()
    assert usage_of([replace(a_run(1, 100.0), outcome=Outcome(100.0))], request()) == Usage()


def test_phases_are_a_part_of_the_state_only_where_they_were_measured() -> None:
    assert phases_of(None) == PhaseSummary()
    needs = PhaseNeeds(runs=2, phases=4, cpus=2.0, memory_gib=1.0, peak_to_mean=2.0, drifted=0.1, stay_share=0.25)
    assert phases_of(needs) == PhaseSummary(math.log(4), math.log(0.25), math.log(2), 0.1)
