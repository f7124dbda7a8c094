from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from two_runs import CONFIG, TOML

from jpo.cli.main import cli
from jpo.errors import UsageError


def test_several_logs_are_read_in_one_call(jpo: Callable[..., str]) -> None:
    out = jpo("observe", "--csv", "run-0.csv", "--csv", "run-1.csv")
    assert out.count("recorded run-") == 2


def test_a_run_by_hand_has_the_status_and_the_file_that_are_named(jpo: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "other.ini").write_text((tmp_path / "config.ini").read_text().replace("cnn", "mlp"))
    words = ("--for", "other.ini", "--status", "diverged", "--metric", "duration_seconds=9")
    assert jpo("observe", "r1", *words).startswith("recorded r1: digits/mlp/torch, diverged")


def test_a_status_that_does_not_exist_is_refused(jpo: Callable[..., str]) -> None:
    assert CliRunner().invoke(cli, ["observe", "r1", "--status", "fine"]).exit_code == 2


@pytest.mark.parametrize("metric", ["val_loss", "=3"])
def test_a_metric_without_name_or_value_is_refused(jpo: Callable[..., str], metric: str) -> None:
    assert isinstance(CliRunner().invoke(cli, ["observe", "r1", "--metric", metric]).exception, UsageError)


def test_who_waits_for_many_logs_sees_how_far_it_is_and_a_pipe_does_not(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "jpo.toml").write_text(TOML)
    rows = "# dataset=digits\n# model=cnn\n# framework=torch\n# batch_size=16\n# cpus=2\n"
    for number in range(120):
        start, end = 1000 * number, 1000 * number + 9
        log = f"# run_id=run-{number}\n{rows}# start={start}\ntime,epoch,samples,train_loss,val_loss\n{end},1,1500,0.2,0.1\n"
        (tmp_path / f"run-{number}.csv").write_text(f"{log}# end={end}\n# status=succeeded\n")
    command = [sys.executable, "-m", "jpo", "suggest", "config.ini", "--dry-run", "--no-learn"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert piped.stderr == b""
    ours, theirs = pty.openpty()
    absurd = {"TERM": "xterm", "COLUMNS": "9" * 5000, "LINES": "9" * 5000}  # no size of a terminal
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, check=True, env={**os.environ, **absurd})
    seen = os.read(ours, 100_000)
    for end in (ours, theirs):
        os.close(end)
    assert b"reading logs" in seen
