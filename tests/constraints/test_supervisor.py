"""The supervisor of the team's checker: what a branch names can neither look into JPO nor outlive it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from constraints import supervisor
from constraints.workload_checker import run_checker

CONSTRAINTS = Path(supervisor.__file__).parent
SECRET = "s3cret-of-the-runner"
CALL = """
import sys
sys.path[0] = sys.argv[1]
from constraints.workload_checker import run_checker
print(run_checker(["sh", "-c", sys.argv[2], "{config}"], b"x", "config.ini", 20.0))
"""
LOOKS = {
    "parent": "cat /proc/$PPID/environ; exit 3",
    "everywhere": "grep -las s3cret-of-the-runner /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ | sed 's/^/SEEN /'; exit 3",
    "memory": 'for p in $PPID $(cut -d" " -f4 /proc/$PPID/stat); do (: < /proc/$p/mem) 2>/dev/null && echo SEEN; done; exit 3',
}


@pytest.fixture(scope="module")
def code() -> Iterator[Path]:
    """The guard's code where every user can read it."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shutil.copytree(CONSTRAINTS, folder / "constraints", ignore=shutil.ignore_patterns("__pycache__"))
    yield folder
    shutil.rmtree(folder)


def call(code: Path, script: str, python: str = sys.executable) -> list[str]:
    """The command line of a process that asks a checker."""
    return [python, "-I", "-S", "-c", CALL, str(code), script]


def python_of(user: int) -> str:
    """A Python that another user can run: the one of these tests may lie in the home of root."""
    asks = ["-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    for python in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        with suppress(OSError):
            if subprocess.run([python, *asks], user=user, group=user, extra_groups=[], cwd="/", check=False).returncode == 0:
                return python
    pytest.skip(f"no Python 3.11 that user {user} can run")


def gone(pid: int) -> bool:
    """Whether a process ends within 20 seconds; a zombie has ended."""
    for _ in range(1000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or while it was read
            return True
        time.sleep(0.02)
    return False


def pids_in(file: Path, count: int) -> list[int]:
    """Process numbers, one in a line, as soon as all have been written."""
    for _ in range(3000):
        if file.exists() and len(pids := file.read_text().split()) == count:
            return [int(pid) for pid in pids]
        time.sleep(0.02)
    raise AssertionError(f"{file} has not got {count} lines within a minute")


@pytest.mark.parametrize("user", [0, 65534])
@pytest.mark.parametrize("script", LOOKS.values(), ids=LOOKS)
def test_no_secret_of_the_environment_is_seen(code: Path, user: int, script: str) -> None:
    """Neither in JPO nor in the shell that started it. Without Landlock, the shell of the same user would be open."""
    if user and os.geteuid():
        pytest.skip("only root can start another user's process")
    shell = ["sh", "-c", '"$@"; true', "sh"] if supervisor._system_call(supervisor.CREATE_RULESET, None, 0, 1) >= 2 else []
    environment = {"PATH": os.environ["PATH"], "JPO_PROMETHEUS__AUTH__TOKEN": SECRET}
    other: dict[str, Any] = {"user": user, "group": user, "extra_groups": [], "cwd": "/"} if user else {}
    command = shell + call(code, script, python_of(user) if user else sys.executable)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **other)
    assert done.stdout.startswith("sh rejects with exit code 3"), done.stdout + done.stderr
    assert SECRET not in done.stdout
    assert "SEEN" not in done.stdout


def test_all_that_it_started_dies_with_jpo(code: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f'echo $$ >> "{pids}"; sleep 60 & echo $! >> "{pids}"; setsid sh -c \'echo $$ >> "{pids}"; sleep 60\' & wait'
    with subprocess.Popen(call(code, script), stdout=subprocess.DEVNULL) as jpo:
        started = pids_in(pids, 3)
        jpo.send_signal(signal.SIGKILL)
    assert [pid for pid in started if not gone(pid)] == []


@pytest.mark.parametrize("end", ["exit 0", "sleep 60"])
def test_leaving_the_process_group_is_no_way_to_survive(tmp_path: Path, end: str) -> None:
    pids = tmp_path / "pids"
    daemon = f'(setsid sh -c \'echo $$ >> "{pids}"; sleep 60\' &) ; while [ ! -s "{pids}" ]; do sleep 0.02; done'
    answer = run_checker(["sh", "-c", f"{daemon}; {end}", "{config}"], b"x", "config.ini", 2)
    assert answer == (None if end == "exit 0" else "sh did not answer within 2 s")
    assert all(map(gone, pids_in(pids, 1)))


def test_a_checker_that_kills_its_supervisor_has_not_approved_and_dies(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    answer = run_checker(["sh", "-c", f'echo $$ > "{pid}"; kill -9 $PPID; sleep 60', "{config}"], b"x", "config.ini", 20)
    assert answer == "sh was ended by signal 9 without any output"
    assert time.monotonic() - began < 10
    assert gone(int(pid.read_text()))


def test_files_can_still_be_moved_between_folders(tmp_path: Path) -> None:
    """Landlock forbids that unless it is told not to."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    command = ["sh", "-c", f'ln "{tmp_path}/file" "{tmp_path}/folder/file"', "{config}"]
    assert run_checker(command, b"x", "config.ini", 20) is None


def test_it_gets_no_descriptor_and_no_ignored_signal_of_jpo() -> None:
    script = "ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status; exit 1"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        answer = run_checker(["sh", "-c", script, "{config}"], b"x", "config.ini", 20)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert answer is not None
    said, _, ignored = answer.rpartition(" ")
    assert said == "sh rejects with exit code 1: 0 1 2 3 SigIgn:"
    assert not {number for number in signal.valid_signals() if int(ignored, 16) >> (number - 1) & 1}


def test_jpo_can_be_looked_into_again_afterwards() -> None:
    before = supervisor._prctl(supervisor.PR_GET_DUMPABLE)
    with supervisor.out_of_sight():
        assert supervisor._prctl(supervisor.PR_GET_DUMPABLE) == 0
    assert supervisor._prctl(supervisor.PR_GET_DUMPABLE) == before
