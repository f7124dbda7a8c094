"""`jpo optimize --dry-run` through the command line; that nothing is written is in tests/cli/test_dry_run.py."""

from __future__ import annotations

import json

from user_project import Project, empty, project

__all__ = ["empty", "project"]


def test_a_plan_names_runs_engine_first_command_and_limits(project: Project) -> None:
    start = ("optimize", "config.ini", "--dry-run")
    said = " ".join(project.jpo(*start, "--max-cost", "3", "--", "python", "train.py").out.split())
    assert "-b1 of digits/cnn/pytorch on local: not started" in said
    assert "command: python train.py" in said
    assert "plan: at most 13 runs: digits-cnn-" in said
    assert "-b3 with today's values, then digits-cnn-" in said
    assert "time limit of each run: none" in said
    assert "targets: cost_max 3.00 USD" in said
    one = project.jpo(*start, "--runs", "0", "--baseline", "1", "-o", "json", "--", "python", "train.py")
    (job,) = json.loads(one.out)["jobs"]
    assert (job["state"], job["on"], job["command"]) == ("not started", "local", ["python", "train.py"])
    assert "plan: 1 run: digits-cnn-" in job["notes"][0]["text"]
