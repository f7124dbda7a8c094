"""What a run printed comes home, and its run log is taken out of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kubernetes_cluster import Cluster, Fault, Play
from launches import Bench

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.output import ends_of, run_logs
from jpo.plugins.launch.job import Needs
from jpo.runlog import ECHO

SCRIPT = """
import os
from jpo.runlog import RunLog
print("hello", end="", flush=True)  # a line that goes on
with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters={"batch_size": 64}, settings=os.environ) as log:
    log.batch(64)
    log.epoch(1, train_loss=0.5, val_loss=0.4, f1=0.9)
    print("between", flush=True)
"""


def printed(tmp_path: Path, **environment: str) -> str:
    """What a script with a run log prints, really."""
    settings = {"JPO_RUN_ID": "run-1", "JPO_RUNLOG_DIR": str(tmp_path / "there"), **environment}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **settings}, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_run_log_arrives_byte_for_byte(tmp_path: Path, bench: Bench, plays: dict[str, Play]) -> None:
    output = printed(tmp_path, JPO_RUNLOG_ECHO="1")
    plays["succeeds"] = Play(3.0, output=output)
    entry = bench.finish(bench.start(bench.job("succeeds")))
    folder = bench.ledger / entry.job.run_id
    assert (folder / "runs" / "run-1.csv").read_bytes() == (tmp_path / "there" / "run-1.csv").read_bytes()
    assert (folder / "output.log").read_text() == "hellobetween\n"
    assert (folder / "output.log").stat().st_mode & 0o077 == 0


def test_without_the_setting_nothing_is_repeated(tmp_path: Path) -> None:
    assert printed(tmp_path) == "hellobetween\n"


@pytest.mark.parametrize(
    ("rows", "logs"),
    [
        ([], {}),
        ([b"1.0,1\n", b"2.0,2\n"], {}),  # the kubelet has thrown the head away
        ([b"# run_id=a\n", b"x\n", b"# run_id=b\n"], {"a": b"# run_id=a\nx\n", "b": b"# run_id=b\n"}),
        ([b"# run_id=../../etc/x\n"], {"own": b"# run_id=../../etc/x\n"}),
        ([b"# run_id=\xff\n"], {"own": b"# run_id=\xff\n"}),
    ],
)
def test_a_log_counts_from_its_head_and_stays_in_its_folder(rows: list[bytes], logs: dict[str, bytes]) -> None:
    assert run_logs(rows, "own") == logs


def test_of_several_pods_each_is_named(bench: Bench, plays: dict[str, Play]) -> None:
    plays["succeeds"] = Play(3.0, output=f"hello\n{ECHO}# run_id=run-1\n")
    entry = bench.finish(bench.start(bench.job("succeeds", needs=Needs(nodes=2))))
    lines = (bench.ledger / entry.job.run_id / "output.log").read_text().splitlines()
    assert [line.rsplit("-", 1)[0] for line in lines[::2]] == [f"--- pod jpo-{entry.job.run_id}-{n}" for n in (0, 1)]


def test_an_answer_that_ends_in_the_middle_leaves_what_was_there(bench: Bench, cluster: Cluster, new_launcher: Any) -> None:
    entry = bench.finish(bench.start(bench.job("succeeds")))
    folder = bench.ledger / entry.job.run_id
    before = (folder / "output.log").read_bytes()
    cluster.faults.append(Fault("GET", r".*/log", 0, times=99))
    with pytest.raises(LaunchError, match="hung up"):
        new_launcher().collect(str(entry.engine_id), folder)
    assert (folder / "output.log").read_bytes() == before


def test_whoever_changes_a_job_writes_no_file_elsewhere(bench: Bench, cluster: Cluster, plays: dict[str, Play]) -> None:
    plays["succeeds"] = Play(3.0, output=f"{ECHO}# run_id=a b\n")
    entry = bench.start(bench.job("succeeds"))
    cluster.objects["jobs", "ml", f"jpo-{entry.job.run_id}"]["metadata"]["annotations"]["jpo.dev/run-id"] = "../../../elsewhere"
    before = {*bench.ledger.parent.rglob("*")}
    bench.finish(entry)
    made = {file for file in bench.ledger.parent.rglob("*") if file not in before}
    folder = bench.ledger / entry.job.run_id
    assert all(file.is_relative_to(folder) for file in made)
    assert [file.name for file in (folder / "runs").iterdir()] == [f"{entry.job.run_id}.csv"]


def test_of_endless_output_beginning_and_end_are_kept() -> None:
    lines = [f"{number:03}\n".encode() for number in range(100)]
    assert b"".join(ends_of(lines, 400)) == b"".join(lines)
    kept = b"".join(ends_of(lines, 40))
    assert kept == b"000\n001\n002\n003\n004\n\n[360 bytes were left out here]\n095\n096\n097\n098\n099\n"
    assert b"".join(ends_of([b"x" * 100], 40)) == b"\n[100 bytes were left out here]\n"
    assert not [*ends_of([], 40)]
