"""User data: what an instance is told at its start. cloud-init writes three files and runs three fixed commands.

The job's command, environment and config.ini travel as data in files, never as text of a shell. There are no credentials in it:
whoever may describe the instance can read it.
"""

from __future__ import annotations

import gzip
import json
import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jpo.errors import LaunchError
from jpo.launch.job import LaunchJob

ON_INSTANCE = PurePosixPath("/var/lib/jpo")
SUPERVISOR = Path(__file__).with_name("supervisor.py")
GRACE_SECONDS = 900.0
"""From the end of a run's time to the end of its instance's: starting it, and bringing its files home."""
LONGEST_SECONDS = 7 * 86400.0
"""Life of an instance whose run has no limit: JPO may be gone by then, and nobody else ends it."""
MOST_BYTES = 16384
"""Of user data, by EC2."""
CONFIG = "JPO_CONFIG"


@dataclass(frozen=True, slots=True)
class Home:
    """Where the files of a run come home: a prefix in a bucket, by which the run is known."""

    region: str
    bucket: str
    key: str


def life_seconds(longest_seconds: float | None) -> float:
    """How long an instance lives at most, from its start."""
    return LONGEST_SECONDS if longest_seconds is None else longest_seconds + GRACE_SECONDS


def user_data(job: LaunchJob, config: bytes, home: Home, folder: PurePosixPath | None = None) -> bytes:
    """User data of a job, compressed, as EC2 takes it; the same for the same job, which is what idempotent means there.

    Args:
        config: its config.ini; empty: the image's own.
        folder: where the training code is on the image; None: where it is here.

    Raises:
        LaunchError: JPO-E755, it is too large.
    """
    here, there = PurePosixPath(job.folder), folder or PurePosixPath(job.folder)
    named = PurePosixPath(job.environment.get(CONFIG, str(here / "config.ini")))
    file = there / named.relative_to(here) if named.is_relative_to(here) else named
    facts = {
        "run_id": job.run_id,
        "command": list(job.command),
        "folder": str(there),
        "environment": dict(sorted({**job.environment, **({CONFIG: str(file)} if CONFIG in job.environment else {})}.items())),
        "longest_seconds": None if job.longest_seconds is None else float(job.longest_seconds),
        "region": home.region,
        "bucket": home.bucket,
        "key": home.key,
    }
    files = {ON_INSTANCE / "job.json": json.dumps(facts).encode(), ON_INSTANCE / "supervisor.py": SUPERVISOR.read_bytes()}
    files |= {file: config} if config else {}
    minutes = math.ceil(life_seconds(job.longest_seconds) / 60)
    told = {
        "write_files": [_file(path, content) for path, content in files.items()],
        "runcmd": [
            ["shutdown", "-P", f"+{minutes}"],  # whatever becomes of the rest, or of JPO
            ["python3", str(ON_INSTANCE / "supervisor.py"), str(ON_INSTANCE)],
            ["shutdown", "-P", "now"],
        ],
    }
    data = gzip.compress(f"#cloud-config\n{json.dumps(told)}\n".encode(), mtime=0)  # JSON is YAML
    if len(data) > MOST_BYTES:
        finding = f"its command, environment and config.ini take {len(data)} bytes as user data, and EC2 takes {MOST_BYTES}"
        raise LaunchError(f"run {job.run_id}", finding, "make config.ini or the environment smaller", code="JPO-E755")
    return data


def _file(path: PurePosixPath, content: bytes) -> Mapping[str, str]:
    mode = "0600" if path.is_relative_to(ON_INSTANCE) else "0644"
    packed = b64encode(gzip.compress(content, mtime=0)).decode()
    return {"path": str(path), "encoding": "gz+b64", "permissions": mode, "content": packed}
