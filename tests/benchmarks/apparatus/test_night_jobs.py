from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from apparatus.night_jobs import KINDS, job_of
from apparatus.night_truth import Truth, best, results, step_seconds


def of(job, **values):
    return results(job, {name: np.array([float(x)]) for name, x in values.items()})


def test_a_step_by_hand():
    truth = Truth(overhead_seconds=3, compute_seconds=0, loading_seconds=1, gradient_seconds=4, latency_seconds=0)
    seconds = step_seconds(truth, np.array([2.0, 2.0, 20.0]), np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    assert seconds.tolist() == [3.0, 5.0, 10.0]  # alone; with 2 (2-1)/2 x 4 seconds of sync; waiting for its data


@pytest.mark.parametrize("seed", range(4))
def test_each_kind_starts_with_its_own_trouble(seed):
    expected = {"oom_at_start": "oom_killed", "diverges_at_start": "diverged", "time_limit": "failed"}
    assert {kind: of(job_of(kind, seed)).ends[0] for kind in KINDS} == {kind: expected.get(kind, "succeeded") for kind in KINDS}


@pytest.mark.parametrize("seed", range(4))
def test_today_is_the_best_only_where_it_is_said_and_memory_is_five_fold(seed):
    ratios = {kind: of(job := job_of(kind, seed)).objective[0] / best(job)[1] for kind in KINDS}
    assert {kind for kind, ratio in ratios.items() if ratio == pytest.approx(1)} == {
        "today_optimal",
        "settled_long",
        "settled_multi_gpu",
    }
    assert all(ratios[kind] > 1.2 for kind in ("fixed_epochs", "to_target", "memory_fivefold", "slow_links", "slow_loader"))
    job = job_of("memory_fivefold", seed)
    assert job.values["memory_gib"] == 5 * of(job).host_gib[0]


@pytest.mark.parametrize("seed", range(4))
def test_of_eight_gpus_four_are_the_best_where_that_is_said(seed):
    job = job_of("settled_multi_gpu", seed)
    assert job.values["gpus"] == 4
    assert of(job, gpus=8).objective[0] > 1.2 * of(job).objective[0]


def test_a_rate_a_quarter_of_the_best_reaches_its_target_all_the_same():
    job = job_of("rate_too_low", 0)
    at_best = of(job, learning_rate=4 * job.values["learning_rate"])
    assert of(job).epochs[0] > 2 * at_best.epochs[0]


def test_what_the_team_has_of_its_own_is_at_its_best_and_changes_the_loss_alone():
    job = job_of("own_parameters", 0)
    dropped = of(job, dropout=0.45)
    assert dropped.loss[0] / of(job).loss[0] == pytest.approx(1 + 0.5 * 0.35**2)
    assert dropped.objective[0] == of(job).objective[0]
    assert of(job, weight_decay=1e-5).loss[0] > of(job).loss[0]


def test_a_second_gpu_over_slow_links_makes_a_run_longer():
    job = job_of("slow_links", 0)
    assert of(job, gpus=2).seconds[0] > 1.5 * of(job).seconds[0]


def test_the_best_keeps_the_loss_and_nothing_allowed_that_does_is_cheaper():
    job = job_of("fixed_epochs", 1)
    values, least = best(job)
    assert of(job, **values).loss[0] <= 1.02 * of(job).loss[0]
    rng = np.random.default_rng(0)
    drawn = {name: rng.choice(several, 300) for name, several in job.allowed.items()}
    them = results(job, drawn)
    good = (them.ends == "succeeded") & (them.loss <= 1.02 * of(job).loss[0])
    assert good.any()
    assert them.objective[good].min() >= least


def test_with_a_target_the_loss_is_the_target_and_a_bad_rate_misses_it():
    job = job_of("to_target", 0)
    assert of(job).loss[0] == pytest.approx(job.truth.floor * (1 + job.truth.gap))
    assert of(job, learning_rate=0.0005).ends[0] == "target missed"


def test_too_little_host_memory_kills_a_run_and_is_paid_for():
    job = job_of("memory_fivefold", 0)
    killed = of(job, memory_gib=8)
    assert (killed.ends[0], killed.seconds[0] / killed.usual_seconds[0]) == ("oom_killed", pytest.approx(0.3))
