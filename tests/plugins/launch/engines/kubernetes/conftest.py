"""A cluster that behaves, in virtual time, for the tests of the Kubernetes launcher."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes_cluster import Cluster, Play, kubeconfig, serving
from launches import Bench, VirtualClock

from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher
from jpo.plugins.launch.engines.kubernetes.session import Connected, Session
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity
from jpo.runlog import ECHO

LOG = [f"{ECHO}# run_id=run-1\n", f"{ECHO}time,epoch\n", f"{ECHO}1.0,1\n"]
PLAYS = {
    "succeeds": Play(3.0, output="hello\n" + "".join(LOG)),
    "fails": Play(2.0, exit_code=3, output="Traceback\n"),
    "lasts": Play(3600.0, output="epoch 1\n"),
}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def plays() -> dict[str, Play]:
    return dict(PLAYS)


@pytest.fixture
def cluster(clock: VirtualClock, plays: dict[str, Play], tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(clock, lambda command: plays[command[0]])
    quota = {
        "metadata": {"name": "team"},
        "status": {"hard": {"requests.nvidia.com/gpu": "8"}, "used": {"requests.nvidia.com/gpu": "5"}},
    }
    made.read_only["/api/v1/namespaces/ml/resourcequotas"] = {"items": [quota]}
    made.denied |= {("list", "nodes")}
    with serving(made) as url:
        kubeconfig(tmp_path / "kubeconfig", url)
        yield made


@pytest.fixture
def setup() -> KubernetesTable:
    return KubernetesTable(image="registry.example.com/digits:1", workdir="/workspace")


@pytest.fixture
def new_launcher(cluster: Cluster, clock: VirtualClock, setup: KubernetesTable, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Makes a launcher as a new process would; other settings by keyword."""

    def make(setup: KubernetesTable = setup) -> KubernetesLauncher:
        session = Session(lambda: Connected(None, str(tmp_path / "kubeconfig")), clock.sleep)
        return KubernetesLauncher(session, setup, tmp_path / "launches")

    return make


@pytest.fixture
def job(tmp_path: Path) -> LaunchJob:
    return LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("lasts",), tmp_path)


@pytest.fixture
def bench(new_launcher, clock, tmp_path: Path) -> Bench:  # type: ignore[no-untyped-def]
    commands = {name: (name,) for name in ("succeeds", "fails", "lasts")}
    return Bench(new_launcher, commands, tmp_path / "launches", tmp_path, clock, clock.sleep)
