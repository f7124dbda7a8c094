"""`jpo cluster evaluate` as a user meets it: figures, grids, fail conditions, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from jpo.__main__ import run
from jpo.errors import UsageError
from jpo.plugins.cluster.story.scenarios import named_rules

LOG = """\
; MaxProcs: 4
1 0 -1 10 3 -1 -1 3 10 -1 1 1 -1 -1 -1 -1 -1 -1
2 1 -1 5 4 -1 -1 4 5 -1 1 2 -1 -1 -1 -1 -1 -1
3 2 -1 8 1 -1 -1 1 8 -1 1 1 -1 -1 -1 -1 -1 -1
4 3 -1 -1 1 -1 -1 1 8 -1 5 1 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.swf").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "t.swf"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["cluster", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_one_policy_gives_its_figures_at_the_top(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "--workload", "t.swf", "--procs", "4", "--policy", "fcfs", "--backfill", "easy", "-o", "json")
    code, out, err = answer(capsys, *words)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["avg_wait_seconds"] == 3  # 0, 9 and 0
    assert found["avg_bounded_slowdown"] == pytest.approx((1 + 1.4 + 1) / 3)
    assert (found["makespan_seconds"], found["policy"]) == (15, "fcfs+easy")
    assert found["utilisation"] == pytest.approx((30 + 20 + 8) / 60)
    assert found["jobs_per_second"] > 0
    assert found["notes"] == ["t.swf: 1 job never ran: left out."]


def test_a_grid_has_every_policy_with_every_backfilling_in_every_form(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "--workload", "t.swf", "--policy", "fcfs,sjf", "--backfill", "none,easy", "--jobs", "1")
    code, out, _ = answer(capsys, *words)
    assert code == 0
    assert [line.split()[0] for line in out.split("\n")[4:8]] == ["fcfs", "fcfs+easy", "sjf", "sjf+easy"]
    names = [one["policy"] for one in json.loads(answer(capsys, *words, "-o", "json")[1])["results"]]
    assert names == ["fcfs", "fcfs+easy", "sjf", "sjf+easy"]
    assert answer(capsys, *words, "-o", "csv")[1].split("\n")[0].startswith("policy,seed,avg_wait_seconds,p95_wait_seconds")


def test_several_processes_find_the_same(log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.plugins.cluster.grid.WORTH_PROCESSES", 100)
    words = ("evaluate", "--draw", "200", "--procs", "16", "--seeds", "2", "--policy", "random,saf+easy", "-o", "json")
    one, several = (json.loads(answer(capsys, *words, *more)[1]) for more in (("--jobs", "1"), ("--jobs", "2")))
    for found in (*one["results"], *several["results"]):
        del found["jobs_per_second"]
    assert one == several
    assert len(one["results"]) == 4


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("fcfs worse than fcfs+easy by 5%", 3),
        ("fcfs+easy worse than fcfs", 0),
        ("fcfs worse than fcfs+easy by 5% in makespan_seconds", 3),
        ("fcfs+easy worse than fcfs in utilisation", 0),
        ("fcfs+easy avg_wait_seconds above 2.5", 3),
        ("fcfs+easy utilisation below 0.5", 0),
    ],
)
def test_a_condition_that_is_true_fails_after_the_result(
    log: Path, capsys: pytest.CaptureFixture[str], condition: str, code: int
) -> None:
    words = ("evaluate", "--workload", "t.swf", "--backfill", "none,easy", "--jobs", "1", "--fail-if", condition)
    found, out, err = answer(capsys, *words)
    assert found == code
    assert "fcfs+easy" in out
    assert ("is true" in err) == (code == 3)


def test_a_condition_on_what_is_unknown_is_not_passed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = answer(capsys, "evaluate", "--workload", "t.swf", "--fail-if", "fcfs energy_joules above 3")
    assert (code, "--fail-if: energy_joules of fcfs is unknown" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--policy", "best"), "--policy: 'best' is unknown; known are fcfs, sjf"),
        (("--policy", "saf+magic"), "--policy: 'magic' is unknown"),
        (("--backfill", "all"), "--backfill: 'all' is unknown"),
        (("--fail-if", "saf is bad"), "--fail-if: 'saf is bad' is not a claim"),
        (("--fail-if", "saf worse than fcfs"), "--fail-if: 'saf' is not evaluated"),
        (("--fail-if", "fcfs joy above 3"), "--fail-if: 'joy' is not a figure"),
        (("--procs", "3"), "t.swf:3: job 2 needs 4 processors of 3 and could never run"),
        (("--procs", "0"), "--procs"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(
    log: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    code, out, err = answer(capsys, "evaluate", "--workload", "t.swf", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_jobs_larger_than_the_machine_are_left_out_or_given_all_of_it_where_that_is_wanted(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("evaluate", "--workload", "t.swf", "--procs", "3", "-o", "json", "--oversized")
    dropped, clipped = (json.loads(answer(capsys, *words, how)[1]) for how in ("drop", "clip"))
    assert (dropped["jobs"], clipped["jobs"]) == (2, 3)
    assert dropped["notes"][1] == "t.swf: 1 jobs need more than 3 processors and are left out."


def test_without_jobs_or_machine_there_is_nothing_to_do(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no jobs" in answer(capsys, "evaluate")[2]
    assert "--draw: has no machine" in answer(capsys, "evaluate", "--draw", "5")[2]
    log.write_text(LOG.split("\n", 1)[1])
    assert "says neither MaxProcs nor MaxNodes" in answer(capsys, "evaluate", "--workload", "t.swf")[2]


def test_rules_are_named_once_and_may_bring_their_backfilling() -> None:
    names = [rule.name for rule in named_rules(["saf+easy,fcfs", "fcfs"], ["none", "conservative"])]
    assert names == ["saf+easy", "fcfs", "fcfs+conservative"]
    with pytest.raises(UsageError):
        named_rules([""], ["none"])


PLATFORM = """\
[processor.cpu]
kind = "cpu"
cores = 8
[processor.gpu]
kind = "gpu"
watts = 100.0
[node.n]
processors = [{ type = "cpu" }, { type = "gpu", count = 4 }]
usd_per_hour = 3.6
[[cluster]]
nodes = [{ type = "n", count = 2 }]
"""


@pytest.fixture
def lab(log: Path) -> Path:
    (log.parent / "p.toml").write_text(PLATFORM)
    (log.parent / "gpus.toml").write_text(PLATFORM.replace('{ type = "cpu" }, ', ""))
    (log.parent / "jobs.csv").write_text("id,submit,duration,gpus,tasks\na,0,100,4,1\nb,1,50,2,2\nc,2,10,8,1\n")
    return log.parent


def test_training_jobs_run_on_a_platform(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "--workload", "jobs.csv", "--platform", "p.toml", "--oversized", "drop", "-o", "json")
    code, out, err = answer(capsys, *words, "--policy", "fcfs-pack")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["policy"], found["resources"], found["makespan_seconds"]) == ("fcfs-pack", "pack", 100)
    assert found["utilisation"] == found["gpu_utilisation"] == pytest.approx((400 + 200) / 800)
    assert found["energy_joules"] == pytest.approx(400 * 100 + 400 * 50 + 20 * 50)
    assert found["cost_usd"] == pytest.approx(0.15)
    assert found["notes"] == ["jobs.csv: 1 job could never run on p: left out."]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--workload", "jobs.csv", "--platform", "p.toml"), "jobs.csv:4: job c could never run on platform p"),
        (("--workload", "jobs.csv"), "jobs.csv: is a table of training jobs, which need a platform"),
        (("--workload", "t.swf", "--platform", "absent.toml"), "absent.toml: cannot be read"),
        (("--workload", "t.swf", "--resource", "pack"), "--resource: has nothing to select"),
        (("--workload", "t.swf", "--platform", "p.toml", "--procs", "4"), "--procs: is what --platform says"),
        (("--workload", "t.swf", "--platform", "p.toml", "--resource", "best"), "--resource: 'best' is unknown"),
    ],
)
def test_what_does_not_go_with_a_platform_is_refused(
    lab: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    code, out, err = answer(capsys, "evaluate", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_log_may_run_on_a_platform_too(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "--workload", "t.swf", "--draw", "20", "--platform", "p.toml", "--policy", "sjf", "--backfill", "easy")
    assert answer(capsys, *words[:-2], "--backfill", "conservative")[0] == 0
    found = json.loads(answer(capsys, *words, "--resource", "best_fit,random", "--jobs", "1", "-o", "json")[1])
    assert [one["policy"] for one in found["results"]] == ["sjf-best_fit+easy", "sjf-random+easy"] * 2


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--workload", "t.swf", "--output-file", "t.swf"),
        ("evaluate", "--workload", "jobs.csv", "--platform", "p.toml", "--out-jobs", "./p.toml"),
        ("describe", "--workload", "t.swf", "--output-file", "t.swf"),
        ("convert", "jobs.csv", "--from", "openb", "--output", "jobs.csv"),
        ("train", "t.swf", "--workload", "t.swf"),
    ],
)
def test_no_result_destroys_what_it_is_made_of(lab: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    before = {file: file.read_bytes() for file in lab.iterdir()}
    code, out, err = answer(capsys, *words)
    assert (code, out) == (2, "")
    assert "is what the result is made of" in err
    assert {file: file.read_bytes() for file in lab.iterdir()} == before


def test_jobs_with_a_range_are_resized_where_the_policy_says_so(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first job takes all four GPUs of its node until the second comes; what tools read of it is true."""
    jobs = (
        "id,submit,duration,gpus,tasks,min_tasks,max_tasks,serial_share\na,0,3600,1,1,1,2,0\nb,600,600,1,1,,,\nc,700,60,1,1,,,\n"
    )
    (lab / "elastic.csv").write_text(jobs)
    small = (
        "[processor.g]\nkind = 'gpu'\n[node.n]\nprocessors = [{ type = 'g', count = 2 }]\n[[cluster]]\nnodes = [{ type = 'n' }]\n"
    )
    (lab / "small.toml").write_text(small + "[elastic]\nresize_seconds = 60\ncooldown_seconds = 900\n")
    words = ("evaluate", "--workload", "elastic.csv", "--platform", "small.toml", "--policy", "fcfs,fcfs+elastic", "-o", "json")
    code, out, err = answer(capsys, *words)
    assert (code, err) == (0, "")
    rigid, elastic = json.loads(out)["results"]
    assert (rigid["policy"], rigid["makespan_seconds"], "resizes" in rigid) == ("fcfs", 3600, False)
    # 600 s on two GPUs do 1200 s of work; a pause of 60 s; 840 s on one; another pause, and the rest on two
    assert (elastic["policy"], elastic["resizes"]) == ("fcfs+elastic", 2)
    assert elastic["makespan_seconds"] == pytest.approx(1500 + 60 + (3600 - 1200 - 840) / 2)
    busy = 2340 + 600 + (2340 - 1500) + 600 + 60
    assert elastic["utilisation"] == pytest.approx(busy / (2 * elastic["makespan_seconds"]))
    one = ("evaluate", *words[1:5], "--policy", "fcfs+elastic", "--out-jobs", "j.csv", "--out-schedule", "s.csv")
    assert answer(capsys, *one)[0] == 0
    rows = list(csv.DictReader((lab / "j.csv").read_text().splitlines()))
    assert [(row["requested_number_of_resources"], row["allocated_resources"]) for row in rows] == [
        ("1", "0-1"),
        ("1", "0"),
        ("1", "0"),
    ]
    assert float(next(csv.DictReader((lab / "s.csv").read_text().splitlines()))["time_computing"]) == pytest.approx(busy)
    assert "jobs that can be resized" in answer(capsys, "describe", *words[1:5])[1]


def test_elastic_needs_jobs_with_a_range(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = answer(capsys, "evaluate", "--draw", "9", "--procs", "4", "--policy", "fcfs+elastic")
    assert (code, "+elastic has no jobs that could be resized" in err) == (2, True)
    on_platform = (
        "evaluate",
        "--workload",
        "jobs.csv",
        "--platform",
        "p.toml",
        "--oversized",
        "drop",
        "-o",
        "json",
        "--policy",
        "fcfs+elastic",
    )
    notes = json.loads(answer(capsys, *on_platform)[1])["notes"]
    assert "jobs.csv: no job has min_tasks below its max_tasks: +elastic changes nothing." in notes
