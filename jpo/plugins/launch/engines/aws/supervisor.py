"""Supervisor of a run on its instance: starts the command, ends it in time, and brings output, run log and end to S3.

It is copied there by user data, with processes.py of the local engine beside it, and imports nothing else of JPO: standard
library, Python 3.7 or newer. Files go up with the AWS CLI of
the image, or with boto3 where its Python has it, by the rights of the instance profile. The end's record goes last: whoever finds
it finds the rest. What goes wrong is said on the console of the instance, in lines that begin with "jpo:".
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

if __name__ == "__main__":  # on the instance
    from processes import adopt_orphans, below, memory_bytes, oom_kills, send  # type: ignore[import-not-found]
else:
    from jpo.plugins.launch.engines.local.processes import adopt_orphans, below, memory_bytes, oom_kills, send

UPLOAD_SECONDS = 60.0
LOOK_SECONDS = 5.0
"""How often the notice of a spot instance is looked for; it comes two minutes before the end."""
MEASURE_SECONDS = 0.5
GRACE_SECONDS = 10.0
"""Between asking the command to end and ending it."""
LARGEST_BYTES = 16 * 2**20
"""Of a file that goes up: of longer output, this much of its end."""
METADATA = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://169.254.169.254").rstrip("/") + "/latest"
UPLOAD_TRIES = 3
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""Exit of a process that the kernel ended, and of a shell whose last one was."""
BYTES_PER_GIB = 2.0**30


class Supervisor:
    """One run, in a folder with its job.json, into which output.log, runs/ and end.json come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job = json.loads((folder / "job.json").read_text())
        self.asked_to_end = False
        self.uploaded = {}  # type: dict[str, tuple[int, int]]
        self.memory_bytes = 0

    def supervise(self) -> None:
        """Run the command to its end, whatever that is, and put it on record."""
        signal.signal(signal.SIGTERM, self._end)  # the instance is being terminated
        adopt_orphans()
        (self.folder / "runs").mkdir(mode=0o700, exist_ok=True)
        record = {"exit_code": None, "ended_as": "failed", "reason": "", "started_at": time.time()}
        try:
            record.update(self._run())
        except (OSError, ValueError) as error:
            record["reason"] = f"cannot be started: {error}"
            record["exit_code"] = 127
        send(below(os.getpid()), signal.SIGKILL)  # what it left behind
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        most = max(self.memory_bytes, used.ru_maxrss * 1024)  # between two looks the largest process counts
        record.update(ended_at=time.time(), cpu_seconds=used.ru_utime + used.ru_stime, memory_gib=most / BYTES_PER_GIB)
        self._upload_what_changed(UPLOAD_TRIES)
        (self.folder / "end.json").write_text(json.dumps(record))
        self._upload(self.folder / "end.json", "end.json", UPLOAD_TRIES)

    def _end(self, _number: int, _frame: object) -> None:
        self.asked_to_end = True

    def _run(self) -> dict:  # type: ignore[type-arg]
        if self.job.get("config"):
            shutil.copyfile(str(self.folder / "config.ini"), self.job["config"])  # the image's own keeps its rights
        environment = {"HOME": "/root", **os.environ, **self.job["environment"]}
        environment.update(JPO_RUN_ID=self.job["run_id"], JPO_RUNLOG_DIR=str(self.folder / "runs"))
        killed_before = oom_kills()
        with os.fdopen(os.open(self.folder / "output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
            process = subprocess.Popen(  # noqa: S603 - the program that is to run here; without a shell
                self.job["command"],
                cwd=self.job["folder"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            why = self._until_over(process)
            if why:
                _signalled(process.pid, signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE_SECONDS)
                _signalled(process.pid, signal.SIGKILL)
                process.wait()
        code = process.returncode
        if why:
            return {"exit_code": code if code >= 0 else None, "ended_as": "stopped", "reason": why}
        if code in KILLED and (oom_kills() or 0) > (killed_before or 0):
            return {"ended_as": "oom_killed", "reason": "the system had no memory left and killed it"}
        if code < 0:
            return {"reason": f"ended by {_name(-code)}"}
        return {"exit_code": code, "ended_as": "failed" if code else "succeeded"}

    def _until_over(self, process: subprocess.Popen) -> str:  # type: ignore[type-arg]
        """Wait for the command; why it must be ended, or nothing where it ended by itself."""
        begun, longest = time.monotonic(), self.job["longest_seconds"]
        next_upload, next_look, next_measure = begun + UPLOAD_SECONDS, begun, begun
        while True:
            try:
                process.wait(0.2)
                return ""
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if self.asked_to_end:
                return "its instance was terminated"
            if longest is not None and now - begun > longest:
                return f"longer than {longest:g} s"
            if now >= next_measure:
                next_measure = now + MEASURE_SECONDS
                self.memory_bytes = max(self.memory_bytes, memory_bytes(below(os.getpid())))
            if now >= next_look:
                next_look = now + LOOK_SECONDS
                if interrupted():
                    return "Server.SpotInstanceTermination: AWS takes its spot instance back"
            if now >= next_upload:
                self._upload_what_changed()
                next_upload = time.monotonic() + UPLOAD_SECONDS

    def _upload_what_changed(self, tries: int = 1) -> None:
        logs = sorted(path for path in (self.folder / "runs").iterdir() if path.is_file() and path.name[0] != ".")
        for path in [self.folder / "output.log", *logs]:
            if not path.exists():
                continue
            stat = path.stat()
            state, name = (stat.st_size, stat.st_mtime_ns), str(path.relative_to(self.folder))
            if self.uploaded.get(name) != state and self._upload(cut(path, stat.st_size), name, tries):
                self.uploaded[name] = state

    def _upload(self, file: Path, name: str, tries: int) -> bool:
        for number in range(tries):
            trouble = uploaded(file, self.job["bucket"], self.job["key"] + "/" + name, self.job["region"])
            if not trouble:
                return True
            os.write(1, f"jpo: cannot upload {name}: {trouble}\n".encode())
            time.sleep(number)
        return False


def _signalled(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def cut(path: Path, size: int) -> Path:
    """The file, or a copy of its end where it is large."""
    if size <= LARGEST_BYTES:
        return path
    copy = path.parent / ".cut"
    with path.open("rb") as whole, copy.open("wb") as end:
        whole.seek(size - LARGEST_BYTES)
        end.write(f"[its first {size - LARGEST_BYTES} bytes were left out]\n".encode())
        shutil.copyfileobj(whole, end)
    return copy


def uploaded(file: Path, bucket: str, key: str, region: str) -> str:
    """Bring a file to S3; what went wrong, or nothing."""
    if shutil.which("aws"):
        target = f"s3://{bucket}/{key}"
        command = ["aws", "s3", "cp", "--only-show-errors", "--region", region, str(file), target]
        try:
            code, said = answered(command, UPLOAD_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)[:200]
        return "" if code == 0 else said.decode("utf-8", "replace").strip().replace("\n", " ")[:200] or "aws fails"
    try:
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        return "the image has neither the AWS CLI nor boto3"
    try:
        boto3.client("s3", region_name=region).upload_file(str(file), bucket, key)
    except (Boto3Error, BotoCoreError, ClientError, OSError) as error:
        return str(error).replace("\n", " ")[:200]
    return ""


def answered(command: list, seconds: float) -> tuple:  # type: ignore[type-arg]
    """Exit code and output of a program, which is ended with all that it started where it takes longer."""
    process = subprocess.Popen(  # noqa: S603 - the AWS CLI; without a shell
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    finally:
        _signalled(process.pid, signal.SIGKILL)
        process.stdout.close()  # type: ignore[union-attr] # it is a pipe
        process.wait()
    return process.returncode, said


def interrupted() -> bool:
    """Whether AWS has said that it takes this spot instance back."""
    try:
        token = asked("/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, method="PUT")
        asked("/meta-data/spot/instance-action", {"X-aws-ec2-metadata-token": token})
    except (OSError, ValueError):  # 404: nothing of the kind
        return False
    return True


def asked(path: str, headers: dict, method: str = "GET") -> str:  # type: ignore[type-arg]
    """What the metadata service of the instance answers."""
    request = urllib.request.Request(METADATA + path, headers=headers, method=method)  # noqa: S310 - of AWS' own link
    with urllib.request.urlopen(request, timeout=1) as reply:  # noqa: S310
        return str(reply.read(1000), "ascii", "replace")


if __name__ == "__main__":
    Supervisor(Path(sys.argv[1])).supervise()
