r"""Files of a run that pass between JPO and batch.sh, in the folder `slurm` of the run's own.

    name            the job's name in SLURM, the run id or that of an array; the task in the array; the folder in its comment
    command         program and arguments, each ended by NUL
    environment     NAME=value, each ended by NUL
    limits          "LONGEST GRACE MOST": seconds after which the command is ended (0: never), from SIGTERM to SIGKILL, and bytes
                    that output.log has at most
    cancel          the command is to end, although SLURM has lost the job
    began/job       the job that runs it, where, and since when; whoever makes the folder `began` may run it
    began/alive     touched every 10 s and more often as long as the command runs
    memory_kib      highest resident memory so far
    end             how it ended

What stands in the last four comes from a node and is read with doubt.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files import whole
from jpo.files.reading import Refusal, contents
from jpo.plugins.launch.engines.local.output import MOST_BYTES
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.ledger import make_folder

FOLDER = "slurm"
LARGEST_BYTES = 4096
KIB_PER_GIB = 2**20
JOB_NUMBER = re.compile(r"\d{1,10}(_\d{1,10})?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Began:
    """That a job has begun with a run: SLURM's number of it ("17", in an array "17_3"), the node, unix seconds, and when its
    command was last seen to run, by the clock of the file system."""

    number: str
    node: str
    at: float | None
    alive_at: float | None = None


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """How the command of a run ended, as batch.sh saw it.

    Attributes:
        ended_by: "longest_seconds", "limit_of_slurm", "jpo" (cancelled), "slurm": why it got SIGTERM; empty: it did not.
        memory_gib, cpu_seconds: None: not measured, as on several nodes.
    """

    number: str
    node: str
    began_at: float | None
    ended_at: float | None
    exit_code: int | None
    ended_by: str
    memory_gib: float | None
    cpu_seconds: float | None


@dataclass(frozen=True, slots=True)
class Submission:
    """By what a job is found in SLURM: its name, the folder that is its comment, and the task in an array, "" in none."""

    name: str
    folder: str
    task: str = ""


def put(job: LaunchJob, folder: Path, submission: Submission, grace_seconds: float) -> None:
    """Everything that batch.sh reads, and an output file that only the user may read."""
    ours = folder / FOLDER
    make_folder(ours)
    environment = {**job.environment, "JPO_RUN_ID": job.run_id, "JPO_RUNLOG_DIR": str(folder / "runs")}
    if bad := [variable for variable in environment if not VARIABLE.fullmatch(variable)]:
        raise LaunchError(f"run {job.run_id}", f"{bad[0]!r:.80} is not a variable name", "rename it", code="JPO-E753")
    longest = 0 if job.longest_seconds is None else math.ceil(job.longest_seconds)
    texts = {
        "name": f"{submission.name}\n{submission.task}\n{submission.folder}",
        "command": "".join(f"{word}\0" for word in job.command),
        "environment": "".join(f"{variable}={value}\0" for variable, value in environment.items()),
        "limits": f"{longest} {math.ceil(grace_seconds)} {MOST_BYTES}\n",
    }
    for file, text in texts.items():
        _put(ours / file, text)
    if not (folder / "output.log").exists():
        _put(folder / "output.log")


def ask_to_end(folder: Path) -> None:
    """Let batch.sh end the command at its next look, where scancel reaches nothing."""
    _put(folder / FOLDER / "cancel")


def submission(folder: Path) -> Submission | None:
    """How a job was prepared for SLURM; None: it never was."""
    file = folder / FOLDER / "name"
    if not file.exists():
        return None
    name, _, rest = contents(file, LARGEST_BYTES, _damaged(file)).decode("utf-8", "surrogateescape").partition("\n")
    task, _, first = rest.partition("\n")
    return Submission(name, first or str(folder), task)


def began(folder: Path) -> Began | None:
    """Which job runs or ran this run; None: none has begun, as far as can be seen from here."""
    said = _lines(folder / FOLDER / "began" / "job")
    if "job" not in said:
        return None
    alive = folder / FOLDER / "began" / "alive"
    return Began(said["job"], said.get("node", ""), _number(said, "began"), alive.stat().st_mtime if alive.exists() else None)


def ended(folder: Path) -> BatchEnd | None:
    """How it ended; None: it goes on, or whoever would have written it down was killed, or could not."""
    said = _lines(folder / FOLDER / "end")
    if "job" not in said:
        return None
    names = ("began", "ended", "exit_code", "memory_kib", "cpu_seconds")
    began_at, ended_at, code, kib, cpu_seconds = (_number(said, name) for name in names)
    exit_code, gib = None if code is None else int(code), None if kib is None else kib / KIB_PER_GIB
    ended_by = said.get("ended_by", "-").strip("-")
    return BatchEnd(said["job"], said.get("node", ""), began_at, ended_at, exit_code, ended_by, gib, cpu_seconds)


def _put(file: Path, text: str = "") -> None:
    with whole(file, mode=0o600, remedy="check disk and mode") as new:
        new.write(text.encode("utf-8", "surrogateescape"))


def _lines(file: Path) -> dict[str, str]:
    """Names and values; nothing where the file is not there, or names no job."""
    if not file.exists():
        return {}
    text = contents(file, LARGEST_BYTES, _damaged(file)).decode("utf-8", "replace")
    said = dict[str, str](pair for line in text.splitlines() if len(pair := line.split(" ", 1)) == 2)
    return said if JOB_NUMBER.fullmatch(said.get("job", "")) else {}


def _number(said: Mapping[str, str], field: str) -> float | None:
    return float(said[field]) if re.fullmatch(r"\d{1,15}(\.\d{1,12})?", said.get(field, "")) else None


def _damaged(file: Path) -> Refusal:
    return partial(LaunchError, str(file), remedy="move it away", code="JPO-E752")
