"""What JPO and batch.sh write for each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.slurm import run_files
from jpo.plugins.launch.engines.slurm.run_files import BatchEnd, Began
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity

NIGHT = run_files.Submission("night-1", "/srv", "3")
JOB = LaunchJob(
    "night-1", Identity("d", "m", "f"), ("train", "a b", "$(x)\n"), Path("/srv"), {"LR": "0.1\n"}, longest_seconds=1.2
)


def test_values_are_words_ended_by_nul_for_the_user_alone(tmp_path: Path) -> None:
    run_files.put(JOB, tmp_path, NIGHT, 30.0)
    ours = tmp_path / "slurm"
    assert (ours / "command").read_bytes() == b"train\0a b\0$(x)\n\0"
    runs = tmp_path / "runs"
    assert (ours / "environment").read_text() == f"LR=0.1\n\0JPO_RUN_ID=night-1\0JPO_RUNLOG_DIR={runs}\0"
    assert (ours / "limits").read_text() == f"2 30 {64 * 2**20}\n"
    assert run_files.submission(tmp_path) == NIGHT
    assert {file.stat().st_mode & 0o777 for file in (*ours.iterdir(), tmp_path / "output.log")} == {0o600}


def test_putting_them_again_keeps_the_output(tmp_path: Path) -> None:
    run_files.put(JOB, tmp_path, NIGHT, 30.0)
    (tmp_path / "output.log").write_text("hello")
    run_files.put(JOB, tmp_path, NIGHT, 30.0)
    assert (tmp_path / "output.log").read_text() == "hello"


@pytest.mark.parametrize("name", ["", "1X", "A B", "A\n", "A;touch x"])
def test_what_is_no_name_of_a_variable_is_refused(name: str, tmp_path: Path) -> None:
    job = LaunchJob("night-1", JOB.identity, ("train",), Path("/srv"), {name: "1"})
    with pytest.raises(LaunchError, match="not a variable name"):
        run_files.put(job, tmp_path, NIGHT, 30.0)


def test_what_is_not_there_is_not_known(tmp_path: Path) -> None:
    assert (run_files.submission(tmp_path), run_files.began(tmp_path), run_files.ended(tmp_path)) == (None, None, None)


def test_what_a_node_wrote_is_read_with_doubt(tmp_path: Path) -> None:
    began = tmp_path / "slurm" / "began"
    began.mkdir(parents=True)
    (began / "job").write_text("job 17_3\nnode n1\nbegan 1795398577.5961335\n")
    assert run_files.began(tmp_path) == Began("17_3", "n1", 1795398577.5961335)
    for damaged in ("", "job", "job ../x\nnode n1\n", "\0\0", "job 17;touch x\n", "job -J\n"):
        (began / "job").write_text(damaged)
        assert run_files.began(tmp_path) is None


def test_the_end_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "slurm" / "end"
    file.parent.mkdir()
    lines = "job 17\nnode n1\nbegan 10\nended 20.5\nexit_code 3\nended_by slurm\nmemory_kib 524288\ncpu_seconds 1.25\n"
    file.write_text(lines)
    assert run_files.ended(tmp_path) == BatchEnd("17", "n1", 10.0, 20.5, 3, "slurm", 0.5, 1.25)
    file.write_text("job 17\nended nan\nexit_code -1\nended_by -\nmemory_kib -\ncpu_seconds 1e99\n")
    assert run_files.ended(tmp_path) == BatchEnd("17", "", None, None, None, "", None, None)
