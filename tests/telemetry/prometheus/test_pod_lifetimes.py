"""Lifetimes of pods from the rows of kube-state-metrics and cAdvisor."""

from __future__ import annotations

from jpo.telemetry.prometheus.cluster import Labelling, Pod
from jpo.telemetry.prometheus.pod_lifetimes import Lifetime, lifetimes, sizes

STARTED, COMPLETED = "kube_pod_start_time", "kube_pod_completion_time"
PHASE, OOM = "kube_pod_status_phase", "kube_pod_container_status_terminated_reason"
HERE = {"namespace": "ml", "pod": "a"}


def labelling(*metrics: str) -> Labelling:
    return Labelling(("namespace", "pod", "container"), 'pod=~"a"', frozenset(metrics))


def test_start_end_and_outcome_of_a_pod(scope_on):
    answers = {
        f"started {STARTED} 0": [(HERE, 100.0)],
        f"first_started {STARTED} 0": [(HERE, 100.0)],
        f"completed {COMPLETED} 0": [(HERE, 900.0)],
        f"phase {PHASE} 0": [({**HERE, "phase": "Failed"}, 1.0), ({**HERE, "phase": "Succeeded"}, 0.0)],
        f"oom_killed {OOM} 0": [({**HERE, "container": "trainer"}, 1.0)],
    }
    found = lifetimes(scope_on(answers), [labelling(STARTED, COMPLETED, PHASE, OOM)])
    expected = Lifetime(100.0, 900.0, working_since=100.0, phases=frozenset({"Failed"}), oom_killed=frozenset({"trainer"}))
    assert found == {Pod("ml", "a"): expected}


def test_a_name_with_two_start_times_was_reused(scope_on):
    answers = {f"started {STARTED} 0": [(HERE, 500.0)], f"first_started {STARTED} 0": [(HERE, 100.0)]}
    (found,) = lifetimes(scope_on(answers), [labelling(STARTED)]).values()
    assert (found.reused, found.started_at) == (True, 500.0)


def test_without_kube_state_metrics_the_container_says_when_it_started(scope_on):
    metric = "container_start_time_seconds"
    (found,) = lifetimes(scope_on({f"container_started {metric} 0": [(HERE, 70.0)]}), [labelling(metric)]).values()
    assert (found.started_at, found.working_since, found.reused) == (70.0, 70.0, False)


def test_the_pods_of_a_job_are_counted_only_where_a_job_is_known(scope_on):
    assert sizes(scope_on(), [labelling("kube_pod_owner")], set()) == {}
    ((key, query),) = sizes(scope_on(), [labelling("kube_pod_owner")], {("ml", "train7")}).items()
    assert key == "size kube_pod_owner 0"
    assert query.startswith(
        "count by (namespace, owner_name) (max by (namespace, pod, owner_name) (last_over_time(kube_pod_owner{"
    )
    assert 'owner_name=~"train7"' in query
