"""`jpo lab replay` as a user meets it: traces, one's own history, output, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.plugins.lab.cli.replay import POLICIES_HELP
from jpo.plugins.lab.replay import extras
from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.traces import Execution, Trace
from jpo.plugins.lab.story.replay import ALL_POLICIES, named_objectives

if TYPE_CHECKING:
    from user_project import Project

TRACE = """\
# workload = "toy"
# family = "zeus"
# default = { batch_size = 16, power_limit_w = 250 }
# knobs = ["batch_size", "power_limit_w"]
# cost_column = "energy_j"
batch_size,power_limit_w,rep,converged,time_to_target_s,energy_j,time_full_s,energy_full_j
16,250,1,1,100,1000,300,3000
32,250,1,1,60,700,300,3000
64,250,1,1,50,400,300,3000
64,200,1,1,55,300,300,3000
128,250,1,0,,,300,3000
"""
QUICK = ("--runs", "2,4", "--seeds", "2", "--jobs", "1")


@pytest.fixture
def trace(empty: Project) -> Path:
    path = empty.folder / "toy.csv"
    path.write_text(TRACE)
    return path


def test_a_trace_gives_a_table_and_nothing_on_stderr(empty: Project, trace: Path) -> None:
    answer = empty.jpo("lab", "replay", "toy.csv", *QUICK)
    assert (answer.code, answer.err) == (0, "")
    lines = [" ".join(line.split()) for line in answer.out.split("\n")]
    assert "balanced, toy" in lines
    assert "policy N = 2 N = 4 per model stopped harm" in lines
    assert "default 2.236 ± 0 2.236 ± 0 2.236 ± 0 0% ± 0% 0% ± 0%" in lines  # sqrt(100 x 1000) / sqrt(50 x 400)
    assert [line.split()[0] for line in lines[4:9]] == ["jpo", "default", "random", "hillclimb", "zeus"]


def test_json_to_stdout_and_to_files_by_their_suffix(empty: Project, trace: Path) -> None:
    files = ("--output-file", "a.json", "--output-file", "b.txt", "--plot", "c.svg")
    answer = empty.jpo("lab", "replay", "toy.csv", "--policies", "default,hillclimb", "-o", "json", *QUICK, *files)
    assert json.loads(answer.out) == json.loads((empty.folder / "a.json").read_text())
    assert list(json.loads(answer.out)["objectives"]["balanced"]) == ["default", "hillclimb"]
    assert json.loads((empty.folder / "b.txt").read_text())
    assert "<svg" in (empty.folder / "c.svg").read_text()


def test_objectives_may_be_a_list_or_repeated(empty: Project, trace: Path) -> None:
    listed = empty.jpo("lab", "replay", "toy.csv", "--policies", "default", "--objective", "cost,time", *QUICK)
    repeated = empty.jpo(
        "lab", "replay", "toy.csv", "--policies", "default", "--objective", "time", "--objective", "cost", *QUICK
    )
    assert listed.out == repeated.out
    assert "time, toy" in listed.out
    assert "cost, toy" in listed.out


def test_the_power_limit_is_a_knob_only_on_wish(empty: Project, trace: Path) -> None:
    answers = [
        empty.jpo("lab", "replay", "toy.csv", "--policies", "default", "-o", "json", *QUICK, *more)
        for more in ((), ("--knob", "power_limit_w"))
    ]
    oracles = [json.loads(one.out)["workloads"][0]["oracle"]["balanced"] for one in answers]
    assert oracles == [{"batch_size": 64.0}, {"batch_size": 64.0, "power_limit_w": 200.0}]


def test_ones_own_history_is_replayed_and_says_what_it_lacks(project: Project) -> None:
    before = sorted(project.folder.rglob("*"))
    answer = project.jpo("lab", "replay", "config.ini", "--policies", "jpo,default", *QUICK)
    assert answer.code == 0
    assert "balanced, digits/cnn/pytorch" in answer.out
    assert "only the 3 configurations of its 7 runs can be chosen" in answer.out
    assert "run 1 of each replay has batch_size = 16, like the oldest run" in answer.out
    assert sorted(project.folder.rglob("*")) == before, "nothing is written"


def test_without_an_argument_it_is_the_own_history_in_usd(project: Project) -> None:
    document = json.loads(project.jpo("lab", "replay", "--policies", "default", "-o", "json", *QUICK).out)
    (workload,) = document["workloads"]
    assert (workload["name"], workload["cost_unit"], workload["executions"]) == ("digits/cnn/pytorch", "USD", 7)
    assert workload["oracle"]["balanced"] == {"batch_size": 64.0}


def test_without_prices_the_cost_is_relative(project: Project) -> None:
    (project.folder / "jpo.toml").write_text('[csv]\nlogs = ["runs/*.csv"]\n')
    document = json.loads(project.jpo("lab", "replay", "config.ini", "--policies", "default", "-o", "json", *QUICK).out)
    assert document["workloads"][0]["cost_unit"] == "relative"


def test_every_policy_can_be_named(empty: Project, trace: Path) -> None:
    answer = empty.jpo(
        "lab",
        "replay",
        "toy.csv",
        "--policies",
        "jpo-bold,gp-ei,optuna-tpe,belief,sac,steering,reinforce,mc-dropout,optuna-gp",
        "--runs",
        "3",
        *QUICK[2:],
    )
    assert answer.code == 0
    assert "optuna-gp" in answer.out


def test_jpo_plays_for_the_objective_that_is_charged() -> None:
    gpus = tuple({"gpus": 2.0**step} for step in range(5))  # each doubling halves the time and doubles the cost
    several = tuple((Execution(100 / one["gpus"], one["gpus"], True),) for one in gpus)
    trace = Trace("toy", gpus, several, 2, "USD")
    mean = {
        objective: play(trace, ALL_POLICIES["jpo-bold"], objective, runs=8, seed=0).choices.mean()
        for objective in named_objectives(["time,cost"])
    }
    assert mean["time"] > 2 > mean["cost"]


def test_the_help_names_every_policy() -> None:
    assert [name for name in ALL_POLICIES if name not in POLICIES_HELP] == []


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_missing_package_is_reported_before_anything_is_played(
    empty: Project, trace: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda package: package != "optuna")
    answer = empty.jpo("lab", "replay", "toy.csv", "--policies", "default,optuna-tpe", "--jobs", jobs)
    assert answer.code == 2
    assert 'optuna-tpe needs optuna, which is not installed; pip install "jpo[replay]" [JPO-E703]' in answer.err


def test_optuna_gp_needs_torch_which_another_extra_brings(empty: Project, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda package: package != "torch")
    answer = empty.jpo("lab", "replay", "toy.csv", "--policies", "optuna-gp", *QUICK)
    assert 'optuna-gp needs torch, which is not installed; pip install "jpo[replay,learn]"' in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["toy.csv", "--policies", "jpo,magic"], "JPO-E704", "--policies: 'magic' is unknown; known are jpo,"),
        (["toy.csv", "--objective", "speed"], "JPO-E704", "--objective: 'speed' is unknown; known are time, cost, balanced"),
        (["toy.csv", "--runs", "5,x"], "JPO-E704", "--runs: '5,x' is not a list of numbers of runs"),
        (["toy.csv", "--runs", "0"], "JPO-E704", "--runs: '0' is not a list"),
        (["toy.csv", "--runs", "5000"], "JPO-E704", "--runs: '5000' is not a list"),
        (["toy.csv", "toy.csv"], "JPO-E704", "workload toy is given twice"),
        (["toy.csv", "--plot", "picture.pdf"], "JPO-E712", "picture.pdf is neither .png nor .svg"),
        (["toy.csv", "--plot", "none/picture.png"], "JPO-E307", "cannot be written"),
        (["toy.csv", "--output-file", "toy.csv"], "JPO-E307", "is a file that is replayed"),
        (["none.csv"], "JPO-E701", "none.csv: cannot be read"),
        (["config.ini"], "JPO-E702", "config.ini: its 0 usable runs have one configuration only"),
    ],
)
def test_what_cannot_be_replayed_is_refused_at_once(
    empty: Project, trace: Path, arguments: list[str], code: str, told: str
) -> None:
    answer = empty.jpo(
        "lab", "replay", *arguments, *(word for word in QUICK if "--runs" not in arguments or word not in ("--runs", "2,4"))
    )
    assert answer.code == 2
    assert told in answer.err
    assert f"[{code}]" in answer.err
    assert answer.out == ""
    assert trace.read_text() == TRACE
