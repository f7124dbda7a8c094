"""Requests to EC2: one instance for one run, what it is told at its start, and where its files come home.

User data: cloud-init writes four files of fixed names and runs three fixed commands. The job's command, environment and
config.ini travel as data in files, never as text of a shell. There are no credentials in it: whoever may describe the instance
can read it.
"""

import gzip
import hashlib
import json
import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.attempts import Tried
from jpo.plugins.launch.engines.aws.offers import Attempt
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.engines.local import processes
from jpo.plugins.launch.job import LaunchJob

OF_JOB, OF_PLACE, LIFE, REFUSED = "jpo:job", "jpo:files", "jpo:life-seconds", "jpo:refused"
"""Tags of instances, next to jpo:run-id."""
LONGEST_TAG = 256
ON_INSTANCE = PurePosixPath("/var/lib/jpo")
SUPERVISOR = Path(__file__).with_name("supervisor.py")
PROCESSES = Path(processes.__file__)
"""What it imports: how processes are found, measured and ended, as on this machine."""
GRACE_SECONDS = 900.0
"""From the end of a run's time to the end of its instance's: starting it, and bringing its files home."""
LONGEST_SECONDS = 7 * 86400.0
"""Life of an instance whose run has no limit: JPO may be gone by then, and nobody else ends it."""
MOST_BYTES = 16384
"""Of user data, by EC2."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where the files of a run come home: a prefix in a bucket, by which the run is known."""

    region: str
    bucket: str
    key: str

    @property
    def place(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    @property
    def run_id(self) -> str:
        return self.key.rpartition("/")[2].rpartition("-")[0]


def home_of(job: LaunchJob, place: AwsTable) -> Home:
    """Where the run's files go: told from runs of the same id in other projects by what makes it this job."""
    facts = (job.run_id, sorted(job.identity.labels.items()), job.command, str(job.folder))
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:10]
    name, _, prefix = str(place.bucket).partition("/")
    return Home(str(place.region), name, "/".join(word for word in (prefix.strip("/"), f"{job.run_id}-{digest}") if word))


def request_of(
    job: LaunchJob, config: bytes, attempt: Attempt, tried: Tried, place: AwsTable, image: Mapping[str, Any]
) -> dict[str, Any]:
    """One instance, as RunInstances wants it, from an image as DescribeImages has it; the same for the same attempt of a job."""
    home = home_of(job, place)
    tags = {"Name": f"jpo {job.run_id}", "jpo:run-id": job.run_id, OF_JOB: home.key, OF_PLACE: home.place}
    tags |= {LIFE: f"{life_seconds(job.longest_seconds):.0f}"}
    if tried.refused:
        tags[REFUSED] = ", ".join(tried.refused)[:LONGEST_TAG]
    tagged = [{"Key": name, "Value": value} for name, value in tags.items()]
    kinds = ("instance", "volume", *(("spot-instances-request",) if attempt.spot else ()))
    disks = {disk["DeviceName"]: disk["Ebs"] for disk in image.get("BlockDeviceMappings", []) if "Ebs" in disk}
    sizes = {name: {key: ebs[key] for key in ("VolumeSize", "VolumeType") if key in ebs} for name, ebs in disks.items()}
    gone_with_it = {"Encrypted": True, "DeleteOnTermination": True}
    request: dict[str, Any] = {
        "ImageId": image["ImageId"],
        "InstanceType": attempt.instance_type,
        "MinCount": 1,
        "MaxCount": 1,
        "ClientToken": hashlib.sha256(f"{home.bucket}/{home.key}#{tried.number}".encode()).hexdigest(),
        "UserData": user_data(job, config, home, PurePosixPath(place.folder) if place.folder else None),
        "InstanceInitiatedShutdownBehavior": "terminate",
        "IamInstanceProfile": {"Name": place.instance_profile},
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1},
        "BlockDeviceMappings": [{"DeviceName": name, "Ebs": {**size, **gone_with_it}} for name, size in sizes.items()],
        "TagSpecifications": [{"ResourceType": kind, "Tags": tagged} for kind in kinds],
    }
    if attempt.spot:
        once = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        request["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": once}
    if attempt.where != attempt.region and not place.subnet:
        request["Placement"] = {"AvailabilityZone": attempt.where}
    if place.subnet:
        request["SubnetId"] = place.subnet
    if place.security_groups:
        request["SecurityGroupIds"] = list(place.security_groups)
    return request


def life_seconds(longest_seconds: float | None) -> float:
    """How long an instance lives at most, from its start."""
    return LONGEST_SECONDS if longest_seconds is None else longest_seconds + GRACE_SECONDS


def user_data(job: LaunchJob, config: bytes, home: Home, folder: PurePosixPath | None = None) -> bytes:
    """User data of a job, compressed, as EC2 takes it; the same for the same job, which is what idempotent means there.

    Args:
        config: its config.ini; empty: the image's own.
        folder: where the training code is on the image; None: where it is here.

    Raises LaunchError: JPO-E755, it is too large.
    """
    here, there = PurePosixPath(job.folder), folder or PurePosixPath(job.folder)
    file = moved(job.config_ini, here, there)
    facts = {
        "run_id": job.run_id,
        "command": [moved(word, here, there) for word in job.command],
        "folder": str(there),
        "config": file if config else None,
        "environment": {name: moved(value, here, there) for name, value in sorted(job.environment.items())},
        "longest_seconds": None if job.longest_seconds is None else float(job.longest_seconds),
        **asdict(home),
    }
    files = {ON_INSTANCE / "job.json": json.dumps(facts).encode()}
    files |= {ON_INSTANCE / file.name: file.read_bytes() for file in (SUPERVISOR, PROCESSES)}
    files |= {ON_INSTANCE / "config.ini": config} if config else {}
    minutes = math.ceil(life_seconds(job.longest_seconds) / 60)
    packed = {str(path): b64encode(gzip.compress(content, mtime=0)).decode() for path, content in files.items()}
    rest = {"encoding": "gz+b64", "permissions": "0600"}
    cloud_config = {
        "write_files": [{"path": path, **rest, "content": content} for path, content in packed.items()],
        "runcmd": [
            ["shutdown", "-P", f"+{minutes}"],  # whatever becomes of the rest, or of JPO
            ["python3", str(ON_INSTANCE / "supervisor.py"), str(ON_INSTANCE)],
            ["shutdown", "-P", "now"],
        ],
    }
    data = gzip.compress(f"#cloud-config\n{json.dumps(cloud_config)}\n".encode(), mtime=0)  # JSON is YAML
    if len(data) > MOST_BYTES:
        finding = f"its command, environment and config.ini take {len(data)} bytes as user data, and EC2 takes {MOST_BYTES}"
        raise LaunchError(f"run {job.run_id}", finding, "make config.ini or the environment smaller", code="JPO-E755")
    return data


def moved(word: str, here: PurePosixPath, there: PurePosixPath) -> str:
    """A word in which the path of a file below `here` is that of the same file below `there`: "--config=/srv/job/a.ini"."""
    option, sign, value = word.partition("=") if word.startswith("-") else ("", "", word)
    path = PurePosixPath(value)
    if not value.startswith("/") or ".." in path.parts or not path.is_relative_to(here):
        return word
    return f"{option}{sign}{there / path.relative_to(here)}"
