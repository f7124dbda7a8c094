from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jpo.errors import UsageError
from jpo.plugins.launch.job import RUN_ID, Needs
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.project.jobs import job_of, new_run_id
from jpo.project.workload import read_workload

if TYPE_CHECKING:
    from opened_repository import Repository

PRICED = "[prices]\nusd_per_gpu_hour = 2.5\ngpu_type = 'a100'\n[launch]\ncommand = ['make', 'train']\ntimeout = '2h'\n"


def test_a_job_has_values_prices_and_needs_of_its_files(repository: Repository) -> None:
    path, settings = repository(PRICED)
    job = job_of(read_workload(path, settings, now=0.0), settings, Invocation(()), run_id="run-1", environment={"X": "$(y)"})
    assert job.command == ("make", "train")
    assert job.folder == path.parent
    assert job.needs == Needs(gpus=2, gpu_type="a100", cpus=4.0)
    assert job.longest_seconds == 7200
    assert job.environment["JPO_BATCH_SIZE"] == "32"
    assert job.environment["JPO_LEARNING_RATE"] == "0.1"
    assert job.environment["JPO_USD_PER_GPU_HOUR"] == "2.5"
    assert job.environment["JPO_CONFIG"] == str(path)
    assert job.environment["X"] == "$(y)"


def test_a_job_needs_a_command_and_an_id(repository: Repository) -> None:
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    with pytest.raises(UsageError) as caught:
        job_of(workload, settings, Invocation(()), run_id="run-1")
    assert caught.value.code == "JPO-E756"
    with pytest.raises(UsageError) as caught:
        job_of(workload, settings, Invocation(("true",)), run_id="../run")
    assert caught.value.code == "JPO-E757"


@pytest.mark.parametrize("model", ["cnn", "ResNet/18 (big)", "::error::", "\u00fc" * 100, "-" * 70])
def test_a_new_id_can_be_one_everywhere(repository: Repository, model: str) -> None:
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    workload = replace(workload, identity=replace(workload.identity, model=model))
    ids = {new_run_id(workload, now=1_800_000_000.0) for _ in range(20)}
    assert len(ids) == 20
    assert all(RUN_ID.fullmatch(one) for one in ids)
