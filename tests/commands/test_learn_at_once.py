"""`jpo learn` beside others and under the axe: two at once on one store, kill -9 in the middle, a store that takes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from jpo.agent.sealed import header_of
from jpo.history import open_store, verify
from jpo.learning.continual import progress_of
from jpo.learning.serving import AGENT

if TYPE_CHECKING:
    from pathlib import Path

    from user_project import Project

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

IN_SMALL_PARTS = """
import sys
import jpo.commands.learn, jpo.learning.forks, jpo.learning.release, jpo.learning.scenarios
from jpo.cli.main import cli
jpo.commands.learn.SAVED_SECONDS = jpo.learning.release.SAVED_SECONDS = 0.5
jpo.learning.release.RELEASE_JOBS, jpo.learning.release.MOST_JOBS = 12, 3
jpo.learning.scenarios.RUNS, jpo.learning.forks.AHEAD = 4, 1
cli(sys.argv[1:])
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, project: Project, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with four of the project's runs on record; the first of them is the reference of the others."""
    for log in sorted((project.folder / "runs").iterdir())[4:]:
        log.unlink()
    if request.param == "sqlite":
        address = f"sqlite:///{project.folder}/history.db"
    else:
        address = request.getfixturevalue("postgres").new_database()
    monkeypatch.setenv("JPO_STORE__URL", address)
    assert project.jpo("observe").code == 0
    return str(address)


def begun(folder: Path, budget: str) -> subprocess.Popen[str]:
    """`jpo learn` as a process of its own, which saves every half second, and whose release test is short."""
    command = [sys.executable, "-c", IN_SMALL_PARTS, "learn", "config.ini", "--budget", budget]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def learnt(url: str) -> int:
    """Runs that the agent in the store has learnt; what is on record says the same, and the chain is whole."""
    with open_store(url) as store:
        saved = store.load_agent(AGENT)
        on_record = sum(record.data["runs"] for record in store.audit_records() if record.kind == "learnt")
        assert verify(store).ok
        runs = progress_of(header_of(saved[0]))[0] if saved else 0
    assert on_record == runs, "nothing twice, and nothing by half"
    return runs


def has_learnt(url: str) -> bool:
    """Whether an agent is in the store. One that is being written is only looked at: its record is read a moment later."""
    with open_store(url) as store:
        return store.load_agent(AGENT) is not None


def wait_until(happened: Callable[[], bool]) -> None:
    for _ in range(2400):
        if happened():
            return
        time.sleep(0.1)
    pytest.fail("nothing was learnt in four minutes")


@pytest.mark.slow
def test_two_that_learn_at_once_lose_nothing_and_neither_fails(project: Project, url: str) -> None:
    processes = [begun(project.folder, "10m") for _ in range(2)]
    said = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    assert learnt(url) == 3, said
    assert all("(3 of all workloads so far)\nrelease test: " in out for out, _ in said), said


@pytest.mark.slow
def test_what_was_saved_before_a_kill_stays_and_the_next_goes_on_from_there(project: Project, url: str) -> None:
    process = begun(project.folder, "10m")
    wait_until(lambda: has_learnt(url) or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = learnt(url)
    assert kept > 0
    after = begun(project.folder, "10m")
    out, err = after.communicate()
    assert (after.returncode, err) == (0, "")
    assert learnt(url) == 3, out


def test_a_store_that_may_only_be_read_ends_in_one_line_before_the_time_is_spent(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_database()
    monkeypatch.setenv("JPO_STORE__URL", url)
    assert project.jpo("observe").code == 0
    monkeypatch.setenv("JPO_STORE__URL", f"{url}&options=-c%20default_transaction_read_only%3Don")
    started = time.monotonic()
    answer = project.jpo("learn", "config.ini", "--budget", "120s")
    assert (answer.code, answer.err.count("\n"), answer.out) == (5, 1, ""), answer
    assert "read-only" in answer.err
    assert time.monotonic() - started < 30
    assert learnt(url) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_file_ends_in_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    store = project.folder / "store" / "history.db"
    store.parent.mkdir()
    monkeypatch.setenv("JPO_STORE__URL", f"sqlite:///{store}")
    assert project.jpo("observe").code == 0
    store.chmod(0o444)
    store.parent.chmod(0o555)
    answer = project.jpo("learn", "config.ini", "--budget", "120s")
    store.parent.chmod(0o755)
    assert (answer.code, answer.err.count("\n"), answer.out) == (5, 1, "")
