"""Several jobs in one call, and the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from loops import CONFIG, Lab

from jpo.__main__ import run
from jpo.errors import UsageError
from jpo.plugins.launch.cli.optimize import configs_and_command


def test_jobs_go_side_by_side_and_each_has_its_own_runs(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    one, other = lab.task("a/config.ini", "cnn"), lab.task("b/config.ini", "mlp")
    began = lab.now
    ended = lab.optimize(one, other, runs=1, baseline=1, at_once=2)
    assert [len(job.runs) for job in ended.jobs] == [2, 2]
    assert [name.rpartition("-")[2] for name in lab.started] == ["b1", "b1", "1", "1"]
    assert lab.now - began < 1.2 * 2 * 3620  # not four runs one after the other


def test_one_job_that_fails_stops_no_other(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    one, other = lab.task("a/config.ini", "cnn"), lab.task("b/config.ini", "mlp")
    one.path.write_text("[workload]\n")
    ended = lab.optimize(one, other, runs=1)
    assert ended.failure is not None
    failed, well = ended.jobs
    assert (failed.failure is None, failed.missing, well.failure, well.missing) == (False, 1, None, 0)


def test_interrupted_side_by_side_every_run_is_cancelled(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    sleep, began = lab.sleep, lab.now

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        if lab.now > began + 100 and lab.sleep is interrupted:
            lab.sleep = sleep  # type: ignore[method-assign]
            raise KeyboardInterrupt

    lab.sleep = interrupted  # type: ignore[method-assign]
    outside = lab.outside()
    tasks = [lab.task("a/config.ini", "cnn"), lab.task("b/config.ini", "mlp")]
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(*tasks, at_once=2)
    assert outside.clock() > began
    assert [(entry.end is not None, entry.recorded) for entry in lab.entries()] == [(True, True), (True, True)]


def test_one_file_twice_is_refused(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    with pytest.raises(UsageError) as caught:
        lab.optimize(lab.task(), lab.task())
    assert caught.value.code == "JPO-E787"


def test_the_files_stand_before_the_command() -> None:
    assert configs_and_command(["a.ini", "b/c.cfg", "python", "train.py", "a.ini"]) == (
        [Path("a.ini"), Path("b/c.cfg")],
        ("python", "train.py", "a.ini"),
    )
    with pytest.raises(UsageError) as caught:
        configs_and_command(["python", "a.ini"])
    assert caught.value.code == "JPO-E311"


def test_a_name_that_no_run_can_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG.format(model="cnn"))
    assert run(["optimize", "config.ini", "--name", "a b", "--", "true"]) == 2


def test_without_a_command_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG.format(model="cnn"))
    assert run(["optimize", "config.ini", "--runs", "1", "-o", "json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("JPO-E756") == err.count("\n") == 1
    assert "`-- python train.py` behind config.ini" in err
    assert not Path(".jpo").exists()


def test_what_was_made_can_be_shown_without_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG.format(model="cnn"))
    plan = ["optimize", "config.ini", "--baseline", "1", "--runs", "0", "-o", "json"]
    assert run([*plan, "--", sys.executable, "-c", ""]) == 0
    made = json.loads(capsys.readouterr().out)["jobs"][0]["runs"]
    assert run(plan) == 0
    assert json.loads(capsys.readouterr().out)["jobs"][0]["runs"] == made


@pytest.mark.parametrize(("command", "code"), [([], "JPO-E756"), (["--", "nope.py"], "JPO-E773")])
def test_a_command_that_cannot_be_run_changes_no_config_ini(
    command: list[str], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("config.ini").write_text(CONFIG.format(model="cnn"))
    assert run(["optimize", "config.ini", "--baseline", "0", "--runs", "1", "--no-learn", "--offline", *command]) == 2
    assert code in capsys.readouterr().err
    assert Path("config.ini").read_text() == CONFIG.format(model="cnn")
    assert not Path(".jpo").exists()


def test_why_a_single_job_failed_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG.format(model="cnn"))
    assert run(["optimize", "config.ini", "--runs", "0", "--baseline", "1", "-o", "json", "--", "nosuch"]) == 7
    assert capsys.readouterr().err.count("JPO-E758") == 1
