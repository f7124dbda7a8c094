"""A run and its pods: whose use it was, and how the cluster saw it end."""

from __future__ import annotations

import pytest

from jpo.records import RunStatus
from jpo.telemetry.prometheus.cluster import Pod, PodUsage
from jpo.telemetry.prometheus.discovery import RunBounds
from jpo.telemetry.prometheus.joined import ClusterFacts, bounds, joined, shared
from jpo.telemetry.prometheus.pod_lifetimes import Lifetime

POD, OTHER = Pod("ml", "a"), Pod("ml", "b")
RUN = RunBounds(1000.0, 2000.0, closed=True)
TRAINER = {"cpu_seconds": 50.0, "memory_sum": 60.0, "memory_count": 10.0, "memory_p95": 8.0, "memory_highest": 9.0}
GPUS = {"gpu_sum": 16.0, "gpu_count": 20.0, "gpus": 2.0, "gpu_memory": 3.0, "gpu_energy": 70.0, "gpus_metered": 2.0}
USAGE = PodUsage({"trainer": TRAINER, "proxy": {"cpu_seconds": 5.0}}, GPUS)
SUCCEEDED, FAILED = frozenset({"Succeeded"}), frozenset({"Failed"})
TRAINERS, PROXYS = frozenset({"trainer"}), frozenset({"proxy"})


def values(pods, *, used=None, **facts):
    """The values of a run in these pods; each used USAGE unless something else is said."""
    usage = dict.fromkeys(pods, USAGE) if used is None else used
    return joined(dict.fromkeys(pods), RUN, ClusterFacts(usage=usage, **facts)).values


def test_the_busiest_container_is_the_trainers_unless_one_is_named():
    assert values([POD])["cpu_seconds"] == 50
    assert joined({POD: "proxy"}, RUN, ClusterFacts(usage={POD: USAGE})).values["cpu_seconds"] == 5
    assert joined({POD: "proxy"}, RUN, ClusterFacts(usage={POD: USAGE}), container="trainer").values["cpu_seconds"] == 50


def test_pods_of_one_run_add_up_and_the_highest_is_the_highest():
    less = PodUsage({"trainer": {"cpu_seconds": 10.0, "memory_sum": 20.0, "memory_count": 10.0, "memory_highest": 4.0}}, GPUS)
    both = values([POD, OTHER], used={POD: USAGE, OTHER: less})
    assert (both["cpu_seconds"], both["memory_mean_bytes"], both["memory_bytes"]) == (60, 4, 9)
    assert (both["gpu_utilisation"], both["energy_joules"], both["gpus_seen"]) == (0.8, 140, 4)


def test_of_several_pods_nothing_is_added_up_unless_all_are_known():
    assert values([POD, OTHER], used={POD: USAGE}) == {"pods": 2}
    only_a_proxy = PodUsage({"proxy": {"cpu_seconds": 5.0}})
    assert "cpu_seconds" not in values([POD, OTHER], used={POD: USAGE, OTHER: only_a_proxy})


def test_energy_is_unknown_unless_every_gpu_reports_it():
    assert "energy_joules" not in values([POD], used={POD: PodUsage({}, {**GPUS, "gpus_metered": 1.0})})


def test_what_was_not_measured_is_absent():
    assert values([POD], used={POD: PodUsage({"trainer": {"cpu_seconds": 1.0}})}) == {"pods": 1, "cpu_seconds": 1}
    assert values([], lifetimes={POD: Lifetime(phases=FAILED)}, used={POD: USAGE}) == {}


def test_a_pod_that_did_more_than_the_run_says_nothing_of_it():
    assert values([POD], shared=shared([{POD}, {POD}])) == {"pods": 1}
    for lifetime in (
        Lifetime(working_since=800.0),
        Lifetime(started_at=990.0, completed_at=2200.0),
        Lifetime(started_at=990.0, there_at=2200.0),
    ):
        assert values([POD], lifetimes={POD: lifetime}) == {"pods": 1}
    assert "cpu_seconds" in values(
        [POD], lifetimes={POD: Lifetime(800.0, working_since=900.0, completed_at=2000.0, there_at=2200.0)}
    )


def test_of_pods_with_one_name_the_last_says_something_if_it_alone_was_measured_and_is_not_later_than_the_run():
    again = Lifetime(started_at=990.0, completed_at=2010.0, reused=True)
    assert "cpu_seconds" in values([POD], lifetimes={POD: again}, since=940.0)
    assert values([POD], lifetimes={POD: again}, since=0.0) == {"pods": 1}
    later = Lifetime(started_at=3000.0, phases=FAILED, reused=True)
    assert joined({POD: None}, RUN, ClusterFacts({POD: later}, {POD: USAGE}, since=940.0)).seen_to_end is None
    assert values([POD], lifetimes={POD: later}, since=940.0) == {"pods": 1}


@pytest.mark.parametrize(
    ("lifetime", "expected"),
    [
        (Lifetime(phases=SUCCEEDED, oom_killed=TRAINERS), RunStatus.SUCCEEDED),
        (Lifetime(phases=FAILED, oom_killed=TRAINERS), RunStatus.OOM_KILLED),
        (Lifetime(oom_killed=TRAINERS), RunStatus.OOM_KILLED),
        (Lifetime(phases=FAILED, oom_killed=PROXYS), RunStatus.FAILED),
        (Lifetime(phases=FAILED, oom_killed=TRAINERS, reused=True), RunStatus.FAILED),  # it may have been the pod before
        (Lifetime(phases=FAILED | SUCCEEDED, reused=True), None),
        (Lifetime(), None),
    ],
)
def test_how_the_cluster_saw_it_end(lifetime, expected):
    assert joined({POD: "trainer"}, RUN, ClusterFacts({POD: lifetime})).seen_to_end == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Lifetime(1.0, 5.0, phases=FAILED), Lifetime(6.0, 9.0, phases=SUCCEEDED), RunStatus.SUCCEEDED),  # tried again
        (Lifetime(1.0, 9.0, phases=SUCCEEDED), Lifetime(1.1, 8.0, phases=FAILED), RunStatus.FAILED),  # side by side
        (Lifetime(1.0, 9.0, phases=FAILED, oom_killed=TRAINERS), Lifetime(1.1, 9.0, phases=FAILED), RunStatus.OOM_KILLED),
    ],
)
def test_the_last_pods_say_how_the_run_ended(first, second, expected):
    both = {POD: "trainer", OTHER: "trainer"}
    assert joined(both, RUN, ClusterFacts({POD: first, OTHER: second})).seen_to_end == expected


def test_cpus_asked_for_are_those_of_pods_that_were_there_together():
    def asked(*spans):
        lifetimes = {Pod("ml", str(n)): Lifetime(*span, cpus={"trainer": 4.0}) for n, span in enumerate(spans)}
        return joined(dict.fromkeys(lifetimes, "trainer"), RUN, ClusterFacts(lifetimes)).values.get("cpus_requested")

    assert asked((1.0, 5.0), (6.0, 9.0)) == 4
    assert asked((1.0, 9.0), (1.5, 9.0), (2.0, 9.0)) == 12
    assert asked((1.0, None)) == 4
    assert asked((1.0, None), (6.0, 9.0)) is None


def test_a_run_is_over_when_all_its_pods_are_and_never_in_the_future():
    assert bounds([POD, OTHER], {POD: Lifetime(1.0, 5.0), OTHER: Lifetime(6.0, 9.0)}, until=100.0) == (1, 9)
    assert bounds([POD, OTHER], {POD: Lifetime(1.0, 5.0)}, until=100.0) == (None, None)
    assert bounds([POD], {POD: Lifetime(1.0, 105.0)}, until=100.0) == (1, 100)
    assert bounds([], {}, until=100.0) == (None, None)


def test_a_pod_that_was_not_seen_to_end_does_not_say_when_its_run_began():
    assert bounds([POD], {POD: Lifetime(1.0)}, until=100.0) == (None, None)
    assert bounds([POD], {POD: Lifetime(1.0, 5.0, reused=True)}, until=100.0) == (None, None)


def test_a_run_that_does_not_say_its_namespace_is_found_by_its_pods_name():
    assert values([Pod("", "a")], used={POD: USAGE})["cpu_seconds"] == 50
    assert "cpu_seconds" not in values([Pod("", "a")], used={POD: USAGE, Pod("x", "a"): USAGE})
