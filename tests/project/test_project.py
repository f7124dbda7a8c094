from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.project.project import open_history, open_project
from jpo.project.request import learn_seconds_of


def test_a_project_holds_what_its_files_say(repository):
    path, settings = repository('[sla]\ntime_max = "6h"\n[prices]\nusd_per_gpu_hour = 2.0\n[agent]\nlearn_budget = "0s"\n')
    with open_project(path, settings, now=0.0) as job:
        assert (job.workload.current["batch_size"], job.prices.usd_per_gpu_hour) == (32.0, 2.0)
        assert (dict(job.targets), learn_seconds_of(settings), job.currency.code) == ({"time_max": 21600.0}, 0.0, "USD")
        assert job.store.runs_of(job.workload.identity) == ()


def test_an_invalid_file_leaves_no_store_behind(repository, tmp_path: Path):
    path, settings = repository()
    path.write_text("[training]\nbatch_size = many\n")
    with pytest.raises(UsageError), open_project(path, settings, now=0.0):
        pass
    assert not (tmp_path / ".jpo").exists()


def test_read_only_keeps_nothing(repository, tmp_path: Path):
    path, settings = repository()
    with open_project(path, settings, now=0.0, read_only=True):
        pass
    assert not (tmp_path / ".jpo").exists()


def test_the_store_records_who_asked(repository):
    _, settings = repository()
    with open_history(settings) as store:
        assert store.recorded_runs() == ()


def test_limits_that_are_wrong_stop_only_commands_that_judge_values(repository):
    path, settings = repository("[quota]\nusd_per_hour = 20.0\n")  # without prices
    with pytest.raises(UsageError, match="usd_per_hour"), open_project(path, settings, now=0.0):
        pass
    with open_project(path, settings, now=0.0, judges=False) as job:
        assert job.workload.current["batch_size"] == 32.0
