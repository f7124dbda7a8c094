"""Runs that go on, by name: from the ledger, or a pod of the cluster."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from kubernetes_cluster import Cluster, Play, kubeconfig, serving

from jpo.__main__ import run
from jpo.cli.arguments import load_settings
from jpo.errors import LaunchError
from jpo.plugin import offered

CONFIG = "[workload]\ndataset = digits\nmodel = cnn\nframework = pytorch\n[training]\nbatch_size = 64\n[resources]\ncpus = 1\n"
KUBERNETES = '[launch]\non = "kubernetes"\n[launch.kubernetes]\nimage = "registry.example.com/digits:1"\nworkdir = "/workspace"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "train.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def live(name: str):  # type: ignore[no-untyped-def]
    find = offered("live runs")
    assert find is not None
    return find(name, load_settings(None, None, {}), os.environ)


def test_a_run_on_this_machine_is_its_processes(project: Path) -> None:
    assert run(["run", "train.py", "--run-id", "night-1", "--detach"]) == 0
    found = live("night-1")
    pids = found._pids()
    try:
        assert (found.name, found.pod) == ("night-1", None)
        assert found.samples() == ()
        assert pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def test_a_run_on_a_cluster_is_its_pod_and_so_is_any_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "jpo.toml").write_text(KUBERNETES)
    cluster = Cluster(time.time, lambda _command: Play(600.0))
    with serving(cluster) as url:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(project / "kubeconfig", url)))
        assert run(["run", "train.py", "--run-id", "night-1", "--detach"]) == 0
        until = time.monotonic() + 60
        while not any(each["status"].get("phase") == "Running" for each in cluster.of("pods")) and time.monotonic() < until:
            with cluster.lock:
                cluster.advance()
            time.sleep(0.05)
        found = live("night-1")
        assert found.pod[0] == "ml"
        assert found.first[0] == 1.0
        assert live("/".join(found.pod)).first == found.first


def test_what_is_neither_a_run_nor_a_pod_is_not_known(project: Path) -> None:
    assert live("nobody") is None
    assert live("No/Such Pod") is None


def test_a_run_that_has_ended_is_not_followed(project: Path) -> None:
    (project / "train.py").write_text("pass\n")
    run(["run", "train.py", "--run-id", "night-2"])
    with pytest.raises(LaunchError, match="has ended"):
        live("night-2")
