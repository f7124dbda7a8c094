"""The supervisor as a process of its own, with an AWS CLI that copies into a folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from left_running import alive, end, hanging

from jpo.plugins.launch.engines.aws import supervisor
from jpo.plugins.launch.engines.aws.request import PROCESSES, SUPERVISOR

COPIES = """#!/bin/sh
case "$BROKEN" in 1) echo "fatal: no rights to $7" >&2; exit 1;; esac
target="$STORE/${7#s3://}"; mkdir -p "$(dirname "$target")"; cp "$6" "$target"
"""


class Machine:
    """An instance: a folder with a job, and a store."""

    config: str | None = None

    def __init__(self, root: Path) -> None:
        self.folder, self.store, tools = root / "jpo", root / "store", root / "bin"
        for folder in (self.folder, self.store, tools):
            folder.mkdir()
        (tools / "aws").write_text(COPIES)
        (tools / "aws").chmod(0o755)
        self.environment = {"PATH": f"{tools}:/usr/bin:/bin", "STORE": str(self.store)}
        self.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:9"

    def begin(self, *command: str, longest: float | None = None, **more: str) -> subprocess.Popen[str]:
        about = {"run_id": "run-1", "command": command, "folder": str(self.folder), "environment": more}
        about |= {"config": self.config, "longest_seconds": longest, "region": "eu-central-1", "bucket": "ml-runs", "key": "k"}
        (self.folder / "job.json").write_text(json.dumps(about))
        for file in (SUPERVISOR, PROCESSES):
            shutil.copy(file, self.folder)
        words = [sys.executable, str(self.folder / SUPERVISOR.name), str(self.folder)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment, text=True)

    def ended(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        self.said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, self.said
        found: dict[str, Any] = json.loads((self.store / "ml-runs/k/end.json").read_text())
        return found

    def run(self, *command: str, longest: float | None = None, **more: str) -> dict[str, Any]:
        return self.ended(self.begin(*command, longest=longest, **more))

    def brought(self, name: str) -> str:
        return (self.store / "ml-runs/k" / name).read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_command_ends_with_output_log_and_record_in_the_store(machine: Machine) -> None:
    end = machine.run("/bin/sh", "-c", "echo hello $NOTE; echo x > $JPO_RUNLOG_DIR/$JPO_RUN_ID.csv", NOTE="a b")
    assert (end["exit_code"], end["ended_as"]) == (0, "succeeded")
    assert end["ended_at"] >= end["started_at"]
    assert machine.brought("output.log") == "hello a b\n"
    assert machine.brought("runs/run-1.csv") == "x\n"
    assert (machine.folder / "output.log").stat().st_mode & 0o777 == 0o600


def test_config_ini_is_put_where_the_script_reads_it(machine: Machine, tmp_path: Path) -> None:
    (machine.folder / "config.ini").write_text("[training]\nbatch_size = 64\n")
    theirs = tmp_path / "höchst \u0085 odd.ini"
    machine.config = str(theirs)
    assert machine.run("cat", str(theirs))["ended_as"] == "succeeded"
    assert machine.brought("output.log") == "[training]\nbatch_size = 64\n"
    machine.config = str(tmp_path / "no/such/folder/config.ini")
    end = machine.run("true")
    assert (end["ended_as"], "cannot be started" in end["reason"]) == ("failed", True)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (("/bin/sh", "-c", "exit 3"), 3, ""),
        (("/bin/sh", "-c", "kill -9 $$"), None, "SIGKILL"),
        (("/bin/sh", "-c", "kill -40 $$"), None, "ended by signal 40"),
        (("/no/such/program",), 127, "cannot be started"),
    ],
)
def test_a_command_that_fails_says_how(machine: Machine, command: tuple[str, ...], code: int | None, words: str) -> None:
    end = machine.run(*command)
    assert (end["exit_code"], end["ended_as"]) == (code, "failed")
    assert words in end["reason"]


@pytest.mark.parametrize(("kills", "ended_as"), [((7, 8), "oom_killed"), ((7, 7), "failed")])
@pytest.mark.parametrize("command", ["kill -9 $$", "sh -c 'kill -9 $$'; exit $?"])
def test_a_command_that_the_kernel_killed_for_memory_is_told_from_others(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, kills: tuple[int, int], ended_as: str, command: str
) -> None:
    machine.run("true")  # puts job.json there
    counted = iter(kills)
    monkeypatch.setattr(supervisor, "oom_kills", lambda: next(counted))
    run = supervisor.Supervisor(machine.folder)
    run.job["command"] = ["/bin/sh", "-c", command]
    assert {"ended_as": "failed", **run._run()}["ended_as"] == ended_as


def test_a_command_beyond_its_time_is_ended_with_its_children(machine: Machine) -> None:
    end = machine.run("/bin/sh", "-c", "sleep 300 & echo $!; wait", longest=0.5)
    assert end["ended_as"] == "stopped"
    assert "longer than 0.5 s" in end["reason"]
    assert gone(int(machine.brought("output.log")))


def test_the_highest_memory_of_all_its_processes_is_measured(machine: Machine) -> None:
    end = machine.run(
        sys.executable, "-c", "import os, time; os.fork() or os.setsid(); held = bytearray(60_000_000); time.sleep(1.5)"
    )
    assert 0.11 < end["memory_gib"] < 0.3  # two processes, each with 57 MiB of its own


def test_children_left_behind_are_ended(machine: Machine) -> None:
    assert machine.run("/bin/sh", "-c", "sleep 300 & echo $!")["ended_as"] == "succeeded"
    assert gone(int(machine.brought("output.log")))


def gone(pid: int) -> bool:
    for _ in range(1200):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_an_instance_that_is_terminated_brings_home_what_there_is(machine: Machine) -> None:
    process = machine.begin("/bin/sh", "-c", "echo on; exec sleep 300")
    while not (machine.folder / "output.log").exists() or not (machine.folder / "output.log").read_text():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    end = machine.ended(process)
    assert (end["ended_as"], machine.brought("output.log")) == ("stopped", "on\n")


@contextmanager
def metadata() -> Iterator[str]:
    """The metadata service of a spot instance that AWS takes back; it gives no answer without a token."""

    class Service(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.answer("token")

        def do_GET(self) -> None:
            self.answer("{}", 200 if self.headers["X-aws-ec2-metadata-token"] == "token" else 401)

        def answer(self, text: str, status: int = 200) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_spot_instance_that_is_taken_back_says_so_before_it_goes(machine: Machine) -> None:
    with metadata() as address:
        machine.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = address
        end = machine.run("sleep", "300")
    assert end["ended_as"] == "stopped"
    assert "Server.SpotInstanceTermination" in end["reason"]


def test_what_cannot_be_uploaded_is_said_on_the_console(machine: Machine) -> None:
    machine.environment["BROKEN"] = "1"
    process = machine.begin("true")
    said, _ = process.communicate(timeout=60)
    assert "jpo: cannot upload end.json: fatal: no rights to s3://ml-runs/k/end.json" in said


def test_of_long_output_the_end_goes_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LARGEST_BYTES", 10)
    log = tmp_path / "output.log"
    log.write_bytes(b"x" * 90 + b"0123456789")
    assert supervisor.cut(log, 100).read_bytes() == b"[its first 90 bytes were left out]\n0123456789"
    assert supervisor.cut(log, 10) == log


def test_it_imports_nothing_of_jpo_and_compiles_for_python_3_7() -> None:
    import ast

    tree = ast.parse(SUPERVISOR.read_text(), feature_version=(3, 7))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not any(name.startswith("jpo") for name in imported)
    assert os.access(SUPERVISOR, os.R_OK)


def test_what_an_old_python_runs_does_not_evaluate_its_annotations() -> None:
    """`list[int]` is an error when Python 3.8 and older define a function."""
    for file in (SUPERVISOR, PROCESSES):
        assert "\nfrom __future__ import annotations\n" in file.read_text(), file


def test_an_upload_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            supervisor.answered([str(hanging(tmp_path / "aws", mark))], 0.5)
        assert alive(mark) == 0
    finally:
        end(mark)
