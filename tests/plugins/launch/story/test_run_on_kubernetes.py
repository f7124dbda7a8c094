"""`jpo run --on kubernetes` from the command line to the record, against a cluster that behaves."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes_cluster import Cluster, Play, kubeconfig, serving

from jpo.__main__ import run
from jpo.runlog import ECHO

CONFIG = """[workload]
dataset = digits
model = cnn
framework = pytorch
[training]
batch_size = 64
[resources]
cpus = 2
"""
TOML = '[launch]\non = "kubernetes"\n[launch.kubernetes]\nimage = "registry.example.com/digits:1"\nworkdir = "/workspace"\n'


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "jpo.toml").write_text(TOML)
    (tmp_path / "train.py").write_text("import configparser\nconfigparser.ConfigParser().read('config.ini')\nprint('hello')\n")
    monkeypatch.chdir(tmp_path)
    made = Cluster(time.time, lambda command: Play(0.5, output=printed(time.time())))
    with serving(made) as url:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig", url)))
        yield made


def printed(now: float) -> str:
    """What a script with a run log prints."""
    head = {
        "run_id": "night-1",
        "dataset": "digits",
        "model": "cnn",
        "framework": "pytorch",
        "batch_size": "64",
        "start": f"{now - 9:.3f}",
    }
    rows = [
        *(f"# {key}={value}" for key, value in head.items()),
        "time,epoch,samples,train_loss,val_loss",
        f"{now - 5:.3f},1,100,0.5,0.4",
    ]
    return "hello\n" + "".join(f"{ECHO}{row}\n" for row in (*rows, f"# end={now - 1:.3f}", "# status=succeeded"))


def test_a_run_goes_from_the_command_line_to_the_record(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "train.py", "--run-id", "night-1"]) == 0
    capsys.readouterr()
    assert run(["history", "-o", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    assert (found["run_id"], found["status"]) == ("night-1", "succeeded")
    assert run(["run", "train.py", "--run-id", "night-1"]) == 0
    assert cluster.started == ["night-1"]
    (job,) = cluster.of("jobs")
    assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["python3", "train.py"]
    assert cluster.of("configmaps")[0]["data"]["config.ini"] == CONFIG


def test_a_dry_run_shows_the_manifest_and_starts_nothing(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "train.py", "--dry-run", "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["plan"]
    assert [each["kind"] for each in shown["items"]] == ["Job", "ConfigMap"]
    assert not [each for each in cluster.asked if not each.startswith("GET ")]


@pytest.fixture
def no_cluster(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))


@pytest.fixture
def no_server(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")
    monkeypatch.setattr("jpo.plugins.launch.engines.kubernetes.session.FIRST_PAUSE", 0.0)


@pytest.mark.parametrize(
    ("offline", "namespace", "said"),
    [
        ("no_cluster", "default", "kubeconfig: names no cluster"),
        ("no_server", "ml", "Kubernetes' API server: does not accept connections"),
    ],
)
def test_a_dry_run_needs_no_cluster(
    offline: str, namespace: str, said: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    request.getfixturevalue(offline)
    assert run(["run", "train.py", "--dry-run", "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [each["metadata"]["namespace"] for each in shown["plan"]["items"]] == [namespace, namespace]
    assert f"kubernetes was not asked whether it takes this: {said}" in shown["notes"][-1]["text"]
    assert run(["run", "train.py"]) == 7


def test_a_dry_run_refuses_what_the_cluster_has_not(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    quota = {"metadata": {"name": "team"}, "status": {"hard": {"requests.cpu": "1"}}}
    cluster.read_only["/api/v1/namespaces/ml/resourcequotas"] = {"items": [quota]}
    assert run(["run", "train.py", "--dry-run"]) == 7
    assert "[JPO-E755]" in capsys.readouterr().err


def test_kubectl_creates_what_a_dry_run_prints(
    kubectl: str, cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "train.py", "--run-id", "night-1", "--dry-run", "-o", "json"]) == 0
    plan = json.dumps(json.loads(capsys.readouterr().out)["plan"])
    words = [kubectl, "create", "--validate=false", "--output=name", "--filename=-"]
    made = subprocess.run(
        words, input=plan, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert made.stdout.split() == ["job.batch/jpo-night-1", "configmap/jpo-night-1"]
    cluster.advance()
    assert cluster.started == ["night-1"]


def test_a_credential_in_config_ini_gets_into_no_manifest(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "config.ini").write_text(f"{CONFIG}[wandb]\napi_key = 0123456789abcdef\n")
    for words in (["--dry-run", "-o", "json"], ["--run-id", "night-1"]):
        assert run(["run", "train.py", *words]) == 7
        shown = capsys.readouterr()
        assert "config.ini:10: api_key looks like a credential" in shown.out + shown.err
        assert "0123456789abcdef" not in shown.out + shown.err
    assert not [each for each in cluster.asked if not each.startswith("GET ")]
    assert not [*tmp_path.glob(".jpo/launches/*/launch.json")]


def test_a_pod_that_cannot_start_ends_the_command_with_7_in_the_clusters_words(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.plays = lambda command: Play(waiting=("InvalidImageName", "couldn't parse image reference"))
    assert run(["run", "train.py"]) == 7
    captured = capsys.readouterr()
    assert "InvalidImageName: couldn't parse image reference" in captured.err
    assert "[JPO-E759]" in captured.err
    assert cluster.of("jobs")[0]["metadata"]["deletionTimestamp"]


def test_missing_rights_are_told_with_the_rule_that_it_takes(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.denied.add(("create", "jobs"))
    assert run(["run", "train.py"]) == 7
    said = capsys.readouterr().err
    assert 'cannot create resource "jobs"' in said
    assert 'apiGroups: ["batch"], resources: [jobs], verbs: [create]' in said
    assert "[JPO-E753]" in said
    assert "secret-token" not in said
