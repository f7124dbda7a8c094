"""The table of attacks through whole pipelines: log, annotations, outputs, step summary, dotenv and report of both templates.

config.ini, its workload, logs, jpo.toml, and what the platform says of branch and user: who opens a merge request writes them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, check_html, check_json, check_markdown, steered, too_long
from commands.test_attacks import CALLER, CONFIG, LOG, TOML, WORKLOAD
from pipelines.test_github import ACTION, outputs, run_step
from pipelines.test_gitlab import jobs, run_job

BRANCH = "@admin/##[error]section_start:1:a\x1b[2J=1+1"
SECONDS = {16: 100, 64: 30}


@pytest.fixture
def hostile(machine: Any) -> Any:
    """The machine with a checkout that an attacker wrote, and runs after which another batch is suggested."""
    folder: Path = machine.repository
    (folder / "config.ini").write_text(CONFIG)
    (folder / "jpo.toml").write_text(TOML.replace("logs/*.csv", "hostile/*.csv"))
    (folder / "hostile").mkdir()
    for number in range(8):
        size = (16, 64)[number % 2]
        start = 1_700_000_000 + 1000 * number
        text = (
            LOG.format(name=f"@run {number} ##[error]")
            .replace("batch_size=16", f"batch_size={size}")
            .replace("model=m", f"model={WORKLOAD.model}")
        )
        text = re.sub("dataset=.*", lambda _: f"dataset={WORKLOAD.dataset}", text).replace(
            "framework=f", f"framework={WORKLOAD.framework}"
        )
        text = text.replace("1700000100", str(start + SECONDS[size])).replace("1700000000", str(start))
        (folder / "hostile" / f"@admin ##[error] {number}.csv").write_text(text)
    return machine


def check_report(folder: Path) -> None:
    check_json((folder / "suggestion.json").read_text())
    assert json.loads((folder / "suggestion.json").read_text())["status"] == "changed"
    summary = (folder / "summary.md").read_text()
    assert (steered(summary), "digits" in summary) == ([], False)
    check_markdown(summary)


def test_nothing_steers_a_pipeline_on_github(hostile: Any, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text(json.dumps({"repository": {"default_branch": "main"}, "head": ATTACKS}))
    said = {"GITHUB_REF": f"refs/heads/{BRANCH}", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    hostile = replace(hostile, environment={**hostile.environment, **CALLER, **said})
    for step in ("Suggest", "Guard"):
        done = run_step(hostile, tmp_path, ACTION, step)
        assert done.returncode == 0, done.stderr
        assert steered(done.stdout) + steered(done.stderr) + too_long(done.stdout) == []
    done = run_step(hostile, tmp_path, ACTION, "Report")
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stdout.splitlines() if not line.startswith("::notice file=config.ini,")]
    assert (notices, done.stdout.count("::notice")) == ([], len(json.loads(outputs(tmp_path)["changes"])))
    assert [line for line in done.stdout.splitlines() if not line.isprintable() or "##[" in line] == []
    assert list(outputs(tmp_path)) == ["status", "suggestion-id", "report", "old", "new", "changes"]
    check_markdown((tmp_path / "summary").read_text())
    check_report(tmp_path / "jpo-report")


def test_nothing_steers_a_pipeline_on_gitlab(hostile: Any) -> None:
    here = {
        "GITLAB_CI": "true",
        "CI_COMMIT_REF_NAME": BRANCH,
        "CI_DEFAULT_BRANCH": "main",
        "GITLAB_USER_LOGIN": BRANCH,
        "CI_JOB_URL": BRANCH,
    }
    for job in jobs().values():
        done = run_job(hostile, job, **here)
        assert done.returncode == 0, done.stdout + done.stderr
        assert steered(done.stdout) + steered(done.stderr) + too_long(done.stdout) == []
    report = hostile.repository / "jpo-report"
    check_report(report)
    lines = (report / "jpo.env").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"JPO_[A-Z0-9_]+=[0-9A-Za-z_.+-]+", line)] == []


def test_a_branch_is_named_without_obeying_it(hostile: Any, tmp_path: Path) -> None:
    here = {"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": BRANCH, "CI_DEFAULT_BRANCH": "main"}
    files = " ".join(f"--output-file {tmp_path}/s.{form}" for form in ("md", "html", "txt"))
    done = hostile.run(["bash", "-ec"], f"jpo suggest config.ini --dry-run {files}", here)
    assert (done.returncode, "JPO-I858" in done.stdout or "branch" in done.stdout) == (0, True), done.stderr
    assert steered(done.stdout) == []
    check_markdown((tmp_path / "s.md").read_text())
    check_html((tmp_path / "s.html").read_text())


def test_the_guard_names_what_it_rejects_without_obeying_it(tmp_path: Path) -> None:
    lines = [line for attack in ATTACKS for line in attack.splitlines()[:1] if line.strip() and len(line) < 10_000]
    options = "".join(f"[{line.replace(']', ' ')}]\nbatch_size = 16\nlr {number} = {line}\n" for number, line in enumerate(lines))
    (tmp_path / "before.ini").write_text(options)
    (tmp_path / "after.ini").write_text(options.replace("= 16", "= 1048576").replace("lr 1 =", "lr 1 = x"))
    (tmp_path / "jpo.toml").write_text('[parameters]\nbatch_size = { key = "@admin and me@evil.example.batch_size", max = 64 }\n')
    command = [sys.executable, "-I", str(Path(__file__).parents[2] / "constraints"), "before.ini", "after.ini"]
    for limits in ([], ["--limits", "jpo.toml"], ["--limits", BRANCH]):
        done = subprocess.run([*command, *limits], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (1, 2)
        assert steered(done.stdout) + steered(done.stderr) + too_long(done.stdout + done.stderr) == []
        assert done.stdout or done.stderr
