"""Names of jobs, and ids of their runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from loops import CONFIG, Lab

from jpo.errors import UsageError
from jpo.plugins.launch.job import RUN_ID
from jpo.plugins.launch.story.optimize.task import task_of
from jpo.project.load import load


def test_the_same_file_in_a_project_that_has_moved_has_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    one = Lab(tmp_path / "one").task()
    (tmp_path / "one").rename(tmp_path / "other")
    assert Lab(tmp_path / "other").task().name == one.name


def test_two_files_of_one_workload_have_names_of_their_own(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    assert lab.task("a/config.ini").name != lab.task("b/config.ini").name


@pytest.mark.parametrize("model", ["ünïcode", "a/b c", "x" * 200, "::", "-"])
def test_whatever_a_workload_is_called_its_runs_have_ids(tmp_path: Path, model: str) -> None:
    task = Lab(tmp_path).task(model=model)
    for run_id in (task.run_id(1000, baseline=True, attempt=3), task.run_id(1, baseline=False)):
        assert RUN_ID.fullmatch(run_id)


def test_ids_tell_baseline_number_and_attempt(tmp_path: Path) -> None:
    task = replace(Lab(tmp_path).task(), name="night")
    assert [task.run_id(2, baseline=True), task.run_id(2, baseline=False), task.run_id(2, baseline=False, attempt=2)] == [
        "night-b2",
        "night-2",
        "night-2.2",
    ]


@pytest.mark.parametrize("name", ["a b", "-a", "", "x" * 49, "a/b"])
def test_a_name_that_ids_cannot_begin_with_is_refused(tmp_path: Path, name: str) -> None:
    config = tmp_path / "config.ini"
    config.write_text(CONFIG.format(model="cnn"))
    with pytest.raises(UsageError) as caught:
        task_of(config, load(config, None, {}, {}), "local", name=name, now=1.8e9)
    assert caught.value.code == "JPO-E787"
