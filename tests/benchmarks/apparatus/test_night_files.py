from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from apparatus import night_files
from apparatus.night_jobs import job_of

from jpo.records import RunStatus
from jpo.telemetry.csv.log import read_log


def read(job, folder, values=None, start=1.8e9):
    path = folder / "run.csv"
    path.write_text(night_files.run_log(job, values or job.values, 0, start))
    return read_log(path)


def test_the_committed_values_are_read_back(tmp_path):
    job = job_of("memory_fivefold", 1)
    (tmp_path / "config.ini").write_text(night_files.config_ini(job))
    assert night_files.values_in(tmp_path / "config.ini") == pytest.approx(job.values, rel=1e-5)


def test_settings_are_added_to_what_the_team_allows():
    said = night_files.jpo_toml(
        job_of("fixed_epochs", 0), ["agent.explore=on", "agent.learn_budget=5s", "sla.val_loss_max=0.4"], logs=True
    )
    tables = tomllib.loads(said)
    assert tables["agent"] == {"learn_budget": "5s", "explore": "on"}
    assert tables["sla"] == {"val_loss_max": 0.4}
    assert tables["parameters"]["gpus"] == {"choices": [1, 2, 4, 8]}
    assert tables["parameters"]["epochs"] == {"freeze": True}


def test_a_log_is_a_run_as_jpo_reads_it(tmp_path):
    job = job_of("fixed_epochs", 0)
    run = read(job, tmp_path)
    assert (run.status, run.parameters) == (RunStatus.SUCCEEDED, job.values)
    assert run.outcome.samples == 12 * job.truth.samples
    assert run.outcome.memory_gib == pytest.approx(16)
    assert run.outcome.val_loss == pytest.approx(0.345, rel=0.03)


def test_a_log_shows_the_curve_of_the_truth():
    job = job_of("fixed_epochs", 0)
    rows = [line.split(",") for line in night_files.run_log(job, job.values, 0, 1.8e9).splitlines() if line[0].isdigit()]
    losses = [float(row[-1]) for row in rows]
    truth = job.truth
    ratio = (1 + truth.gap * (4 / 3 * (1 + 32 / 1500)) ** 0.5) / (1 + truth.gap * (1 + 32 / 1500) ** 0.5)
    assert len(losses) == 12
    assert losses[8] / losses[11] == pytest.approx(ratio, rel=1e-4)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("oom_at_start", RunStatus.OOM_KILLED), ("diverges_at_start", RunStatus.DIVERGED), ("time_limit", RunStatus.FAILED)],
)
def test_a_run_that_fails_is_read_as_such(tmp_path, kind, status):
    assert read(job_of(kind, 0), tmp_path).status == status


def test_a_run_that_misses_its_target_ends_without_converging(tmp_path):
    job = job_of("to_target", 0)
    run = read(job, tmp_path, {**job.values, "learning_rate": 0.0005})
    assert (run.status, run.outcome.converged) == (RunStatus.SUCCEEDED, False)


def test_without_a_start_a_run_has_just_ended_within_moments(tmp_path):
    run = read(job_of("fixed_epochs", 0), tmp_path, start=None)
    assert run.outcome.duration_seconds < 1
