"""Real drills on a copy of the quickstart's example; what a broken promise looks like."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.__main__ import run
from jpo.commands.doctor import drill as module
from jpo.commands.doctor.case import Case
from jpo.commands.doctor.drill import FROZEN, FULL, KILLED, LOCKED, Copy, copied, disturbed, drill, drilled, drilled_each, ended
from jpo.errors import StoreError
from jpo.project.load import load

EXAMPLE = Path(__file__).parents[3] / "examples" / "quickstart"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, with a store."""
    shutil.copytree(
        EXAMPLE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__")
    )  # of a test that imports record.py
    monkeypatch.chdir(tmp_path / "project")
    assert run(["suggest", "config.ini", "--offline", "--no-learn", "--dry-run"]) == 0
    assert run(["observe", "--for", "config.ini", "--offline"]) == 0
    return tmp_path / "project"


@pytest.fixture
def case(project: Path) -> Case:
    config = project / "config.ini"
    return Case(config, lambda: load(config, None, {}, {}), {}, now=time.time(), offline=True)


@pytest.fixture
def copy(case: Case, tmp_path: Path) -> Copy:
    return copied(case, tmp_path / "drill")


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


def test_each_kind_of_drill_keeps_its_promises_and_the_users_files_stay_as_they_are(
    project: Path, case: Case, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROMETHEUS_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", "secret-token")
    kinds = (("suggest", KILLED, 0.8), ("suggest", FROZEN, 0.8), ("suggest", FULL, 0.0), ("suggest", LOCKED, 0.0))
    monkeypatch.setattr(module, "DRILLS", kinds)
    before = contents(project)
    checkup = drill(case, lambda numbers, _: numbers, seconds=1e6)
    assert contents(project) == before
    assert [(line.status, line.topic) for line in checkup.lines] == [("ok", "Drill")] * 5
    assert checkup.exit_code == 0
    record, *drills = checkup.lines
    assert "store with sha256 " in record.finding
    assert os.uname().nodename in record.finding
    for line in drills:
        assert "nothing is left running" in line.finding
        assert "audit records verified" in line.finding
    assert drills[2].finding.startswith("exit 5; config.ini is the old one")
    assert drills[3].finding.startswith("exit 5; config.ini is the old one")
    assert "secret-token" not in str(checkup) + "".join(capfd.readouterr())


def test_what_there_was_no_time_for_is_said(case: Case) -> None:
    checkup = drill(case, lambda numbers, _: numbers, seconds=-1.0)
    assert [line.name for line in checkup.lines] == ["record", "time"]
    assert checkup.lines[1].finding == "20 of 20 drills were not begun within -1 s"
    assert checkup.exit_code == 0


def test_the_copy_has_all_that_a_command_reads_and_nothing_else(project: Path, copy: Copy) -> None:
    (project / "README.md").unlink()
    (project / "record.py").unlink()
    theirs = {file.relative_to(project) for file in project.rglob("*") if file.is_file()}
    ours = {file.relative_to(copy.prepared) for file in copy.prepared.rglob("*") if file.is_file()}
    assert {file for file in ours if ".jpo" not in file.parts} == {file for file in theirs if ".jpo" not in file.parts}
    assert Path(".jpo", "jpo.db") in ours


def test_logs_that_are_none_are_not_copied(project: Path, case: Case, tmp_path: Path) -> None:
    os.mkfifo(project / "runs" / "pipe.csv")
    (project / "runs" / "folder.csv").mkdir()
    (project / "runs" / "circle.csv").symlink_to("circle.csv")
    (project / "jpo.toml").write_text((project / "jpo.toml").read_text().replace("runs/*.csv", "**/*"))
    ours = copied(case, tmp_path / "drill").prepared
    assert {file.name for file in (ours / "runs").iterdir()} == {file.name for file in (EXAMPLE / "runs").iterdir()}


@pytest.mark.parametrize("make", [lambda _: None, Path.mkdir, os.mkfifo])
def test_a_config_ini_that_is_none_is_an_error_of_its_own(
    project: Path, make: Callable[[Path], None], capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "config.ini").unlink()
    make(project / "config.ini")
    assert run(["doctor", "--drill"]) == 2
    assert "[JPO-E2" in capfd.readouterr().err


def test_the_teams_checker_is_not_run(project: Path, copy: Copy) -> None:
    with (copy.folder / "jpo.toml").open("a") as toml:
        toml.write(f'[check]\ncommand = ["touch", "{project / "touched"}", "{{config}}"]\n')
    assert ended(copy.start("suggest")) == 0
    assert not (project / "touched").exists()


def test_a_full_disk_is_an_error_that_names_it(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Copy:
        raise OSError(28, "No space left on device", "full/before")

    monkeypatch.setattr(module, "copied", full)
    with pytest.raises(StoreError, match=r"full/before: the project cannot be copied \(No space left on device\)"):
        drill(case, lambda numbers, _: numbers)


def test_what_is_interrupted_leaves_no_frozen_command(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(copy: Copy, name: str) -> None:
        copy.start(name).send_signal(signal.SIGSTOP)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "undisturbed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        drilled_each(copy, lambda numbers, _: numbers, time.monotonic() + 1e6)
    assert [process.returncode for process in copy.started] == [-signal.SIGKILL]


BREAKS = {
    "config.ini is torn": "open('config.ini', 'w').write('[')",
    "it was written as the exit code says": "pass",
    "settings and logs are as they were": "open('jpo.toml', 'a').write(' ')",
    "the store ": "open('.jpo/jpo.db', 'w').write('x' * 9999)",
    "0 audit records verified, ": "import os; os.unlink('.jpo/jpo.db')",
    "the next one ends with 1": "raise SystemExit(1)",
    "exit 1": "raise SystemExit(1)",
    "nothing is left running": "import os, time; os.fork() or (os.close(1), os.close(2), time.sleep(60))",
}


@pytest.mark.parametrize("promise", BREAKS)
def test_a_promise_that_is_broken_is_a_problem_with_a_code(copy: Copy, promise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: Copy, _name: str, **_: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-S", "-c", BREAKS[promise]], cwd=self.folder, start_new_session=True)

    monkeypatch.setattr(Copy, "start", start)
    line = drilled(copy, "suggest", FULL, 0.0, 1.0, [b"new"])
    assert (line.status, line.code, line.exit_code) == ("problem", "JPO-E518", 5)
    assert promise in line.finding


def test_a_command_that_does_not_end_is_killed_and_said(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STUCK_SECONDS", 0.2)
    monkeypatch.setattr(Copy, "start", lambda *_, **__: subprocess.Popen(["sleep", "60"], start_new_session=True))
    codes, groups = disturbed(copy, "suggest", FULL, 0.0)
    assert codes == [None]
    assert not module.still_there(groups[0])
