"""A run and its pods: whose use it was, and how the cluster saw it end."""

from __future__ import annotations

import pytest

from jpo.records import RunStatus
from jpo.telemetry.cluster import Life, Pod, Usage
from jpo.telemetry.discovery import Bounds
from jpo.telemetry.joined import bounds, joined, shared

POD, OTHER = Pod("ml", "a"), Pod("ml", "b")
RUN = Bounds(1000.0, 2000.0, closed=True)
USAGE = Usage(
    {
        "trainer": {"cpu_seconds": 50.0, "memory_sum": 60.0, "memory_count": 10.0, "memory_p95": 8.0, "memory_highest": 9.0},
        "proxy": {"cpu_seconds": 5.0},
    },
    {"gpu_sum": 16.0, "gpu_count": 20.0, "gpu_memory": 3.0, "gpu_energy": 70.0},
)


def test_the_busiest_container_is_the_trainers_unless_one_is_named():
    assert joined({POD: None}, RUN, {}, {POD: USAGE}, frozenset()).values["cpu_seconds"] == 50
    assert joined({POD: "proxy"}, RUN, {}, {POD: USAGE}, frozenset()).values["cpu_seconds"] == 5
    assert joined({POD: "proxy"}, RUN, {}, {POD: USAGE}, frozenset(), given="trainer").values["cpu_seconds"] == 50


def test_pods_of_one_run_add_up_and_the_highest_is_the_highest():
    less = Usage({"trainer": {"cpu_seconds": 10.0, "memory_sum": 20.0, "memory_count": 10.0, "memory_highest": 4.0}})
    values = joined({POD: None, OTHER: None}, RUN, {}, {POD: USAGE, OTHER: less}, frozenset()).values
    assert (values["cpu_seconds"], values["memory_mean_bytes"], values["memory_bytes"]) == (60, 4, 9)
    assert (values["gpu_utilisation"], values["energy_joules"]) == (0.8, 70)


def test_what_was_not_measured_is_absent():
    assert joined({POD: None}, RUN, {}, {POD: Usage({"trainer": {"cpu_seconds": 1.0}})}, frozenset()).values == {"cpu_seconds": 1}
    assert joined({}, RUN, {POD: Life(phase="Failed")}, {POD: USAGE}, frozenset()).values == {}


def test_a_pod_that_did_more_than_the_run_says_nothing_of_it():
    assert joined({POD: None}, RUN, {}, {POD: USAGE}, shared([{POD}, {POD}])).values == {}
    for life in (Life(started_at=800.0), Life(started_at=990.0, completed_at=2200.0)):
        assert joined({POD: None}, RUN, {POD: life}, {POD: USAGE}, frozenset()).values == {}
    assert joined({POD: None}, RUN, {POD: Life(started_at=900.0)}, {POD: USAGE}, frozenset()).values


@pytest.mark.parametrize(
    ("life", "expected"),
    [
        (Life(phase="Succeeded", oom_killed={"trainer"}), RunStatus.SUCCEEDED),
        (Life(phase="Failed", oom_killed={"trainer"}), RunStatus.OOM_KILLED),
        (Life(oom_killed={"trainer"}), RunStatus.OOM_KILLED),
        (Life(phase="Failed", oom_killed={"proxy"}), RunStatus.FAILED),
        (Life(), None),
    ],
)
def test_how_the_cluster_saw_it_end(life, expected):
    assert joined({POD: "trainer"}, RUN, {POD: life}, {}, frozenset()).seen_to_end == expected


def test_the_last_pod_says_how_the_run_ended():
    lives = {POD: Life(1.0, 5.0, "Failed"), OTHER: Life(6.0, 9.0, "Succeeded")}
    assert joined({POD: None, OTHER: None}, RUN, lives, {}, frozenset()).seen_to_end == RunStatus.SUCCEEDED
    assert bounds([POD, OTHER], lives, until=100.0) == (1, 9)


def test_a_run_is_over_when_all_its_pods_are_and_never_in_the_future():
    assert bounds([POD, OTHER], {POD: Life(1.0, 5.0)}, until=100.0) == (1, None)
    assert bounds([POD], {POD: Life(1.0, 105.0)}, until=100.0) == (1, 100)
    assert bounds([], {}, until=100.0) == (None, None)


def test_a_run_that_does_not_say_its_namespace_is_found_by_its_pods_name():
    assert joined({Pod("", "a"): None}, RUN, {}, {POD: USAGE}, frozenset()).values["cpu_seconds"] == 50
    assert joined({Pod("", "a"): None}, RUN, {}, {POD: USAGE, Pod("x", "a"): USAGE}, frozenset()).values == {}
