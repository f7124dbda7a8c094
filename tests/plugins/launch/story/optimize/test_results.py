"""What came of a loop, from ledger and history alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from loops import Lab, logged, seconds_of
from simulated_engine import VirtualRun

from jpo.plugins.launch.job import LaunchJob


def test_what_was_spent_stands_beside_what_keeping_would_have(tmp_path: Path) -> None:
    lab = Lab(tmp_path, chosen={"batch_size": 256.0})
    (job,) = lab.optimize(runs=3, baseline=3).jobs
    seconds, cost = job.totals
    assert (seconds.quantity, seconds.runs, cost.quantity) == ("duration_seconds", 3, "cost_usd")
    assert seconds.kept == pytest.approx(3 * 3600, rel=1e-6)
    assert seconds.ratio == pytest.approx((64 / 256) ** 0.4, rel=1e-6)
    assert cost.ratio == pytest.approx(seconds.ratio or 0, rel=1e-6)
    (duration,) = [line for line in job.lines if line.quantity == "duration_seconds"]
    assert (duration.runs_before, duration.runs_after, duration.word) == (3, 3, "better")


def test_what_a_failed_run_of_the_baseline_took_is_charged_to_its_models(tmp_path: Path) -> None:
    def train(job: LaunchJob) -> VirtualRun:
        return logged(
            job, lab.now, 10.0 if job.run_id.endswith("b1") else seconds_of(job), *(["failed"] * job.run_id.endswith("b1"))
        )

    lab = Lab(tmp_path, train=train, chosen={"batch_size": 256.0})
    (job,) = lab.optimize(runs=1, baseline=2).jobs
    assert job.totals[0].kept == pytest.approx(3600 + 10, rel=1e-6)


def test_a_run_of_the_baseline_that_was_cut_off_says_nothing_of_its_values(tmp_path: Path) -> None:
    lab = Lab(tmp_path, chosen={"batch_size": 256.0})
    sleep = lab.sleep

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        if any(lab.now > entry.asked_at + 1800 for entry in lab.entries()):
            lab.sleep = sleep  # type: ignore[method-assign]
            raise KeyboardInterrupt

    lab.sleep = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=2, baseline=2)
    (job,) = lab.optimize(runs=2, baseline=2).jobs
    assert [run.last for run in job.runs] == [False, True, True, True, True]
    assert job.totals[0].kept == pytest.approx(2 * 3600, rel=1e-6)


def test_a_name_with_a_dot_keeps_the_suggestions_of_its_runs(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    (job,) = lab.optimize(replace(lab.task(), name="v1.2"), runs=1).jobs
    assert job.suggestions == {"v1.2-1": "v1.2-1"}


def test_without_a_baseline_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    (job,) = Lab(tmp_path).optimize(runs=1, baseline=0).jobs
    assert job.totals == []
    assert len(job.runs) == 1
