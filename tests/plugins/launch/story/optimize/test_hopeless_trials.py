"""A search ends trials whose curve can no longer win; [launch] stop_at = 0 lets all of them finish."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from loops import STARTUP, TOML, Lab
from simulated_engine import VirtualRun

from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.story.optimize.task import task_of
from jpo.project.load import load
from jpo.records import Run, RunStatus

SEARCH = """\
stop_at = {stop_at}
[agent]
goal = "search"
[parameters]
batch_size = {{ min = 16, max = 1024, step = "pow2" }}
learning_rate = {{ min = 0.001, max = 1, scale = "log" }}
[prices]
"""
EPOCHS, EPOCH_SECONDS = 10, 60.0


def searched(folder: Path, stop_at: float, runs: int) -> list[Run]:
    """The runs of a search for a rate of .03 and a batch of 128, each of which takes ten minutes."""

    def train(job: LaunchJob) -> VirtualRun:
        rate, batch = job.parameters["learning_rate"], job.parameters["batch_size"]
        final = 0.1 * math.exp(math.log(rate / 0.03) ** 2 / 2 + math.log(batch / 128) ** 2 / 10)
        start = lab.now + STARTUP
        rows = [f"{start + EPOCH_SECONDS * e},{e},{6000 * e},,{final * (1 + 2 / e):.5f}" for e in range(1, EPOCHS + 1)]
        head = {"run_id": job.run_id, **job.identity.labels, **job.parameters, "start": start}
        end = {"end": start + EPOCH_SECONDS * EPOCHS, "status": "succeeded"}
        begun, ended = ([f"# {name}={value}" for name, value in facts.items()] for facts in (head, end))
        lines = [*begun, "time,epoch,samples,train_loss,val_loss", *rows, *ended, ""]
        return VirtualRun(STARTUP + EPOCH_SECONDS * EPOCHS, log="\n".join(lines))

    lab = Lab(folder, train=train)
    config, toml = lab.config(), folder / "search.toml"
    toml.write_text(TOML.replace("[prices]\n", SEARCH.format(stop_at=stop_at)), encoding="utf-8")
    task = task_of(config, load(config, toml, {}, {}), "simulated", name=None, now=lab.now)
    (job,) = lab.optimize(task, runs=runs, baseline=1).jobs
    return [each.run for each in job.runs if each.run]


@pytest.mark.parametrize(("stop_at", "ends_some"), [(2, True), (0, False)])
def test_a_search_ends_the_trials_that_can_no_longer_win(tmp_path: Path, stop_at: float, ends_some: bool) -> None:
    runs = searched(tmp_path, stop_at, 9)
    stopped = [run for run in runs if run.status is RunStatus.STOPPED]
    assert bool(stopped) is ends_some
    assert all(0 < (run.outcome.duration_seconds or 0) < EPOCH_SECONDS * EPOCHS for run in stopped)
    best = min(run.outcome.val_loss or math.inf for run in runs if run.ended_well)
    assert all((run.outcome.val_loss or 0) > best for run in stopped)
