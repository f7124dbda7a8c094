"""The pod of a run: its command stays a list, and nothing in it is expanded by the kubelet."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jpo.plugins.launch.engines.kubernetes.pods import command, pod_spec, resources
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.records import Identity

JOB = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("python", "train.py", "config.ini"), Path("/srv/digits"))
SETTINGS = KubernetesTable(image="registry.example.com/digits:1", workdir="/workspace")
CONFIG = "/jpo/config/config.ini"


def changed(**changes: object) -> KubernetesTable:
    return SETTINGS.model_copy(update=changes)


def spec_of(job: LaunchJob = JOB, setup: KubernetesTable = SETTINGS) -> dict[str, Any]:
    return pod_spec(job, setup, "jpo-night-1")


def container(job: LaunchJob = JOB, setup: KubernetesTable = SETTINGS) -> dict[str, Any]:
    return spec_of(job, setup)["containers"][0]


def expanded(text: str, variables: dict[str, str]) -> str:
    """What a kubelet makes of a text: third_party/forked/golang/expansion."""
    return re.sub(r"\$(\$|\(([^)]*)\))", lambda m: "$" if m[1] == "$" else variables.get(m[2], m[0]), text)


@example("$(A)")
@example("$$(A)")
@example("$")
@example("$$")
@given(st.text(st.characters(exclude_characters="\0"), max_size=30))
def test_what_config_ini_says_reaches_the_program_as_it_is(text: str) -> None:
    made = container(replace(JOB, command=("train", text), environment={"A": text}))
    assert expanded(made["command"][1], {"A": "secret", "": "secret"}) == text
    assert expanded(next(e["value"] for e in made["env"] if e["name"] == "A"), {"A": "secret"}) == text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("config.ini", CONFIG),
        ("./config.ini", CONFIG),
        ("/srv/digits/config.ini", CONFIG),
        ("--config=config.ini", f"--config={CONFIG}"),
        ("other/config.ini", "other/config.ini"),
        ("s3://bucket/config.ini", "s3://bucket/config.ini"),
        ("config.ini.bak", "config.ini.bak"),
        ("", ""),
    ],
)
def test_an_argument_that_names_the_config_names_the_mounted_one(given: str, expected: str) -> None:
    assert command(replace(JOB, command=("train", given)))[1] == expected


def test_a_config_of_another_name_is_found_by_jpo_config() -> None:
    job = replace(JOB, command=("train", "conf/vision.ini"), environment={"JPO_CONFIG": "/srv/digits/conf/vision.ini"})
    assert command(job) == ("train", CONFIG)
    assert {"name": "JPO_CONFIG", "value": CONFIG} in container(job)["env"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("python3", "train.py"), ("python3", "-m", "torch.distributed.run", "train.py")),
        (
            ("/usr/bin/python3.11", "-u", "-W", "error", "t.py", "-x"),
            ("/usr/bin/python3.11", "-u", "-W", "error", "-m", "torch.distributed.run", "t.py", "-x"),
        ),
        (("python", "-m", "pkg.train"), ("python", "-m", "torch.distributed.run", "-m", "pkg.train")),
        (("python", "-m", "torch.distributed.run", "t.py"), ("python", "-m", "torch.distributed.run", "t.py")),
        (("torchrun", "t.py"), ("torchrun", "t.py")),
        (("python", "-c", "x"), ("python", "-c", "x")),
        (("python",), ("python",)),
        (("./train", "a"), ("./train", "a")),
    ],
)
def test_several_gpus_are_one_process_each(words: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert command(replace(JOB, command=words, needs=Needs(gpus=2))) == expected
    assert command(replace(JOB, command=words, needs=Needs(gpus=1))) == words


def test_another_framework_starts_its_processes_itself() -> None:
    job = replace(JOB, identity=Identity("digits", "cnn", "jax"), needs=Needs(gpus=8, nodes=2))
    assert command(job)[:2] == ("python", "train.py")
    names = {each["name"] for each in container(job)["env"]}
    assert {"PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE", "MASTER_ADDR", "MASTER_PORT"} <= names


def test_nodes_find_the_first_of_them_by_name() -> None:
    job = replace(JOB, needs=Needs(gpus=8, cpus=16, memory_gib=64, nodes=2))
    variables = {each["name"]: each.get("value") for each in container(job)["env"]}
    assert variables["MASTER_ADDR"] == "jpo-night-1-0.jpo-night-1"
    assert (variables["PET_NNODES"], variables["PET_NPROC_PER_NODE"], variables["OMP_NUM_THREADS"]) == ("2", "4", "2")
    assert spec_of(job)["subdomain"] == "jpo-night-1"


def test_requests_are_limits_and_texts() -> None:
    asked = container(replace(JOB, needs=Needs(gpus=4, cpus=3, memory_gib=10, nodes=2)))["resources"]
    assert asked["requests"] == asked["limits"] == {"cpu": "1500m", "memory": "5Gi", "nvidia.com/gpu": "2"}
    assert resources(Needs(), "nvidia.com/gpu") == {}


def test_root_is_asked_for_by_name() -> None:
    assert spec_of()["securityContext"]["runAsNonRoot"] is True
    assert spec_of(setup=changed(user=0))["securityContext"]["runAsNonRoot"] is False
    assert spec_of(setup=changed(user=1000))["securityContext"]["runAsUser"] == 1000
    assert container()["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert spec_of()["automountServiceAccountToken"] is False


def test_secrets_are_named_and_never_copied() -> None:
    made = container(setup=changed(environment_from=("wandb",)))
    assert made["envFrom"] == [{"secretRef": {"name": "wandb"}}]


def test_a_run_has_its_time_from_the_start_of_its_pod_and_is_started_once() -> None:
    made = spec_of(replace(JOB, longest_seconds=0.2))
    assert made["activeDeadlineSeconds"] == 1
    assert made["restartPolicy"] == "Never"
    assert "activeDeadlineSeconds" not in spec_of()


def test_a_gpu_type_chooses_nodes_where_a_setting_translates_it() -> None:
    job = replace(JOB, needs=Needs(gpus=1, gpu_type="a100"))
    assert "nodeSelector" not in spec_of(job)
    there = changed(node_selector={"pool": "gpu"}, gpu_types={"a100": "NVIDIA-A100-SXM4-80GB"})
    assert spec_of(job, there)["nodeSelector"] == {"pool": "gpu", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}


def test_a_claim_at_the_folder_of_run_logs_keeps_them() -> None:
    made = spec_of(setup=changed(claims={"logs": "/jpo/runs", "datasets": "/data"}))
    assert [volume["name"] for volume in made["volumes"]] == ["config", "claim-0", "claim-1"]
    assert {"name": "claim-0", "mountPath": "/jpo/runs"} in made["containers"][0]["volumeMounts"]


def test_metrics_are_served_where_prometheus_scrapes_them() -> None:
    made = container(JOB, changed(metrics_port=8000))
    assert made["ports"] == [{"name": "metrics", "containerPort": 8000}]
    assert {"name": "JPO_METRICS_PORT", "value": "8000"} in made["env"]
    assert "ports" not in container()


def test_a_time_beyond_all_bounds_is_the_longest_that_kubernetes_knows() -> None:
    assert spec_of(replace(JOB, longest_seconds=1e12))["activeDeadlineSeconds"] == 2**31 - 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/srv/digits/train.py", "train.py"),
        ("--script=/srv/digits/src/train.py", "--script=src/train.py"),
        ("/srv/digits/../other/train.py", "/srv/digits/../other/train.py"),
        ("/srv/digits2/train.py", "/srv/digits2/train.py"),
        ("/data/train", "/data/train"),
    ],
)
def test_files_of_the_runs_folder_are_found_from_the_folder_in_the_image(given: str, expected: str) -> None:
    assert command(replace(JOB, command=("python3", given)))[1] == expected


@pytest.mark.parametrize(
    ("config", "there"),
    [("/srv/digits/config.ini", "config.ini"), ("/srv/digits/conf/a.ini", "conf/a.ini"), ("/srv/config.ini", "../config.ini")],
)
def test_a_script_that_opens_config_ini_by_its_name_finds_the_runs_own(config: str, there: str) -> None:
    mounts = container(replace(JOB, environment={"JPO_CONFIG": config}))["volumeMounts"]
    (own,) = [mount for mount in mounts if mount.get("subPath") == "config.ini"]
    assert own["mountPath"] == os.path.normpath(f"/workspace/{there}")
    assert own["readOnly"] is True
    assert container()["workingDir"] == "/workspace"
    assert "workingDir" not in container(JOB, changed(workdir=None))


def test_the_taint_of_gpu_nodes_is_tolerated_where_gpus_are_asked_for() -> None:
    assert "tolerations" not in spec_of()
    made = spec_of(replace(JOB, needs=Needs(gpus=1)), changed(tolerations=("dedicated=ml",)))
    equal = {"key": "dedicated", "operator": "Equal", "value": "ml"}
    assert made["tolerations"] == [equal, {"key": "nvidia.com/gpu", "operator": "Exists"}]
