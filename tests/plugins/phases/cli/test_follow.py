"""`jpo phases follow` from the command line, on cgroups of files that a thread keeps going, and on a cluster that behaves."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from followed_runs import FileCgroup, followed_pod
from kubernetes_cluster import Cluster, Play, kubeconfig, serving
from phase_traces import made_traces

from jpo.__main__ import run
from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.model_file import encoded

TRACES = made_traces(runs=7)[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of runs whose samples lie a 20th of a second apart, and not 20 s."""
    file = tmp_path_factory.mktemp("model") / "phases.model"
    fitted = fit_model(replace(TRACES, executions=TRACES.executions[:6]))
    file.write_bytes(encoded(replace(fitted, interval_seconds=0.05)))
    return file


@pytest.fixture
def cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileCgroup:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").mkdir()
    return FileCgroup(tmp_path / "train", TRACES.executions[6])


@contextmanager
def going(made: FileCgroup, seconds: float) -> Iterator[None]:
    """Its counters as they would be in 0.1 cores; then it ends."""
    over = threading.Event()

    def work() -> None:
        until, began = time.monotonic() + seconds, time.monotonic()
        while not over.wait(0.01) and time.monotonic() < until:
            (made.folder / "new").write_text(f"usage_usec {int(1e5 * (time.monotonic() - began))}\n")
            (made.folder / "new").replace(made.folder / "cpu.stat")
        (made.folder / "cgroup.events").write_text("populated 0\n")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_cgroup_is_followed_to_its_end(cgroup: FileCgroup, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with going(cgroup, 3.0):
        assert run(["phases", "follow", str(cgroup.folder), "--model", str(model), "--apply"]) == 0
    out = capsys.readouterr().out
    assert "phase 0 since 0s" in out
    assert "resized to" in out
    assert "train has ended: it had" in out.splitlines()[-1]
    assert (cgroup.folder / "cpu.max").read_text() == "350000 100000\n"


def test_lines_of_json_are_for_programs(cgroup: FileCgroup, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cgroup.folder.parent / "jpo.toml").write_text(f'[phases]\nmodel = "{model}"\n')
    with going(cgroup, 2.0):
        assert run(["phases", "follow", str(cgroup.folder), "-o", "json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["run"] for line in lines} == {str(cgroup.folder)}
    assert not any(line["applied"] for line in lines)
    assert (cgroup.folder / "cpu.max").read_text() == "350000 100000\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_request_is_back_after_a_signal(cgroup: FileCgroup, model: Path, number: signal.Signals) -> None:
    left = killed_with(cgroup, model, number)
    assert left == ("350000 100000\n", "max\n")


def test_after_kill_9_the_run_can_go_on_and_the_next_follow_puts_it_back(cgroup: FileCgroup, model: Path) -> None:
    left = killed_with(cgroup, model, signal.SIGKILL)
    assert left != ("350000 100000\n", "max\n")
    assert (cgroup.folder / "memory.max").read_text() == "4000000000\n"
    assert killed_with(cgroup, model, signal.SIGTERM)[0].split() == ["350000", "100000"]


def killed_with(made: FileCgroup, model: Path, number: signal.Signals) -> tuple[str, str]:
    """Limits after a follow that resized was ended by a signal."""
    command = [sys.executable, "-m", "jpo", "phases", "follow", str(made.folder), "--model", str(model), "--apply"]
    with going(made, 60), subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=made.folder.parent) as process:
        assert process.stdout
        for line in process.stdout:
            if "resized to" in line:
                break
        process.send_signal(number)
        process.stdout.read()
        process.wait(60)
    (made.folder / "cgroup.events").write_text("populated 1\n")
    return (made.folder / "cpu.max").read_text(), (made.folder / "memory.high").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], "names neither a cgroup nor a run nor a pod; see `jpo watch` for runs [JPO-E737]"),
        (["."], "lacks files of a cgroup with CPU and memory"),
        (["train"], "--model: is not given"),
    ],
)
def test_what_cannot_be_followed_is_said(
    cgroup: FileCgroup, model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    more = [] if "--model" in said else ["--model", str(model)]
    assert run(["phases", "follow", *arguments, *more]) == 2
    assert said in capsys.readouterr().err


def test_a_pod_is_followed_by_what_its_metrics_server_says(
    cgroup: FileCgroup, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, samples = Cluster(time.time, lambda _command: Play()), list[int]()
    cluster.objects["pods", "ml", "train-0"] = pod = followed_pod("3")

    def resizes() -> int:
        return sum(each.startswith("PATCH") for each in cluster.asked)

    def measured() -> dict[str, object]:
        samples.append(resizes())
        if (resizes() and samples.count(resizes()) > 1) or len(samples) > 60:  # it ends behind a resize, whenever that is
            pod["status"]["phase"] = "Succeeded"
        usage = {"cpu": "100m", "memory": "48Mi"}
        return {"timestamp": datetime.now(UTC).isoformat(), "containers": [{"name": "job", "usage": usage}]}

    class Now(dict):  # type: ignore[type-arg]
        def __getitem__(self, path: str) -> dict[str, object]:
            return measured()

    cluster.read_only = Now({"/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods/train-0": {}})
    with serving(cluster) as url:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig", url)))
        assert run(["phases", "follow", "ml/train-0", "--model", str(model), "--apply"]) == 0
    assert "ml/train-0 has ended" in capsys.readouterr().out
    assert resizes() == 1, "and none of a pod that has ended"
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "4", "memory": "4Gi"}  # type: ignore[index]
    assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] != "3"  # type: ignore[index]
