"""A job without instrumentation, whose pods carry labels: its nights through the command line, on a real server."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

Trains = Callable[..., None]
HOUR, GIB = 3600.0, 2.0**30


@pytest.fixture(scope="module")
def server(start_victoria: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A VictoriaMetrics: it takes samples at any time. Each test has its own dataset."""
    return start_victoria(tmp_path_factory.mktemp("labelled"))


@pytest.fixture
def labelled(empty: Project, server: str, request: pytest.FixtureRequest) -> Project:
    (empty.folder / "jpo.toml").write_text(
        f'[prometheus]\nurl = "{server}"\n[prices]\nusd_per_cpu_hour = 0.04\n'
        "[parameters]\ncpus = { choices = [1, 2, 4] }\nbatch_size = { min = 8, max = 512 }\n"
    )
    empty.config.write_text(empty.config.read_text().replace("dataset = digits", f"dataset = {request.node.name}"))
    return empty


@pytest.fixture
def trains(server: str, request: pytest.FixtureRequest) -> Trains:
    """`trains("night-1", ended=2.0)`: a pod that ended that many hours ago; None: it goes on."""

    def trains(job: str, ended: float | None, *, hours: float = 0.5, cpus: float = 2.0, labels: str = "") -> None:
        now, lines = time.time(), list[str]()
        begun = now - ((ended or 0.0) + hours) * HOUR
        over = None if ended is None else begun + hours * HOUR
        own = f'namespace="ml",pod="{job}-x",uid="{job}"'
        name = request.node.name.replace("_", "-")
        named = f'{own},label_jpo_dataset="{name}",label_jpo_model="cnn",label_jpo_framework="pytorch"{labels}'

        def add(series: str, value: Callable[[float], float], begin: float, end: float) -> None:
            times = (begin + 30 * i for i in range(int((end - begin) / 30) + 1))
            lines.extend(f"{series} {value(at)!r} {1000 * at:.0f}\n" for at in times)

        stays = now if over is None else over + 300
        add(f"kube_pod_labels{{{named}}}", lambda at: 1.0, begun, stays)
        add(f'kube_pod_owner{{{own},owner_kind="Job",owner_name="{job}"}}', lambda at: 1.0, begun, stays)
        add(f"kube_pod_start_time{{{own}}}", lambda at: begun, begun, stays)
        asked = f'kube_pod_container_resource_requests{{{own},container="trainer",resource="cpu"}}'
        add(asked, lambda at: cpus, begun, stays)
        running = f'kube_pod_status_phase{{{own},phase="Running"}}'
        add(running, lambda at: float(over is None or at < over), begun, stays)
        if over is not None:
            add(f"kube_pod_completion_time{{{own}}}", lambda at: over, over, stays)
            add(f'kube_pod_status_phase{{{own},phase="Succeeded"}}', lambda at: float(at >= over), begun, stays)
        container = f'{{namespace="ml",pod="{job}-x",container="trainer",id="/{job}"}}'
        add(f"container_cpu_usage_seconds_total{container}", lambda at: 0.9 * (at - begun), begun, over or now)
        add(f"container_memory_working_set_bytes{container}", lambda at: GIB, begun, over or now)
        for path, body in (("/api/v1/import/prometheus", "".join(lines).encode()), ("/internal/force_flush", None)):
            urllib.request.urlopen(server + path, data=body, timeout=30).close()  # noqa: S310 (our own address)

    return trains


def suggested(project: Project, *options: str) -> dict[str, dict[str, float]]:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def runs_of(project: Project) -> list[dict[str, object]]:
    return json.loads(project.jpo("history", "-o", "json").out)["runs"]


def test_labelled_pods_are_evidence_and_only_resources_are_changed(labelled: Project, trains: Trains) -> None:
    for night in range(1, 7):
        trains(f"night-{night}", ended=8.0 - night)
    before = labelled.config.read_text()
    made = suggested(labelled, "--explore", "on")
    assert made["evidence"]["runs_used"] == 6
    assert {"JPO-I170"} <= set(made["reason_codes"])
    assert {change["parameter"] for change in made["changes"]} <= {"cpus", "gpus", "memory_gib"}
    assert any("6 of 6 runs are labelled pods, which report no loss" in note for note in made["evidence"]["notes"])
    model = [line for line in before.splitlines() if "batch" in line or "lr" in line or "rate" in line]
    assert all(line in labelled.config.read_text() for line in model)
    assert all(run["outcome"]["val_loss"] is None for run in runs_of(labelled))


def test_a_person_may_allow_more(labelled: Project, trains: Trains) -> None:
    for night in range(1, 7):
        trains(f"night-{night}", ended=8.0 - night)
    with (labelled.folder / "jpo.toml").open("a") as toml:
        toml.write('[agent]\nquality_floor = "off"\n')
    made = suggested(labelled, "--explore", "on")
    assert not {"JPO-I170", "JPO-I660"} & set(made["reason_codes"])
    by_hand = suggested(labelled, "--set", "batch_size=32")
    assert by_hand["suggested"]["batch_size"] == 32


def test_a_run_that_goes_on_is_shown_and_does_not_count(labelled: Project, trains: Trains) -> None:
    trains("done", ended=2.0)
    trains("tonight", ended=None, hours=0.25)
    made = suggested(labelled)
    assert made["evidence"]["runs_used"] == 1
    (going,) = json.loads(labelled.jpo("explain", "-o", "json").out)["going_on"]
    assert (going["run_id"].partition("@")[0], going["with_its_values"], going["share_done"]) == ("tonight", False, None)
    assert going["ends_at"] == pytest.approx(going["started_at"] + 0.5 * HOUR, rel=0.05), "runs like it took half an hour"
    assert "does not report how far it is" in " ".join(labelled.jpo("explain").out.split())
    checks = json.loads(labelled.jpo("doctor", "-o", "json").out)["checks"]
    (line,) = [check for check in checks if check["name"] == "running"]
    assert line["finding"].startswith("1 run in progress: tonight@")
    assert line["finding"].endswith("it does not count until it ended")
    assert "going_on" not in json.loads(labelled.jpo("explain", "-o", "json", "--offline").out)
    with (labelled.folder / "jpo.toml").open("a") as toml:
        toml.write('[prometheus.auth]\ntype = "bearer"\ntoken_file = "not/here"\n')
    elsewhere = labelled.jpo("explain")
    assert (elsewhere.code, "what runs now is not known" in elsewhere.out) == (0, True)
    unreachable = labelled.jpo("explain", "--prometheus-url", "http://127.0.0.1:1")
    assert (unreachable.code, "what runs now is not known" in unreachable.out) == (0, True)
    assert [run["run_id"].partition("@")[0] for run in runs_of(labelled)] == ["done"]


def test_a_pod_whose_run_is_in_a_log_is_one_run(labelled: Project, trains: Trains) -> None:
    (labelled.folder / "jpo.toml").write_text((labelled.folder / "jpo.toml").read_text() + '[csv]\nlogs = ["runs/*.csv"]\n')
    trains("logged", ended=3.0)
    trains("silent", ended=1.0)
    begun = time.time() - 3.5 * HOUR + 60
    (labelled.folder / "runs").mkdir(exist_ok=True)
    name = labelled.config.read_text().partition("dataset = ")[2].partition("\n")[0]
    head = f"# run_id=own\n# dataset={name}\n# model=cnn\n# framework=pytorch\n# batch_size=64\n# start={begun}\n"
    rows = f"time,epoch,samples,train_loss,val_loss\n{begun + 1000},1,1000,0.5,0.4\n"
    (labelled.folder / "runs/own.csv").write_text(f"{head}{rows}# end={begun + 1700}\n# status=succeeded\n")
    suggested(labelled)
    assert [run["run_id"].partition("@")[0] for run in runs_of(labelled)] == ["own", "silent"]
