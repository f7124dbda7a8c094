"""The benchmark of nights: that it plays the real command line, and that its figures are what the text says."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from apparatus.night_figures import Night, Outcome, Written, figures

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "nights.py"
NIGHTS = runpy.run_path(str(SCRIPT))
QUICK = ("--nights", "2", "--jobs", "fixed_epochs", "--fleets", "1")


def played(*options: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    command = [sys.executable, SCRIPT, *QUICK, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def night(ratio=1.0, ends="succeeded", loss=1.0, decided_by="belief", **more):
    return Night(ends, ratio, loss, {}, decided_by=decided_by, **{"keeping": 1.0, **more})


def written(chance=0.8, ratio=1.0, loss=1.0, kind="trial", expected=0.9, ends="succeeded"):
    return Written(kind, chance, expected, expected, Outcome("succeeded", 1.0, 1.0), Outcome(ends, ratio, loss))


@pytest.mark.slow
def test_two_nights_of_a_job_are_played_and_the_promise_is_judged(tmp_path):
    done = played("--json", "--keep", str(tmp_path / "kept"))
    told = json.loads(done.stdout)
    first, second = told["nights"]["jpo"]["fixed_epochs_0"]
    assert (first["decided_by"], first["ratio"] > 1.2, first["loss_ratio"]) == ("no evidence", True, 1.0)
    assert second["decided_by"] in ("sac", "belief")
    assert (done.returncode == 0) == told["holds"]
    assert first["written"] is None
    change = second["written"]
    assert (change["kind"], 0 < change["chance"] < 1, change["cost"] < 1) == ("trial", True, True)
    assert change["then"]["ratio"] == second["ratio"] < change["today"]["ratio"] == second["keeping"]
    folder = tmp_path / "kept" / "jpo" / "fixed_epochs_0"
    assert [log.name for log in sorted((folder / "runs").iterdir())] == ["night-01.csv", "night-02.csv"]
    assert NIGHTS["values_in"](folder / "config.ini") == second["values"]


@pytest.mark.slow
def test_in_process_the_answers_are_those_of_the_command_line(tmp_path):
    by_process, here = (json.loads(played("--json", *more).stdout)["nights"]["jpo"] for more in ((), ("--in-process",)))
    values, decided_by = zip(*((one["values"], one["decided_by"]) for one in by_process["fixed_epochs_0"]), strict=True)
    assert [one["values"] for one in here["fixed_epochs_0"]] == [*values]
    assert [one["decided_by"] for one in here["fixed_epochs_0"]] == [*decided_by]


@pytest.mark.slow
def test_without_faketime_it_says_so_and_plays_all_the_same(tmp_path):
    (tmp_path / "git").symlink_to(shutil.which("git") or "git")
    done = played(path=str(tmp_path))
    assert "apt-get install faketime" in done.stderr
    assert "without faketime; 1 jobs, 2 nights" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("faketime") is None and os.environ.get("CI") != "true", reason="faketime is not installed")
def test_a_night_is_a_day_later_and_the_versions_play_the_same_luck(tmp_path):
    jpo = Path(sys.executable).parent / "jpo"
    played("--jpo", f"one={jpo}", "--jpo", f"other={jpo}", "--observe", "--keep", str(tmp_path / "kept"))
    one, other = (
        [(tmp_path / "kept" / name / "fixed_epochs_0" / "runs" / f"night-0{n}.csv").read_text() for n in (1, 2)]
        for name in ("one", "other")
    )
    assert one == other
    starts = [float(text.partition("# start=")[2].partition("\n")[0]) for text in one]
    assert starts[1] - starts[0] == 86400


def test_figures_are_geometric_means_of_the_last_three_nights_and_counts():
    well = [night(2.0), night(1.0), night(1.0), night(1.0, decided_by="sac")]
    badly = [
        night(4.0, "oom_killed", decided_by="no evidence"),
        night(1.5),
        night(1.5, loss=1.031),
        night(1.5, decided_by="rollback"),
    ]
    them = figures([well, badly])
    assert them.last == pytest.approx(1.5**0.5)
    assert them.first == pytest.approx(8**0.5)
    assert them.every == pytest.approx((5.0 + 8.5) / 8)
    assert (them.stuck, them.worse, them.failed, them.by_sac) == (1, 1, 1, 1 / 7)


@pytest.mark.parametrize(
    ("held", "broken"),
    [
        ([night(1.06)] * 50, [night(1.07)] * 50),  # the last nights
        ([night()] * 49 + [night(1.15)], [night()] * 47 + [night(1.16)] * 3),  # of no job
        ([night()] * 50, [night()] * 49 + [night(loss=1.04)]),
        ([night(4.0, "failed")] + [night()] * 49, [night(4.0, "failed")] * 2 + [night()] * 49),
        ([night(1.21)] + [night()] * 39, [night(1.21)] + [night()] * 38),  # dearer than keeping
        ([night(written=written(0.5))] * 50, [night(written=written(0.49))] * 50),
        ([night(written=written(expected=1.05))] * 50, [night(written=written(expected=1.06))] * 50),
        ([night(1.18, keeping=2.0)] * 50 + [night()] * 3, [night(1.19, keeping=2.0)] * 500 + [night()] * 3),  # all nights
    ],
)
def test_the_promise_is_that_of_the_report(held, broken):
    assert figures([held]).holds
    assert not figures([broken]).holds


def test_a_claim_holds_by_what_kind_it_is():
    assert written(ratio=1.09).holds
    assert not written(ratio=1.11).holds
    assert not written(loss=1.03).holds
    assert not written(ends="oom_killed").holds
    assert written(kind="improvement", ratio=0.99).holds
    assert not written(kind="improvement").holds


def test_claims_are_held_against_what_came():
    them = figures([[night(written=written(0.8)), night(written=written(0.6, ratio=2.0)), night(written=written(None))]])
    assert (them.changes, them.claims, them.claimed, them.kept) == (3, 2, pytest.approx(0.7), 0.5)
    assert them.brier == pytest.approx((0.2**2 + 0.6**2) / 2)


def test_a_change_of_before_there_were_kinds_is_told_by_its_first_reason():
    def kind(*codes, by="sac", **more):
        return NIGHTS["kind_of"]({"reason_codes": codes, "decided_by": by, **more})

    assert (kind("JPO-I604"), kind("JPO-I603"), kind(by="rollback"), kind(by="recovery")) == (
        "trial",
        "improvement",
        "return",
        "recovery",
    )
    assert kind("JPO-I604", kind="improvement") == "improvement"


def test_a_worse_model_that_costs_less_is_no_gain():
    job = NIGHTS["job_of"]("fixed_epochs", 0)
    values = {**job.values, **NIGHTS["best"](job)[0]}
    least = NIGHTS["best"](job)[1]
    assert NIGHTS["judged"](job, least, values).ratio == pytest.approx(1)
    large = NIGHTS["judged"](job, least, {**values, "batch_size": 1024.0})
    assert (large.ratio, large.loss_ratio > 1.03) == (1.0, True)


def test_data_that_grow_make_every_night_longer_and_nothing_else():
    job = NIGHTS["job_of"]("fixed_epochs", 0)
    longer = NIGHTS["grown"](job, 1.5)
    assert (longer.truth.samples, longer.values, longer.allowed) == (1.5 * job.truth.samples, job.values, job.allowed)
