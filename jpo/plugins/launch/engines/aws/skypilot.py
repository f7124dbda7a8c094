"""Tasks of SkyPilot: the same run for fleets that it manages, with several nodes, other clouds, and recovery from interruption.

    sky jobs launch task.yaml

JPO writes the task and starts nothing: run log and output lie in the bucket, whence `jpo import` or `[csv_logs]` takes them.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from jpo.errors import LaunchError, quoted
from jpo.plugins.launch.credentials import refuse_credentials
from jpo.plugins.launch.engines.aws.request import home_of, life_seconds, moved
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import LaunchJob, Needs

MOUNTED = "/jpo-run"
IDLE_MINUTES = 5
"""After which SkyPilot takes an idle machine down."""
WITH_MEMORY = ("A100-80GB", "V100-32GB")
"""GPUs that SkyPilot tells apart by their memory."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def task(job: LaunchJob, place: AwsTable) -> dict[str, Any]:
    """The task of a job, as `sky jobs launch` takes it; command and arguments are quoted, never pieced together.

    Its folder goes along as the working directory, its run log into the bucket of [launch.aws], if that has one.

    Raises LaunchError: JPO-E755, it asks for GPUs without a type, which SkyPilot needs; JPO-E753, a variable's name is none.
    """
    odd = next((name for name in job.environment if not VARIABLE.fullmatch(name)), None)
    if odd is not None:
        finding = f"has a variable {quoted(odd)}, which SkyPilot does not take"
        raise LaunchError(f"run {job.run_id}", finding, "use letters, digits and _", code="JPO-E753")
    refuse_credentials(job, b"", "the task", "give it to the task with `sky jobs launch --secret`")
    there = f"{MOUNTED}/runs" if place.bucket else "runs"
    here, uploaded = PurePosixPath(job.folder), PurePosixPath(".")
    variables = {name: moved(value, here, uploaded) for name, value in job.environment.items()}
    variables |= {"JPO_RUN_ID": job.run_id, "JPO_RUNLOG_DIR": there}
    command = tuple(moved(word, here, uploaded) for word in job.command)
    if job.longest_seconds is not None:
        command = ("timeout", "--kill-after=10", f"{max(1, round(job.longest_seconds))}", *command)
    made: dict[str, Any] = {
        "name": "-".join(re.findall(r"[A-Za-z0-9]+", job.run_id)),
        "num_nodes": job.needs.nodes,
        "resources": _resources(job, place),
        "workdir": str(job.folder),
        "envs": dict(sorted(variables.items())),
        "setup": shlex.join(("mkdir", "-p", there)),
        "run": shlex.join(command),
    }
    if place.bucket:
        home = home_of(job, place)
        made["file_mounts"] = {MOUNTED: {"source": f"s3://{home.bucket}/{home.key}", "mode": "MOUNT"}}
    return made


def as_yaml(made: Mapping[str, Any]) -> str:
    """The text of a task; LaunchError JPO-E767 without PyYAML."""
    try:
        import yaml
    except ImportError as error:
        raise LaunchError("--skypilot", "PyYAML is not installed", 'pip install "jpo[aws]"', code="JPO-E767") from error
    text: str = yaml.safe_dump(dict(made), sort_keys=False, width=1000)  # escaped: raw, U+0085 would be read as a space
    return text


def _resources(job: LaunchJob, place: AwsTable) -> dict[str, Any]:
    """What one node has; SkyPilot takes the cheapest that has at least as much."""
    needs = job.needs
    wanted: dict[str, Any] = {
        "infra": f"aws/{place.region}" if place.region else "aws",
        "use_spot": place.spot,
        "autostop": {"idle_minutes": IDLE_MINUTES, "down": True},
        "labels": {"jpo-run-id": job.run_id, "jpo-life-seconds": f"{life_seconds(job.longest_seconds):.0f}"},
    }
    if needs.gpus:
        wanted["accelerators"] = {_accelerator(job, needs): needs.gpus // needs.nodes}
    if needs.cpus:
        wanted["cpus"] = f"{needs.cpus / needs.nodes:g}+"
    if needs.memory_gib:
        wanted["memory"] = f"{needs.memory_gib / needs.nodes:g}+"
    if isinstance(place.image, str) and place.image.startswith("ami-") and place.region:
        wanted["image_id"] = place.image
    return wanted


def _accelerator(job: LaunchJob, needs: Needs) -> str:
    """SkyPilot's name of a GPU: "a100-80gb" -> "A100-80GB", "a10g-24gb" -> "A10G"."""
    if needs.gpu_type is None:
        finding = f"asks for {needs.gpus} GPUs of no type, and SkyPilot needs one"
        raise LaunchError(f"run {job.run_id}", finding, 'write e.g. gpu_type = "a10g" in [prices]', code="JPO-E755")
    name = needs.gpu_type.strip().upper()
    return name if name in WITH_MEMORY else re.sub(r"-\d+GB$", "", name)
