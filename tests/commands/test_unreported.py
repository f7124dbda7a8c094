"""What a run used and did not report is not free: every report prices it by the values that the workload has."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

HOUR_USD = 2 * 3.0 + 2 * 0.04
"""An hour of two GPUs and two CPUs; the logs of these runs name the CPUs alone."""


@pytest.fixture
def unreported(project: Project) -> Project:
    with project.config.open("a") as config:
        config.write("gpus = 2\n")
    with (project.folder / "jpo.toml").open("a") as toml:
        toml.write("usd_per_gpu_hour = 3.0\n[sla]\ncost_max = 100\n")
    first = project.folder / "runs/run-0.csv"
    first.write_text(first.read_text().replace("# cpus=2", "# cpus=2\n# gpus=2"))
    return project


def test_a_check_of_the_sla_counts_it(unreported: Project) -> None:
    (run,) = json.loads(unreported.jpo("sla", "check", "run-5", "-o", "json").out)["runs"]
    (check,) = run["checks"]
    assert check["measured"] == pytest.approx(41 / 3600 * HOUR_USD)


def test_suggested_sla_targets_count_it(unreported: Project) -> None:
    told = json.loads(unreported.jpo("sla", "suggest", "-o", "json").out)["thresholds"]
    assert next(one for one in told if one["name"] == "cost_max")["most"] == pytest.approx(104 / 3600 * HOUR_USD)


def test_figures_of_logs_count_it(unreported: Project) -> None:
    figures = json.loads(unreported.jpo("lab", "logs", "-o", "json").out)
    assert figures["workloads"][0]["cost_usd"]["least"] == pytest.approx(40 / 3600 * HOUR_USD)


def test_ledger_explanation_and_comparison_count_it(unreported: Project) -> None:
    unreported.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    now = time.time()
    for number, seconds in enumerate((40.0, 41.0, 42.0)):
        unreported.log(0, 64, seconds, start=now + 100 * number, name=f"after-{number}")
    unreported.jpo("observe")
    explained = json.loads(unreported.jpo("explain", "-o", "json").out)
    past = {one["quantity"]: one["median_error"] for one in explained["suggestion"]["track_record"]}
    assert past["cost_usd"] == pytest.approx(past["duration_seconds"])
    assert [run["outcome"]["cost_usd"] for run in explained["followed_by"]] == pytest.approx(
        [s / 3600 * HOUR_USD for s in (40, 41, 42)]
    )
    compared = json.loads(unreported.jpo("history", "--compare", "--for", "config.ini", "-o", "json").out)["workloads"][0]
    duration, cost = compared["since_first_change"][:2]
    for side in ("before", "after"):
        assert cost[side] == pytest.approx(duration[side] / 3600 * HOUR_USD)
