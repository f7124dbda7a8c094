"""What kube-state-metrics tells of a pod."""

from __future__ import annotations

import pytest

from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Pod
from jpo.telemetry.prometheus.pods.kube_state import PodLife, by_pod
from jpo.telemetry.prometheus.pods.seen_pods import PodId

ID = PodId(Pod("ml", "p"), "u")
PLACE = {"namespace": "ml", "pod": "p", "uid": "u"}


def life_of(*rows):
    return by_pod([(f"{key}|m|0", AnswerRow({**PLACE, **labels}, ((0.0, value),))) for key, labels, value in rows], [ID])[ID]


def test_states_count_where_they_are_one():
    life = life_of(
        ("phase", {"phase": "Failed"}, 1.0), ("phase", {"phase": "Succeeded"}, 0.0), ("reason", {"reason": "Evicted"}, 0.0)
    )
    assert (life.phases, life.failed_for, life.live) == ({"Failed"}, set(), False)


def test_rows_of_another_pod_of_the_same_name_are_not_its_own():
    assert life_of(("started", {"uid": "other"}, 5.0)) == PodLife()


def test_rows_without_a_uid_are_of_the_only_pod_of_that_name():
    row = ("started_at|m|0", AnswerRow({"namespace": "ml", "pod": "p"}, ((0.0, 5.0),)))
    assert by_pod([row], [ID])[ID].started_at == 5.0
    again = PodId(ID.pod, "v")
    assert [life.started_at for life in by_pod([row], [ID, again]).values()] == [None, None]


@pytest.mark.parametrize(
    ("kind", "serves", "job"),
    [
        ("Job", False, "o"),
        ("PyTorchJob", False, "o"),
        ("ReplicaSet", True, None),
        ("StatefulSet", True, None),
        ("<none>", False, None),
    ],
)
def test_the_owner_says_whether_a_pod_serves_or_works_together_with_others(kind, serves, job):
    life = life_of(("owner", {"owner_kind": kind, "owner_name": "o"}, 1.0))
    assert (life.serves, life.job) == (serves, job)


def test_why_a_container_ended_is_not_known_where_it_was_started_again():
    once = ("terminated", {"container": "t", "reason": "OOMKilled"}, 1.0)
    assert life_of(once).reasons("t") == {"OOMKilled"}
    again = ("restarts", {"container": "t"}, 1.0)
    assert life_of(once, again).reasons("t") == set(), "that was an earlier time"
    now = ("just terminated", {"container": "t", "reason": "Completed"}, 1.0)
    assert life_of(once, again, now).reasons("t") == {"Completed"}
    assert life_of(once, again, ("phase", {"phase": "Failed"}, 1.0)).reasons("t") == {"OOMKilled"}
