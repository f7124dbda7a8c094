"""Manifests are what Kubernetes' own schemas want, for any run."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.manifest import digest, manifest
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import RUN_ID, LaunchJob, Needs
from jpo.records import Identity, Word
from jpo.wording.slug import LABEL_VALUE

JOB = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("python", "train.py", "config.ini"), Path("/srv/digits"))
SETTINGS = KubernetesTable(
    image="registry.example.com/digits:1", workdir="/workspace", claims={"datasets": "/data"}, environment_from=("wandb",)
)
NAMES = st.text(min_size=1, max_size=120).filter(str.strip)
VERSIONS = ("1.33", "1.37")


def changed(**changes: object) -> KubernetesTable:
    return SETTINGS.model_copy(update=changes)


def made(job: LaunchJob = JOB, pods: KubernetesTable = SETTINGS, config: bytes = b"[training]\n") -> list[dict[str, Any]]:
    found = manifest(job, pods, namespace="ml", config=config)["items"]
    assert isinstance(found, list)
    return found


def check(objects: list[dict[str, Any]]) -> None:
    for each in objects:
        for version in VERSIONS:
            kubernetes_validate.validate(each, version, strict=True)
        labels = [each["metadata"]["labels"], each["spec"]["template"]["metadata"]["labels"] if each["kind"] == "Job" else {}]
        assert all(LABEL_VALUE.fullmatch(value) for group in labels for value in group.values())


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        replace(JOB, needs=Needs(gpus=8, gpu_type="a100", cpus=0.3, memory_gib=0.1, nodes=4), longest_seconds=1.5),
        replace(JOB, parameters={"batch_size": 64.0, "shift": -1e300, "optimizer": Word("adam w/ größe")}),
        replace(JOB, run_id="x" * 63, environment={"A": "", "b.c": "\n\x7f☃"}),
        replace(JOB, run_id="Night_17", command=("", "-", "$(A)")),
    ],
)
@pytest.mark.parametrize(
    "pods",
    [
        SETTINGS,
        KubernetesTable(
            image="x",
            workdir="/w",
            tolerations=("a=b", "c"),
            image_pull_secrets=("r",),
            queue="team-a",
            service_account="trainer",
            user=1000,
        ),
    ],
)
def test_every_object_is_valid(job: LaunchJob, pods: KubernetesTable) -> None:
    check(made(job, pods))


@pytest.mark.parametrize("pods", [SETTINGS, changed(queue="team-a", user=1000, tolerations=("a=b",))])
def test_kubectl_knows_every_field_of_a_job(kubectl: str, pods: KubernetesTable, tmp_path: Path) -> None:
    job = replace(JOB, needs=Needs(gpus=8, gpu_type="a100", cpus=0.3, memory_gib=0.1, nodes=2), longest_seconds=60.0)
    wanted = made(job, pods)[0]
    for newer in ("suspend", "completionMode"):  # than kubectl 1.20
        wanted["spec"].pop(newer, None)
    words = [kubectl, "set", "env", "--local", "--output=json", "--filename=-", "SEEN=1"]  # asks no server, and reads by type
    env = {**os.environ, "HOME": str(tmp_path), "KUBECONFIG": os.devnull}
    read = subprocess.run(words, input=json.dumps(wanted), env=env, capture_output=True, text=True, check=True).stdout
    assert lost(wanted, json.loads(read)) == []


def lost(wanted: Any, found: Any, where: str = "") -> list[str]:
    """What of a document another one has not: a client drops what it does not know."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [each for key, value in wanted.items() for each in lost(value, found.get(key), f"{where}.{key}")]
    if isinstance(wanted, list) and isinstance(found, list):
        return [each for place, value in enumerate(wanted) for each in lost(value, found[place], f"{where}[{place}]")]
    return [] if wanted == found else [where]


@settings(max_examples=40)
@given(NAMES, NAMES, st.from_regex(RUN_ID, fullmatch=True), st.binary(max_size=50))
def test_any_names_and_bytes_make_valid_objects(dataset: str, model: str, run_id: str, config: bytes) -> None:
    check(made(replace(JOB, run_id=run_id, identity=Identity(dataset, model, "jax")), config=config))


def test_one_run_is_one_job_that_is_never_started_again() -> None:
    job, config_map = made()
    assert job["spec"]["backoffLimit"] == 0
    assert "ttlSecondsAfterFinished" not in job["spec"]
    assert "suspend" not in job["spec"]
    assert config_map["data"] == {"config.ini": "[training]\n"}
    assert job["metadata"]["name"] == config_map["metadata"]["name"] == "jpo-night-1"


def test_a_queue_lets_it_start() -> None:
    job, _ = made(pods=changed(queue="team-a"))
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert job["spec"]["suspend"] is True


def test_several_nodes_have_an_index_each_and_a_service_for_their_names() -> None:
    job, _, service = made(replace(JOB, needs=Needs(gpus=8, nodes=2)))
    assert (job["spec"]["completions"], job["spec"]["parallelism"], job["spec"]["completionMode"]) == (2, 2, "Indexed")
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": job["metadata"]["name"]}
    assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]


def test_a_config_that_is_no_text_arrives_byte_for_byte() -> None:
    assert made(config=b"\xff\x00")[1]["binaryData"] == {"config.ini": "/wA="}


def test_no_path_of_this_machine_is_in_it() -> None:
    job = replace(JOB, environment={"JPO_CONFIG": "/srv/digits/config.ini"}, command=("train", "/srv/digits/config.ini"))
    assert "/srv" not in str(made(job))


@pytest.mark.parametrize(
    ("pods", "job", "words"),
    [
        (KubernetesTable(), JOB, "names no image"),
        (changed(workdir=None), replace(JOB, command=("./train",)), "would have the image's own values"),
        (changed(workdir="code"), JOB, "not an absolute path"),
        (changed(tolerations=("a=b=c",)), JOB, "is not a taint"),
        (changed(image_pull_secrets=("a b",)), JOB, "image_pull_secrets: a b: is not a Kubernetes name"),
        (changed(queue="Team A"), JOB, "queue: is not a Kubernetes name"),
        (changed(environment_from=("a_b",)), JOB, "environment_from: a_b: is not a Kubernetes name"),
        (changed(claims={"data": "data"}), JOB, "not an absolute path"),
        (changed(claims={"data": "/a/../.."}), JOB, "not an absolute path"),
        (changed(node_selector={"pool": "a b"}), JOB, "cannot be a label of nodes"),
        (
            changed(gpu_types={"a100": "A 100"}),
            replace(JOB, needs=Needs(1, "a100")),
            "cannot be a label of nodes",
        ),
        (SETTINGS, replace(JOB, environment={"A=B": ""}), "cannot be the name of a variable"),
    ],
)
def test_what_no_manifest_can_say_is_refused_before_anybody_is_asked(pods: KubernetesTable, job: LaunchJob, words: str) -> None:
    with pytest.raises(LaunchError, match=words) as caught:
        made(job, pods)
    assert caught.value.code == "JPO-E763"
    assert caught.value.remedy


def test_a_variable_that_looks_like_a_secret_is_refused_without_its_value() -> None:
    with pytest.raises(LaunchError, match="WANDB_API_KEY looks like a secret") as caught:
        made(replace(JOB, environment={"WANDB_API_KEY": "hunter2"}))
    assert caught.value.code == "JPO-E770"
    assert "hunter2" not in str(caught.value)


def test_a_config_that_no_config_map_holds_is_refused() -> None:
    with pytest.raises(LaunchError, match="a ConfigMap takes"):
        made(config=b"x" * 1_000_001)


def test_the_digest_tells_jobs_of_one_id_apart() -> None:
    others = [
        replace(JOB, command=("x",)),
        replace(JOB, needs=Needs(1)),
        replace(JOB, parameters={"a": 1.0}),
        replace(JOB, longest_seconds=1.0),
    ]
    assert len({digest(job) for job in (JOB, *others)}) == 5
    assert digest(JOB) == digest(replace(JOB))


def test_values_of_config_ini_and_tokenizers_are_no_secrets() -> None:
    check(made(replace(JOB, environment={"JPO_MAX_TOKEN": "512", "TOKENIZERS_PARALLELISM": "false"})))
