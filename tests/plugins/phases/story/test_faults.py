"""Each call to a cluster by which a pod is followed goes wrong in each way: it has its first request back, all is on record."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from faulty_kubernetes import WAYS, path_to_cluster
from faulty_path import Wrong
from followed_runs import PRICES, followed_pod, measured_pod
from kubernetes_cluster import Cluster, Play, kubeconfig, serving
from told_launches import TRIES, all_that_breaks, row_of

from jpo.errors import LaunchError
from jpo.history import open_store
from jpo.history.events import ADJUSTED
from jpo.plugins.launch.engines.kubernetes.live import LivePod
from jpo.plugins.launch.engines.kubernetes.session import Connected, Session
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.story.follow import SETTLED, FollowTerms, follow
from jpo.plugins.phases.traces import Traces

SAMPLES = 9
Tells = Callable[[str, int | None, Wrong | None], list[str]]
ENDS = ("the pod ends", "Ctrl-C")


@pytest.fixture
def tells(made: Traces, learnt: PhaseModel, tmp_path: Path) -> Iterator[Tells]:
    """Follows a pod with `--apply` until one of ENDS, again where that ends with an error."""
    numbers, trace = itertools.count(), made.executions[6]
    trace = replace(trace, times=trace.times[:SAMPLES], values=trace.values[:SAMPLES])
    cluster = Cluster(lambda: float(trace.times[0]), lambda _command: Play())

    def told(end: str, at: int | None, wrong: Wrong | None) -> list[str]:
        cluster.objects["pods", "ml", "train-0"] = pod = followed_pod("3500m")
        url, most = f"sqlite:///{tmp_path}/{next(numbers)}.db", 0
        sleep = measured_pod(cluster, pod, trace, interrupted=end == "Ctrl-C")
        terms = FollowTerms(True, lambda: open_store(url), PRICES, lambda: 0.0, sleep)
        route.begin(at, wrong)
        for _ in range(TRIES):
            try:
                for seen in follow(learnt, LivePod(Session(lambda: connected, lambda _: None), "ml/train-0"), terms):
                    most = max(most, seen.resizes)
                break
            except KeyboardInterrupt:
                break
            except LaunchError as error:
                if error.code not in ("JPO-E753", "JPO-E754"):
                    raise
        calls = list(route.calls)
        assert most > 1 or wrong
        if end == "Ctrl-C":
            assert pod["spec"]["containers"] == followed_pod("3500m")["spec"]["containers"]
        with open_store(url) as store:
            kinds = [record.kind for record in store.audit_records()]
        assert kinds.count(ADJUSTED) == kinds.count(SETTLED), kinds
        return calls

    with serving(cluster) as server, path_to_cluster(server) as route:
        connected = Connected(None, str(kubeconfig(tmp_path / "kubeconfig", route.url)))
        yield told


@pytest.mark.parametrize("end", ENDS)
def test_each_call_that_goes_wrong_leaves_the_first_request_and_all_on_record(end: str, tells: Tells) -> None:
    """Some of the faults, of each call one; all with EVERY_FAULT=1."""
    broken = all_that_breaks(partial(tells, end), WAYS, "PATCH pods/resize")
    assert broken == [], "\n".join(broken)


def test_the_count_of_faults_stands_in_the_document(tells: Tells) -> None:
    text = (Path(__file__).parents[4] / "docs/reliability.md").read_text()
    row = row_of([tells(end, None, None) for end in ENDS], WAYS)
    assert row in text, row
