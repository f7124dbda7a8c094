"""`jpo cluster convert`, `describe` and `plot` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugins.cluster.story.test_evaluate import answer

PHILLY = [
    {
        "status": "Pass",
        "jobid": "application_1",
        "user": "u1",
        "submitted_time": "2017-10-01 00:00:00",
        "attempts": [
            {"start_time": "2017-10-01 00:01:00", "end_time": "2017-10-01 00:02:00", "detail": [{"ip": "m1", "gpus": ["g0"]}]},
            {
                "start_time": "2017-10-01 00:10:00",
                "end_time": "2017-10-01 01:10:00",
                "detail": [{"ip": "m1", "gpus": ["g0", "g1"]}, {"ip": "m2", "gpus": ["g0", "g1"]}],
            },
        ],
    },
    {"jobid": "application_2", "submitted_time": "2017-10-01 00:00:30", "attempts": []},
]
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-1,12000,16384,1,500,V100M16|V100M32,LS,Succeeded,100,700,200
pod-2,500,1024,0,0,,BE,Running,150,,
"""
POLLUX = "time,name,num_replicas,batch_size\n10,cifar10-0,4,512\n70,bert-1,2,64\n"
HISTORY = {
    "schema_version": 1,
    "runs": [
        {
            "run_id": "night-1",
            "started_at": 1000.0,
            "ended_at": 1600.0,
            "workload": {"model": "cnn"},
            "parameters": {"gpus": 2.0, "cpus": 8.0, "memory_gib": 32.0, "batch_size": 64.0},
            "outcome": {"duration_seconds": 600.0},
        },
        {"run_id": "lost", "started_at": None, "ended_at": None, "parameters": {}, "outcome": {"duration_seconds": None}},
    ],
}
FILES = {"philly": json.dumps(PHILLY), "openb": OPENB, "pollux": POLLUX, "history": json.dumps(HISTORY)}
EXPECTED = {
    "philly": ["application_1,0.0,3600.0,2,,0,0.0,2,u1,"],
    "openb": ["pod-1,0.0,500.0,1,V100M16,12,16.0,1,,"],
    "pollux": ["cifar10-0,0.0,900.0,1,,0,0.0,4,,cifar10", "bert-1,60.0,1800.0,1,,0,0.0,2,,bert"],
    "history": ["night-1,0.0,600.0,2,,8,32.0,1,,cnn"],
}
PLATFORM = (
    '[processor.g]\nkind = "gpu"\n[node.n]\nprocessors = [{ type = "g", count = 8 }]\n[[cluster]]\nnodes = [{ type = "n" }]\n'
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for form, text in FILES.items():
        Path(form).write_text(text)


@pytest.mark.parametrize("form", FILES)
def test_tables_become_training_jobs(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("convert", form, "--from", form, "--duration", "cifar10=900", "--duration", "bert=1800")
    code, out, err = answer(capsys, *words)
    assert code == 0
    assert out.split("\n")[1:-1] == EXPECTED[form]
    assert ("1 jobs never ran" in err) == (form != "pollux")
    assert answer(capsys, *words, "--output", "jobs.csv")[1] == ""
    assert Path("jobs.csv").read_text() == out


def test_what_comes_out_can_be_evaluated_described_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.toml").write_text(PLATFORM)
    words = ("--duration", "cifar10=900", "--duration", "bert=1800")
    answer(capsys, "convert", "pollux", "--from", "pollux", *words, "--output", "jobs.csv")
    site = ("--workload", "jobs.csv", "--platform", "p.toml")
    assert answer(capsys, "evaluate", *site)[0] == 0
    found = json.loads(answer(capsys, "describe", *site, "-o", "json")[1])["workloads"][0]
    assert (found["jobs"], found["processors"], found["gpu_jobs"], found["nodes"]) == (2, 8, 1, {"n": 1})
    assert "jobs that need GPUs" in answer(capsys, "describe", *site)[1]
    pytest.importorskip("matplotlib", reason='matplotlib not found: pip install "jpo[cluster]"')
    assert answer(capsys, "plot", "gantt.svg", *site) == (0, "", "")
    assert "<svg" in Path("gantt.svg").read_text()
    assert answer(capsys, "plot", "gantt.svg", "--draw", "30", "--procs", "8", "--policy", "saf+easy")[0] == 0


@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        ("philly", "{}", "is not a JSON list of jobs"),
        ("philly", "[3]", "job 1: is not a JSON object"),
        ("philly", '[{"submitted_time": "soon"}]', "job 1: submitted_time is 'soon', which is not a time"),
        ("philly", "[]", "has no job that ran"),
        ("openb", "name,cpu_milli\n", "openb:1: has no column memory_mib"),
        ("openb", OPENB.replace("12000", "12k"), "openb:2: column cpu_milli is '12k', not a number"),
        ("pollux", POLLUX, "pollux:2: does not say how long 'cifar10' runs"),
        ("pollux", POLLUX.replace(",512", ""), "pollux:2: has 3 cells below 4 columns"),
        ("history", "{}", "has no runs"),
        ("history", '{"runs": [{}]}', "run 1: has no parameters or outcome"),
        (
            "history",
            json.dumps(HISTORY).replace(": 600.0", ": -600.0"),
            "run 1: contains -600.0, which is not a number of at least 0",
        ),
    ],
)
def test_what_is_no_such_table_is_refused(form: str, text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(form).write_text(text)
    code, out, err = answer(capsys, "convert", form, "--from", form)
    assert (code, out) == (2, "")
    assert told in err


def test_a_duration_is_a_name_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not NAME=SECONDS" in answer(capsys, "convert", "pollux", "--from", "pollux", "--duration", "bert")[2]


def test_a_history_without_jpo_has_what_its_runs_took_before(capsys: pytest.CaptureFixture[str]) -> None:
    def night(number: int, seconds: float, gpus: int, suggestion: str | None) -> dict[str, object]:
        return {
            "run_id": f"night-{number}",
            "started_at": 1000.0 * number,
            "ended_at": None,
            "workload": {"model": "cnn"},
            "suggestion_id": suggestion,
            "parameters": {"gpus": gpus, "cpus": 8},
            "outcome": {"duration_seconds": seconds},
        }

    runs = [night(1, 600.0, 2, None), night(2, 800.0, 2, None), night(3, 300.0, 4, "s1"), night(4, 300.0, 4, None)]
    Path("history").write_text(json.dumps({"runs": runs}))
    out = answer(capsys, "convert", "history", "--from", "history", "--without-jpo")[1]
    assert [line.split(",")[:4] for line in out.split("\n")[1:-1]] == [
        *(["night-1", "0.0", "600.0", "2"], ["night-2", "1000.0", "800.0", "2"]),
        *(["night-3", "2000.0", "700.0", "2"], ["night-4", "3000.0", "700.0", "2"]),
    ]
    assert "is about JPO's history" in answer(capsys, "convert", "openb", "--from", "openb", "--without-jpo")[2]
