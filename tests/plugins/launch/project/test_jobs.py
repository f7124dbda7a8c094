from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.errors import UsageError
from jpo.history import open_store
from jpo.plugins.launch.job import RUN_ID, JobState, JobStatus, Needs
from jpo.plugins.launch.ledger import Entry, folder_of, write
from jpo.plugins.launch.project.engines import ledger_of
from jpo.plugins.launch.project.jobs import job_of, new_run_id, stop_after_seconds
from jpo.project.workload import read_workload
from jpo.records import Finished, Outcome, Run, RunStatus

if TYPE_CHECKING:
    from opened_repository import Repository

PRICED = "[prices]\nusd_per_gpu_hour = 2.5\ngpu_type = 'a100'\n[launch]\ncommand = ['make', 'train']\ntimeout = '2h'\n"


def test_a_job_has_values_prices_and_needs_of_its_files(repository: Repository) -> None:
    path, settings = repository(PRICED)
    job = job_of(read_workload(path, settings, now=0.0), settings, (), run_id="run-1", environment={"X": "$(y)"})
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
        job_of(workload, settings, (), run_id="run-1")
    assert caught.value.code == "JPO-E756"
    with pytest.raises(UsageError) as caught:
        job_of(workload, settings, ("true",), run_id="../run")
    assert caught.value.code == "JPO-E757"


@pytest.mark.parametrize("model", ["cnn", "ResNet/18 (big)", "::error::", "\u00fc" * 100, "-" * 70])
def test_a_new_id_can_be_one_everywhere(repository: Repository, model: str) -> None:
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    workload = replace(workload, identity=replace(workload.identity, model=model))
    ids = {new_run_id(workload, now=1_800_000_000.0) for _ in range(20)}
    assert len(ids) == 20
    assert all(RUN_ID.fullmatch(one) for one in ids)


def test_a_run_is_ended_when_it_cannot_win_any_more(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository("[launch]\nstop_at = 3\n")
    workload = read_workload(path, settings, now=0.0)

    def run(name: str, seconds: float, factor: float = 1.0, **outcome: bool) -> Run:
        measured = Outcome(duration_seconds=seconds, **outcome)  # type: ignore[arg-type]
        values = {"batch_size": factor * workload.current["batch_size"]}
        return Run(name, workload.identity, values, RunStatus.SUCCEEDED, 1000.0, 1000.0 + seconds, measured, "csv")

    with open_store(settings.store_url) as store:
        store.record(Finished((run("a", 5.0), run("b", 6.0, converged=False))), now=0.0)
        assert stop_after_seconds(workload, settings, store) is None  # nobody knows what reaches the target
        store.record(Finished((run("c", 100.0, converged=True), run("d", 80.0, converged=True))), now=0.0)
        assert stop_after_seconds(workload, settings, store) == 3 * 90.0 + 60.0  # what these values usually take
        job = job_of(workload, settings, ("true",), run_id="d")
        ledger = ledger_of(settings)
        folder_of(ledger, "d").mkdir(parents=True)
        write(ledger, Entry(job, "local", 0.0, end=JobStatus(JobState.ENDED, started_at=995.0, ended_at=1082.0)))
        assert stop_after_seconds(workload, settings, store) == 3 * 90.0 + 7.0
        store.record(Finished((run("e", 20.0, 2.0, converged=True), run("f", 70.0, 2.0, converged=True))), now=0.0)
        assert stop_after_seconds(workload, settings, store) == 3 * 90.0 + 7.0  # they deliver, though others are faster
        path.write_text(path.read_text().replace(f"batch_size = {workload.current['batch_size']:g}", "batch_size = 8"))
        untried = read_workload(path, settings, now=0.0)
        assert untried.current["batch_size"] == 8.0
        assert stop_after_seconds(untried, settings, store) == 3 * 45.0 + 7.0  # the best values, not their luckiest run
        _, never = repository("[launch]\nstop_at = 0\n")
        assert stop_after_seconds(workload, never, store) is None
