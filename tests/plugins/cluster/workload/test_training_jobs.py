"""Tables of training jobs: columns by name, and which cell is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.workload.training_jobs import read_training_jobs

HEAD = "id,submit,duration,work,gpus,gpu_type,cpus,memory,tasks,class,user,deadline\n"


def csv(folder: Path, text: str) -> Path:
    (folder / "jobs.csv").write_text(text)
    return folder / "jobs.csv"


def test_rows_become_jobs_in_the_order_of_their_arrival(tmp_path: Path) -> None:
    rows = "b,50,600,,4,a100,8,32,2,bert,u1,900\na,10,,3600,2,,,,,,,\ncpu,20,60,,,,,,,,u1,\ndead,5,0,,1,,,,,,,\n"
    found = read_training_jobs(csv(tmp_path, HEAD + rows))
    assert (found.names, found.lines, found.never_ran) == (("a", "cpu", "b"), (3, 4, 2), 1)
    assert found.jobs.run_seconds.tolist() == [1800, 60, 600]  # work 3600 on 2 GPUs
    assert found.jobs.processors.tolist() == [2, 1, 8]
    assert found.jobs.users.tolist() == [-1, 0, 0]
    assert (found.demand.cpus.tolist(), found.demand.gpus.tolist()) == ([0, 1, 8], [2, 0, 4])
    assert (found.demand.gpu_types, found.demand.classes) == (("", "", "a100"), ("", "", "bert"))
    assert found.demand.deadlines.tolist() == [math.inf, math.inf, 900]
    assert read_training_jobs(tmp_path / "jobs.csv", first=1).names == ("a",)


def test_a_range_of_tasks_makes_a_job_elastic(tmp_path: Path) -> None:
    text = "submit,duration,tasks,min_tasks,max_tasks,serial_share\n1,9,4,2,8,0.1\n2,9,3,,,\n3,9,1,,2,\n"
    ranges = read_training_jobs(csv(tmp_path, text)).demand.elasticity
    assert ranges is not None
    assert (ranges.min_tasks.tolist(), ranges.max_tasks.tolist()) == ([2, 3, 1], [8, 3, 2])
    assert (ranges.serial_shares[0], *map(math.isnan, ranges.serial_shares[1:])) == (0.1, True, True)
    rigid = csv(tmp_path, "submit,duration,tasks,min_tasks,max_tasks\n1,9,4,4,\n")
    assert read_training_jobs(rigid).demand.elasticity is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "jobs.csv:1: has no column submit_seconds"),
        ("id,submit,gpus\n", "neither duration_seconds nor work"),
        ("id;submit;duration\n", "jobs.csv:1: column <18 characters> is unknown; separate cells by commas"),
        ("submit,duration,colour\n", "jobs.csv:1: column 'colour' is unknown"),
        ("submit,submit_seconds,duration\n", "has a column twice"),
        ("submit,duration\n", "has no job that ran"),
        ("submit,duration\n1,2,3\n", "jobs.csv:2: has 3 cells below 2 columns"),
        ("submit,duration\n1,2\n-1,2\n", "jobs.csv:3: column submit_seconds is '-1', not a number from 0"),
        ("submit,duration,gpus\n1,2,0.5\n", "column gpus is '0.5', not a whole number"),
        ("submit,duration\n1,nan\n", "column duration_seconds is 'nan'"),
        ("submit,duration\n,2\n", "jobs.csv:2: column submit_seconds is empty"),
        ("submit,duration,work\n1,,\n", "column duration_seconds is empty"),
        ("submit,duration,tasks\n1,2,0\n", "a job without tasks"),
        ('submit,duration\n1,"2\n', "is not CSV"),
        (
            "submit,duration,tasks,min_tasks\n1,2,2,3\n",
            "jobs.csv:2: has 2 tasks, which is not from min_tasks = 3 to max_tasks = 2",
        ),
        ("submit,duration,max_tasks\n1,2,0\n", "has 1 tasks, which is not from min_tasks = 1 to max_tasks = 0"),
        ("submit,duration,max_tasks\n1,2,2.5\n", "column max_tasks is '2.5', not a whole number"),
        ("submit,duration,serial_share\n1,2,1.5\n", "column serial_share is 1.5, not a share from 0 to 1"),
    ],
)
def test_a_cell_that_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_training_jobs(csv(tmp_path, text))
    assert told in str(caught.value)
    assert caught.value.code == "JPO-E740"
