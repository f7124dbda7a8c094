"""The launcher of Kubernetes keeps the contract of launchers, whatever the API server does meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_cluster import Cluster, Fault, Play
from launches import Bench, Contract

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.session import ATTEMPTS
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import JobState, LaunchJob, Needs
from jpo.plugins.launch.launcher import Resizable
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.lifecycle import ask_status, noted
from jpo.records import RunStatus
from jpo.runlog import ECHO

RIGHTS = Path(__file__).parents[5] / "examples" / "kubernetes" / "rbac.yaml"
JOBS, CONFIGS = "/apis/batch/v1/namespaces/ml/jobs", "/api/v1/namespaces/ml/configmaps"


class TestKubernetes(Contract):
    """All of the contract."""


def left(cluster: Cluster) -> set[tuple[str, str]]:
    """Kind and name of what is on the cluster."""
    cluster.advance()
    return {(kind, name) for kind, _, name in cluster.objects}


@pytest.mark.parametrize("path", [JOBS, CONFIGS])
@pytest.mark.parametrize(
    "fault",
    [
        {"status": 0, "accepted": True},
        {"status": 500, "accepted": True},
        {"status": 504, "accepted": True},
        {"status": 0},
        {"status": 500, "times": 3},
        {"status": 503, "times": 2},
        {"status": 429, "times": 2},
    ],
)
def test_a_server_that_fails_while_it_accepts_starts_one_run(
    bench: Bench, cluster: Cluster, path: str, fault: dict[str, Any]
) -> None:
    cluster.faults.append(Fault("POST", path, **fault))
    entry = bench.start(bench.job("succeeds"))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.SUCCEEDED
    assert cluster.started == [entry.job.run_id]


HALF = b'{"kind": "Job", "metadata": {"na'


@pytest.mark.parametrize("path", [JOBS, CONFIGS])
@pytest.mark.parametrize(
    "answer",
    [
        {"body": b"<html>Bad gateway</html>"},
        {"body": b'{"error": "see the log"}'},
        {"body": HALF},
        {"body": HALF, "fields": {"Content-Length": "900"}},
    ],
)
def test_an_answer_that_nobody_can_read_is_settled_by_the_name(
    bench: Bench, cluster: Cluster, path: str, answer: dict[str, Any]
) -> None:
    job = bench.job("succeeds")
    cluster.faults.append(Fault("POST", path, 201, accepted=True, **answer))
    entry = bench.start(job)
    assert entry.engine_id == f"ml/jpo-{job.run_id}@{cluster.objects['jobs', 'ml', f'jpo-{job.run_id}']['metadata']['uid']}"
    bench.finish(entry)
    assert cluster.started == [job.run_id]


@pytest.mark.parametrize("path", [JOBS, CONFIGS])
def test_an_answer_that_nobody_can_read_and_that_made_nothing_is_an_error(bench: Bench, cluster: Cluster, path: str) -> None:
    job = bench.job("succeeds")
    cluster.faults.append(Fault("POST", path, 200, body=b"<html>Please sign in</html>"))
    with pytest.raises(LaunchError, match="does not speak Kubernetes' API") as caught:
        bench.start(job)
    assert caught.value.code == "JPO-E754"
    bench.finish(bench.start(job))
    assert cluster.started == [job.run_id]


def test_a_start_that_the_server_cut_off_is_made_again_and_starts_one_run(bench: Bench, cluster: Cluster) -> None:
    job = bench.job("succeeds")
    cluster.faults += [Fault("POST", JOBS, 0, times=5, accepted=True), Fault("GET", f"{JOBS}/.*", 0, times=5)]
    with pytest.raises(LaunchError) as caught:
        bench.start(job)
    assert caught.value.code == "JPO-E754"
    intended = read(bench.ledger, job.run_id)
    assert intended is not None
    assert intended.engine_id is None
    bench.finish(bench.start(job))
    assert cluster.started == [job.run_id]


def test_a_run_that_cannot_have_its_config_is_not_left_waiting(bench: Bench, cluster: Cluster) -> None:
    cluster.denied.add(("create", "configmaps"))
    with pytest.raises(LaunchError, match=r"verbs: \[create\]") as caught:
        bench.start(bench.job("succeeds"))
    assert caught.value.code == "JPO-E753"
    bench.sleep(5)
    assert left(cluster) == set()


def test_a_run_that_goes_on_is_not_given_up_because_no_more_objects_may_be_made(bench: Bench, cluster: Cluster) -> None:
    job = bench.job("lasts")
    entry = bench.start(job)
    bench.until_it_runs(entry)
    cluster.faults.append(
        Fault("POST", ".*/configmaps", 403, message="exceeded quota: team, limited: count/configmaps=9", times=9)
    )
    assert bench.launcher().submit(job, bench.ledger / job.run_id) == entry.engine_id  # as after kill -9 before it was noted
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.RUNNING


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, 'jobs.batch "x" is forbidden: exceeded quota: team, requested: count/jobs.batch=1, used: 5, limited: 5'),
        (422, "Job.batch is invalid: spec.template.spec.containers[0].image: Required value"),
        (400, 'admission webhook "policy.example.com" denied the request: name a cost centre'),
        (404, 'namespaces "ml" not found'),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(bench: Bench, cluster: Cluster, status: int, message: str) -> None:
    cluster.faults.append(Fault("POST", JOBS, status, message=message))
    with pytest.raises(LaunchError) as caught:
        bench.start(bench.job("succeeds"))
    assert message in str(caught.value)
    assert caught.value.code == "JPO-E753"
    assert caught.value.remedy
    assert len([each for each in cluster.asked if each == f"POST {JOBS}"]) == 1


def test_another_teams_run_of_the_same_name_is_not_taken_for_ours(bench: Bench, cluster: Cluster) -> None:
    job = bench.job("lasts")
    entry = bench.start(job)
    with pytest.raises(LaunchError, match="id of its own") as caught:
        bench.launcher().submit(replace(job, command=("other",)), bench.ledger / job.run_id)
    assert caught.value.code == "JPO-E750"
    cluster.objects["jobs", "ml", f"jpo-{job.run_id}"]["metadata"]["annotations"] = {}
    with pytest.raises(LaunchError, match="another run's"):
        bench.launcher().submit(job, bench.ledger / job.run_id)
    assert cluster.started == [job.run_id]
    assert entry.engine_id


def test_what_is_left_of_an_earlier_job_of_the_name_makes_way(bench: Bench, cluster: Cluster) -> None:
    job = bench.job("succeeds")
    metadata = {"name": f"jpo-{job.run_id}", "namespace": "ml", "uid": "old", "labels": {"app.kubernetes.io/managed-by": "jpo"}}
    cluster.objects["configmaps", "ml", metadata["name"]] = {"metadata": metadata}
    bench.finish(bench.start(job))
    assert cluster.started == [job.run_id]


def test_a_config_map_of_somebody_else_stays(bench: Bench, cluster: Cluster) -> None:
    job = bench.job("succeeds")
    theirs = {"metadata": {"name": f"jpo-{job.run_id}", "namespace": "ml", "uid": "theirs"}}
    cluster.objects["configmaps", "ml", f"jpo-{job.run_id}"] = theirs
    with pytest.raises(LaunchError, match="already exists"):
        bench.start(job)
    bench.sleep(5)
    assert left(cluster) == {("configmaps", f"jpo-{job.run_id}")}


@pytest.mark.parametrize("nodes", [1, 2])
def test_nothing_is_left_of_a_cancelled_run(bench: Bench, cluster: Cluster, nodes: int) -> None:
    entry = bench.start(bench.job("lasts", needs=Needs(nodes=nodes)))
    bench.until_it_runs(entry)
    bench.launcher().cancel(str(entry.engine_id))
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.RUNNING  # until its pods are gone
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, end.reason) == (RunStatus.STOPPED, "cancelled")
    assert end.ended_at is not None
    assert left(cluster) == set()
    assert "epoch 1" in (bench.ledger / entry.job.run_id / "output.log").read_text()


def test_a_cancelled_run_that_nobody_collects_leaves_nothing_that_runs(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts"))
    bench.launcher().cancel(str(entry.engine_id))
    bench.sleep(5)
    assert left(cluster) == {("configmaps", f"jpo-{entry.job.run_id}")}


def test_a_run_is_cancelled_though_the_server_hangs_up(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts"))
    cluster.faults.append(Fault("DELETE", f"{JOBS}/.*", 0, accepted=True))
    bench.launcher().cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED


@pytest.mark.parametrize("accepted", [True, False])
def test_how_a_cancelled_run_ended_is_known_though_the_last_answer_is_lost(
    accepted: bool, bench: Bench, cluster: Cluster
) -> None:
    entry = bench.start(bench.job("lasts"))
    bench.launcher().cancel(str(entry.engine_id))
    bench.sleep(2.0)
    cluster.faults.append(Fault("DELETE", f"{CONFIGS}/.*", 0, times=ATTEMPTS, accepted=accepted))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED
    assert left(cluster) == set()


@pytest.mark.parametrize("status", [401, 302])
def test_nothing_is_deleted_with_a_login_that_has_expired_on_the_way(status: int, bench: Bench, cluster: Cluster) -> None:
    job = bench.job("lasts")
    entry = bench.start(job)
    bench.until_it_runs(entry)
    for method in ("PATCH", "GET"):
        cluster.faults.append(Fault(method, f"{CONFIGS}/.*", status, times=2 if status == 401 else 1))
    with pytest.raises(LaunchError, match=r"log in to|sign-in page"):
        bench.launcher().submit(job, bench.ledger / job.run_id)  # as after kill -9 before it was noted
    with pytest.raises(LaunchError, match=r"log in to|sign-in page"):
        bench.launcher().cancel(str(entry.engine_id))
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.RUNNING
    bench.launcher().cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED


def test_a_job_that_somebody_deleted_is_unknown_and_accounted_for(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts"))
    cluster.answer("DELETE", f"{JOBS}/jpo-{entry.job.run_id}", {}, {})
    end = bench.finish(entry).end
    assert end is not None
    assert end.state is JobState.UNKNOWN
    assert "was it deleted?" in end.reason


def test_a_job_that_was_made_anew_under_the_name_is_another_one(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts"))
    job = cluster.objects["jobs", "ml", f"jpo-{entry.job.run_id}"]
    job["metadata"]["uid"] = "another"
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.UNKNOWN
    bench.launcher().cancel(str(entry.engine_id))
    assert "deletionTimestamp" not in job["metadata"]


def test_a_job_of_somebody_else_is_left_alone_whatever_the_ledger_says(bench: Bench, cluster: Cluster) -> None:
    """A branch may hold a ledger that it made up; whoever looks has rights that its author may lack."""
    entry = bench.start(bench.job("lasts"))
    job = cluster.objects["jobs", "ml", f"jpo-{entry.job.run_id}"]
    del job["metadata"]["labels"]
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.UNKNOWN
    bench.launcher().cancel(str(entry.engine_id))
    assert "deletionTimestamp" not in job["metadata"]


def test_an_image_that_cannot_be_pulled_ends_the_run_and_leaves_nothing(
    bench: Bench, cluster: Cluster, plays: dict[str, Play]
) -> None:
    plays["lasts"] = Play(waiting=("ImagePullBackOff", 'Back-off pulling image "x:1"'))
    entry = bench.start(bench.job("lasts"))
    bench.sleep(5)
    waiting = ask_status(entry, bench.launcher(), bench.ledger)
    assert (waiting.state, waiting.reason) == (JobState.WAITING, 'ImagePullBackOff: Back-off pulling image "x:1"')
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, end.exit_code) == (RunStatus.FAILED, None)
    assert "ImagePullBackOff" in end.reason
    bench.sleep(5)
    assert left(cluster) == set()


def test_a_node_that_is_lost_stops_the_run_in_the_clusters_words(bench: Bench, plays: dict[str, Play]) -> None:
    lost = {"reason": "NodeLost", "message": "Node node-7 which was running pod x is unresponsive"}
    plays["lasts"] = Play(60.0, exit_code=255, status=lost)
    end = bench.finish(bench.start(bench.job("lasts"))).end
    assert end is not None
    assert (end.ended_as, end.reason) == (RunStatus.STOPPED, "NodeLost: Node node-7 which was running pod x is unresponsive")


def test_out_of_memory_is_told(bench: Bench, plays: dict[str, Play]) -> None:
    plays["lasts"] = Play(60.0, exit_code=137, ended={"reason": "OOMKilled"})
    end = bench.finish(bench.start(bench.job("lasts", needs=Needs(memory_gib=4.0)))).end
    assert end is not None
    assert (end.ended_as, end.reason) == (RunStatus.OOM_KILLED, "OOMKilled: beyond its limit of 4Gi")


def test_a_run_in_a_queue_waits_in_kueues_words(
    bench: Bench, cluster: Cluster, new_launcher: Any, setup: KubernetesTable
) -> None:
    bench.launcher = lambda: new_launcher(setup.model_copy(update={"queue": "team-a"}))
    entry = bench.start(bench.job("succeeds"))
    assert ask_status(entry, bench.launcher(), bench.ledger).reason == "waits in queue team-a"
    job = cluster.objects["jobs", "ml", f"jpo-{entry.job.run_id}"]
    reserved = {
        "type": "QuotaReserved",
        "status": "False",
        "message": "insufficient unused quota for nvidia.com/gpu, 2 more needed",
    }
    workload = {"metadata": {"ownerReferences": [{"uid": job["metadata"]["uid"]}]}, "status": {"conditions": [reserved]}}
    cluster.read_only["/apis/kueue.x-k8s.io/v1beta1/namespaces/ml/workloads"] = {"items": [workload]}
    status = ask_status(entry, bench.launcher(), bench.ledger)
    assert status.state is JobState.WAITING
    assert "2 more needed" in status.reason
    job["spec"]["suspend"] = False
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.SUCCEEDED


def test_a_run_that_waits_in_a_queue_is_cancelled(
    bench: Bench, cluster: Cluster, new_launcher: Any, setup: KubernetesTable
) -> None:
    bench.launcher = lambda: new_launcher(setup.model_copy(update={"queue": "team-a"}))
    entry = bench.start(bench.job("succeeds"))
    bench.launcher().cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED
    assert cluster.started == []


def test_a_job_that_quota_gives_no_pod_says_so(bench: Bench, cluster: Cluster) -> None:
    cluster.new_pod = lambda *_: None  # type: ignore[method-assign]
    cluster.judge = lambda *_: None  # type: ignore[method-assign]
    entry = bench.start(bench.job("succeeds"))
    event = {
        "reason": "FailedCreate",
        "message": "Error creating: exceeded quota: team",
        "firstTimestamp": "2027-01-15T08:00:00Z",
    }
    cluster.read_only["/api/v1/namespaces/ml/events"] = {"items": [event]}
    bench.sleep(1000)
    status = ask_status(entry, bench.launcher(), bench.ledger)
    assert (status.state, status.reason) == (JobState.WAITING, "Error creating: exceeded quota: team")


def test_what_is_collected_goes_an_hour_later(bench: Bench, cluster: Cluster) -> None:
    entry = bench.finish(bench.start(bench.job("succeeds")))
    assert ("jobs", f"jpo-{entry.job.run_id}") in left(cluster)
    bench.sleep(3700)
    assert left(cluster) == set()


def test_a_run_has_its_config_and_the_folder_knows_no_more(bench: Bench, cluster: Cluster, job: LaunchJob, tmp_path: Any) -> None:
    (tmp_path / "config.ini").write_bytes(b"[training]\nbatch_size = 64\n")
    bench.launcher().submit(job, tmp_path)
    assert cluster.objects["configmaps", "ml", "jpo-night-1"]["data"]["config.ini"] == "[training]\nbatch_size = 64\n"


def test_a_run_is_resized_in_place(bench: Bench, cluster: Cluster, plays: dict[str, Play]) -> None:
    plays["lasts"], lasting = Play(unschedulable="0/3 nodes are available"), plays["lasts"]
    entry = bench.start(bench.job("lasts", needs=Needs(gpus=2, cpus=4.0, memory_gib=16.0)))
    with pytest.raises(LaunchError, match="has no pod that runs") as caught:
        bench.launcher().resize(str(entry.engine_id), Needs(cpus=2.0))
    assert caught.value.code == "JPO-E765"
    plays["lasts"] = lasting
    bench.until_it_runs(entry)
    bench.launcher().resize(str(entry.engine_id), Needs(gpus=2, cpus=2.0, memory_gib=8.0))
    (pod,) = cluster.of("pods")
    asked = pod["spec"]["containers"][0]["resources"]
    assert asked["requests"] == asked["limits"] == {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "2"}


def test_a_resize_that_the_server_refuses_is_told_in_its_words(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts", needs=Needs(cpus=4.0)))
    bench.until_it_runs(entry)
    cluster.denied.add(("patch", "pods/resize"))
    with pytest.raises(LaunchError, match="pods/resize") as caught:
        bench.launcher().resize(str(entry.engine_id), Needs(cpus=2.0))
    assert "verbs: [patch]" in caught.value.remedy


def test_the_manifest_is_what_is_submitted(bench: Bench, cluster: Cluster, job: LaunchJob, tmp_path: Any) -> None:
    wanted = bench.launcher().plan(job)["items"][0]
    bench.launcher().submit(job, tmp_path)
    assert cluster.objects["jobs", "ml", "jpo-night-1"]["spec"] == wanted["spec"]


def test_no_credential_is_on_the_cluster_or_in_the_ledger(bench: Bench, cluster: Cluster) -> None:
    entry = bench.finish(bench.start(bench.job("succeeds")))
    assert "secret-token" not in str(cluster.objects)
    assert not [
        file for file in (bench.ledger / entry.job.run_id).rglob("*") if file.is_file() and b"secret-token" in file.read_bytes()
    ]


@pytest.mark.parametrize("engine_id", ["", "x", "ml/x", "@", "ml/../x@1"])
def test_an_id_that_is_none_is_unknown(bench: Bench, engine_id: str) -> None:
    assert bench.launcher().status(engine_id).state is JobState.UNKNOWN


def test_the_example_of_rights_is_what_a_run_needs_and_no_more(
    bench: Bench, cluster: Cluster, new_launcher: Any, setup: KubernetesTable, plays: dict[str, Play]
) -> None:
    """Every right is used, and with these alone a run is started, watched, resized, cancelled and collected."""
    roles = [each for each in yaml.safe_load_all(RIGHTS.read_text("utf-8")) if each["kind"] in ("Role", "ClusterRole")]
    granted = {
        (verb, resource) for role in roles for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]
    }
    cluster.granted, cluster.used = granted, set()
    kueue = "/apis/kueue.x-k8s.io/v1beta1"
    cluster.read_only[f"{kueue}/namespaces/ml/localqueues/team-a"] = {"spec": {"clusterQueue": "gpus"}}
    bench.launcher = lambda: new_launcher(setup.model_copy(update={"queue": "team-a"}))
    queued = bench.start(bench.job("lasts"))
    ask_status(queued, bench.launcher(), bench.ledger)
    bench.launcher().cancel(str(queued.engine_id))
    bench.finish(queued)
    bench.launcher().room(Needs(gpus=1))
    bench.launcher = new_launcher
    for nodes in (1, 2):
        job = bench.job("succeeds", needs=Needs(nodes=nodes, cpus=2.0))
        entry = bench.start(job)
        bench.launcher().submit(job, bench.ledger / job.run_id)
        bench.until_it_runs(entry)
        bench.launcher().resize(str(entry.engine_id), Needs(cpus=1.0))
        bench.finish(entry)
    left_over = bench.job("succeeds", needs=Needs(nodes=2))
    for kind in ("configmaps", "services"):
        metadata = {
            "name": f"jpo-{left_over.run_id}",
            "namespace": "ml",
            "uid": "old",
            "labels": {"app.kubernetes.io/managed-by": "jpo"},
        }
        cluster.objects[kind, "ml", metadata["name"]] = {"metadata": metadata}
    bench.finish(bench.start(left_over))
    cluster.new_pod = lambda *_: None  # type: ignore[method-assign]
    cluster.judge = lambda *_: None  # type: ignore[method-assign]
    bench.launcher().status(str(bench.start(bench.job("lasts")).engine_id))
    assert cluster.used == granted


def test_a_job_of_another_run_is_not_found(bench: Bench, new_launcher: Any, tmp_path: Path) -> None:
    job = bench.job("lasts")
    bench.start(job)
    assert new_launcher().find(replace(job, command=("other",)), tmp_path) is None


def test_the_log_of_a_run_that_goes_on_can_be_followed(bench: Bench, cluster: Cluster, plays: dict[str, Play]) -> None:
    plays["lasts"] = Play(3600.0, output=f"{ECHO}# run_id=run\n")
    entry = bench.start(bench.job("lasts"))
    bench.until_it_runs(entry)
    log = bench.ledger / entry.job.run_id / "runs" / "run.csv"
    assert log.read_text() == "# run_id=run\n"
    plays["lasts"].output += f"{ECHO}time,epoch\n"
    cluster.faults.append(Fault("GET", r".*/log", 403))
    launcher = bench.launcher()
    assert ask_status(entry, launcher, bench.ledger).state is JobState.RUNNING
    assert log.read_text() == "# run_id=run\n"
    bench.sleep(15)
    ask_status(entry, launcher, bench.ledger)
    assert log.read_text() == "# run_id=run\ntime,epoch\n"


def test_a_resize_that_would_change_nothing_is_no_resize(bench: Bench, cluster: Cluster) -> None:
    entry = bench.start(bench.job("lasts", needs=Needs(gpus=2, cpus=4.0)))
    bench.until_it_runs(entry)
    for needs, words in ((Needs(gpus=1, cpus=4.0), "keeps its GPUs"), (Needs(gpus=2), "neither CPUs nor memory")):
        with pytest.raises(LaunchError, match=words) as caught:
            bench.launcher().resize(str(entry.engine_id), needs)
        assert caught.value.code == "JPO-E765"
    assert not [each for each in cluster.asked if each.endswith("/resize")]


def test_it_is_one_of_the_engines_that_resize(new_launcher: Any) -> None:
    assert isinstance(new_launcher(), Resizable)


def test_a_start_that_was_killed_before_the_config_was_there_is_completed_when_it_is_found(
    bench: Bench, cluster: Cluster
) -> None:
    job = bench.job("lasts")
    cluster.faults.append(Fault("POST", CONFIGS, 0, times=ATTEMPTS))
    with pytest.raises(LaunchError):
        bench.start(job)
    intended = read(bench.ledger, job.run_id)
    assert intended is not None
    entry = noted(intended, bench.launcher(), bench.ledger)
    bench.until_it_runs(entry)
    bench.launcher().cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED
