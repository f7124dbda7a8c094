"""Needs in the options of sbatch; amounts are per node, rounded up."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.engines.slurm.request import options, output, resources, time_limit_minutes
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.records import Identity


def job(longest_seconds: float | None) -> LaunchJob:
    return LaunchJob("night-1", Identity("d", "m", "f"), ("train",), Path("/srv/a b"), longest_seconds=longest_seconds)


def test_a_job_that_asks_for_nothing_gets_the_clusters_default() -> None:
    assert resources(Needs()) == ["--nodes=1", "--ntasks=1", "--ntasks-per-node=1"]


def test_what_is_asked_for_is_divided_among_the_nodes() -> None:
    asked = resources(Needs(gpus=8, gpu_type="a100", cpus=9.5, memory_gib=5.0, nodes=4))
    assert asked == [
        "--nodes=4",
        "--ntasks=4",
        "--ntasks-per-node=1",
        "--gres=gpu:a100:2",
        "--cpus-per-task=3",
        "--mem=1280M",
    ]
    assert "--gres=gpu:1" in resources(Needs(gpus=1))


@pytest.mark.parametrize(("seconds", "minutes"), [(2.0, 3), (30.0, 3), (30.1, 4), (3600.0, 63), (None, None)])
def test_the_time_limit_is_whole_minutes_and_later_than_the_scripts_own(seconds: float | None, minutes: int | None) -> None:
    assert time_limit_minutes(job(seconds), 30.0) == minutes


def test_a_run_is_never_started_again_by_slurm() -> None:
    assert {"--no-requeue", "--signal=B:USR1@30", "--chdir=/srv/a b", "--time=3"} <= set(options(job(2.0), 30.0))
    assert not [option for option in options(job(None), 30.0) if option.startswith("--time")]


def test_a_percent_sign_in_a_path_is_no_pattern() -> None:
    assert output(Path("/srv/100%j")) == "--output=/srv/100%%j/output.log"
