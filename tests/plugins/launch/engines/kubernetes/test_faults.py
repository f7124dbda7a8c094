"""Each call of a launch on Kubernetes goes wrong in each way: one pod was started, nothing is left, the true end is on record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from faulty_kubernetes import WAYS, path_to_cluster
from faulty_path import Path as Route
from faulty_path import Wrong
from kubernetes_cluster import Cluster, Play, kubeconfig
from launches import DIGITS, VirtualClock
from told_launches import LOG, PRINTED, STORIES, Story, Told, all_that_breaks, row_of, tell

from jpo.plugins.launch.engines.kubernetes.launcher import KEPT_SECONDS, KubernetesLauncher
from jpo.plugins.launch.engines.kubernetes.session import Connected, Session
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import JobState, LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.lifecycle import ask_status
from jpo.records import RunStatus
from jpo.runlog import ECHO

LASTS = Play(1e6, output="epoch 1\n")
EVICTED = {"reason": "Evicted", "message": "The node was low on resource: memory."}
FIRST, SMALLER = Needs(cpus=4.0, memory_gib=16.0), Needs(cpus=2.0, memory_gib=8.0)
numbers = itertools.count(1)
Tells = Callable[[str, int | None, Wrong | None], list[str]]


@pytest.fixture
def route(cluster: Cluster, tmp_path: Path) -> Iterator[Route]:
    with path_to_cluster(cluster.url) as route:
        kubeconfig(tmp_path / "kubeconfig", route.url)
        yield route


@dataclass
class Kubernetes:
    """The cluster as stories of a launch need it; a run's command is its id, which the plays know."""

    connected: Connected
    cluster: Cluster
    plays: dict[str, Play]
    clock: VirtualClock
    ledger: Path
    passing = frozenset({"JPO-E753", "JPO-E754"})

    def launcher(self) -> KubernetesLauncher:
        setup = KubernetesTable(image="registry.example.com/digits:1", workdir="/workspace")
        return KubernetesLauncher(Session(lambda: self.connected, self.sleep), setup, self.ledger)

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def ends_by_itself(self, entry: Entry) -> None:
        self.plays[entry.job.run_id] = Play(0.0, output=f"{PRINTED}{ECHO}{LOG}")
        self.goes_on()

    def is_taken_back(self, entry: Entry) -> None:
        self.plays[entry.job.run_id] = Play(0.0, exit_code=143, status=EVICTED)
        self.goes_on()

    def goes_on(self) -> None:
        """Job, pod and kubelet take a second each."""
        for _ in range(4):
            self.sleep(1.0)
            self.cluster.advance()

    def wrong_at_the_end(self, job: LaunchJob) -> str:
        started = self.cluster.started.count(job.run_id)
        self.sleep(KEPT_SECONDS + 60.0)
        self.goes_on()
        left = [key for key in self.cluster.objects if job.run_id in key[2]]
        return "" if started <= 1 and not left else f"started {started} times; left: {left}"


def preempted(told: Told) -> RunStatus:
    """The scheduler deletes its pod for a more important one."""
    entry, engine = told.started(), told.engine
    assert isinstance(engine, Kubernetes)
    engine.goes_on()
    (key,) = (key for key in engine.cluster.objects if key[0] == "pods" and told.job.run_id in key[2])
    del engine.cluster.objects[key]
    engine.goes_on()
    assert told.over(entry)
    return RunStatus.STOPPED


def resized(told: Told) -> RunStatus:
    """As `jpo watch --apply` resizes it while it runs."""
    entry, engine = told.started(), told.engine
    assert isinstance(engine, Kubernetes)
    engine.goes_on()
    assert told.repeated(lambda: ask_status(entry, engine.launcher(), told.ledger)).state is JobState.RUNNING
    told.repeated(lambda: engine.launcher().resize(str(entry.engine_id), SMALLER))
    (pod,) = (pod for pod in engine.cluster.of("pods") if told.job.run_id in pod["metadata"]["name"])
    asked = {"cpu": "2", "memory": "8Gi"}
    assert pod["spec"]["containers"][0]["resources"] == {"requests": asked, "limits": asked}
    engine.ends_by_itself(entry)
    assert told.over(entry)
    return RunStatus.SUCCEEDED


OWN: dict[str, Story] = {**STORIES, "preempted": preempted, "resized": resized}


@pytest.fixture
def tells(route: Route, cluster: Cluster, plays: dict[str, Play], clock: VirtualClock, tmp_path: Path) -> Tells:
    connected = Connected(None, str(tmp_path / "kubeconfig"))

    def told(story: str, at: int | None, wrong: Wrong | None) -> list[str]:
        name = f"{story}-{next(numbers)}".replace("_", "-")
        (folder := tmp_path / name).mkdir()
        plays[name], clock.now = LASTS, math.ceil(clock.now)  # the cluster writes whole seconds
        engine = Kubernetes(connected, cluster, plays, clock, folder / "launches")
        job = LaunchJob(name, DIGITS, (name,), folder, needs=FIRST)
        return tell(OWN[story], Told(engine, job, engine.ledger), route, at, wrong)

    return told


@pytest.mark.parametrize("story", OWN)
def test_each_call_that_goes_wrong_starts_nothing_twice_and_leaves_nothing(story: str, tells: Tells) -> None:
    """Some of the faults, of each call one; all with EVERY_FAULT=1."""
    broken = all_that_breaks(partial(tells, story), WAYS, "POST jobs")
    assert broken == [], "\n".join(broken)


def test_the_count_of_faults_stands_in_the_document(tells: Tells) -> None:
    text = (Path(__file__).parents[5] / "docs/reliability.md").read_text()
    row = row_of([tells(story, None, None) for story in OWN], WAYS)
    assert row in text, row
