"""SLURM's states and reasons as a JobStatus.

Source: squeue(1) "JOB STATE CODES", sacct(1), SLURM 22.05; a state that is not known yet is taken for one that goes on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from jpo.plugins.launch.engines.slurm.run_files import BatchEnd, Began
from jpo.plugins.launch.exits import BEYOND_ARE_SIGNALS, in_words
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.records import RunStatus

WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
OF_THE_COMMAND = {"COMPLETED": RunStatus.SUCCEEDED, "FAILED": RunStatus.FAILED, "OUT_OF_MEMORY": RunStatus.OOM_KILLED}
"""States in which the exit code is that of the command; in others it is 0 and says nothing."""
FROM_OUTSIDE = ("TIMEOUT", "DEADLINE", "CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "REVOKED")
ENDED = OF_THE_COMMAND | dict.fromkeys(FROM_OUTSIDE, RunStatus.STOPPED)
"""How a run ended. A node that was lost says nothing against the configuration: ended from outside, before it was done."""
ENDED_BY = {
    "longest_seconds": "ran longer than it may (timeout)",
    "limit_of_slurm": "the partition's time limit",
    "jpo": "cancelled",
}
"""Reasons that batch.sh knows, and SLURM does not."""
NO_FOLDER, NOT_TWICE = 73, 75
"""Exit codes of batch.sh where the node cannot write the run's folder, and where the run has begun before."""
OF_THE_EXIT = ("NonZeroExitCode", "RaisedSignal")
"""Beginnings of SLURM's reasons that say less than the exit code does."""
SUFFIXES = {"K": 2**-20, "M": 2**-10, "G": 1.0, "T": 2**10}
"""Of amounts of memory, in GiB."""


def status_from_scontrol(job: Mapping[str, str]) -> JobStatus:
    """How a job goes, by the pairs of `scontrol show job` with times in unix seconds."""
    status = _status(job.get("JobState", ""), job.get("ExitCode", ""), _given(job.get("Reason", "")).replace("_", " "))
    if status.state is JobState.WAITING:
        return replace(status, starts_at=_time(job.get("StartTime", "")))
    return _placed(status, job, "StartTime", "EndTime")


def status_from_sacct(rows: Iterable[Mapping[str, str]]) -> JobStatus | None:
    """The same by the rows of sacct: the job's first, then those of its steps; None: the accounting knows no such job."""
    rows = list(rows)
    if not rows:
        return None
    job = rows[0]
    memory = max((found for row in rows if (found := gib(row.get("MaxRSS", ""))) is not None), default=None)
    status = _status(job.get("State", ""), job.get("ExitCode", ""), "")
    return replace(_placed(status, job, "Start", "End"), memory_gib=memory)


def status_from_end(end: BatchEnd) -> JobStatus:
    """How a job ended that SLURM has forgotten: as batch.sh wrote it down."""
    ended_as = RunStatus.SUCCEEDED if end.exit_code == 0 else RunStatus.FAILED
    return with_end(JobStatus(JobState.ENDED, None, ended_as), None, end)


def with_end(status: JobStatus, began: Began | None, end: BatchEnd | None) -> JobStatus:
    """What SLURM says of a job, and what batch.sh saw of it, which is more exact.

    A command that ended by itself and well has succeeded, also where a controller that was restarted has lost it. A job that has
    begun and waits again was requeued by somebody: its run is over, since none starts twice. One that left no word, and no exit
    code of its command, was killed from outside; one that never made the folder `began` never began.
    """
    if began and status.state is JobState.WAITING:
        status = JobStatus(JobState.ENDED, ended_as=RunStatus.STOPPED, reason="requeued; a run is not started twice")
    status = replace(
        status,
        place=status.place or (began.node if began else "") or (end.node if end else ""),
        started_at=(began and began.at) or (end and end.began_at) or status.started_at,
    )
    if end is None and not began and status.ended_as is RunStatus.FAILED:
        never = f"node {status.place} cannot write its folder" if status.exit_code == NO_FOLDER else "it never began"
        return replace(status, ended_as=RunStatus.STOPPED, exit_code=None, started_at=None, reason=f"{status.reason}; {never}")
    if end is None and status.ended_as is RunStatus.FAILED and status.exit_code in (None, NOT_TWICE):
        return replace(status, ended_as=RunStatus.STOPPED, exit_code=None)
    if end is None or not status.over:
        return status
    status = replace(
        status,
        exit_code=_exit_code(end.exit_code),
        reason=status.reason or (in_words(end.exit_code) if end.exit_code else ""),
        ended_at=end.ended_at or status.ended_at,
        memory_gib=status.memory_gib if end.memory_gib is None else end.memory_gib,
        cpu_seconds=end.cpu_seconds,
    )
    if end.ended_by in ENDED_BY:
        return replace(status, ended_as=RunStatus.STOPPED, reason=ENDED_BY[end.ended_by])
    if end.ended_by and status.ended_as is RunStatus.FAILED:
        return replace(status, ended_as=RunStatus.STOPPED)
    if not end.ended_by and end.exit_code == 0 and status.ended_as is RunStatus.STOPPED:
        return replace(status, ended_as=RunStatus.SUCCEEDED, reason="")
    return status


def gib(amount: str) -> float | None:
    """ "7724K" of sacct in GiB; None: not measured."""
    number, suffix = amount[:-1], amount[-1:]
    return float(number) * SUFFIXES[suffix] if suffix in SUFFIXES and number.replace(".", "", 1).isdigit() else None


def _status(state: str, code_and_signal: str, reason: str) -> JobStatus:
    word = state.split()[0].rstrip("+") if state.split() else ""  # "CANCELLED by 1000"
    if word in WAITING:
        return JobStatus(JobState.WAITING, reason=reason)
    if word not in ENDED:
        return JobStatus(JobState.RUNNING, reason="" if word == "RUNNING" else word.lower())
    code, _, signal = code_and_signal.partition(":")
    killed = int(signal) if signal.isdigit() and signal != "0" else 0
    exit_code = _exit_code(int(code)) if code.isdigit() and not killed and word in OF_THE_COMMAND else None
    of_command = word == "FAILED" and (killed or (code.isdigit() and int(code)))
    exit_ = in_words(-killed or int(code)) if of_command else ""
    why = "" if reason.startswith(OF_THE_EXIT) else reason
    said = ", ".join(filter(None, (word if word not in OF_THE_COMMAND else "", why, exit_)))
    return JobStatus(JobState.ENDED, exit_code, ENDED[word], said)


def _placed(status: JobStatus, job: Mapping[str, str], start: str, end: str) -> JobStatus:
    """A job that has begun or ended, with its node and the times that stand under these names."""
    node, ended_at = _given(job.get("NodeList", "")), _time(job.get(end, "")) if status.over else None
    return replace(status, place=node, started_at=_time(job.get(start, "")) if node else None, ended_at=ended_at)


def _exit_code(code: int | None) -> int | None:
    return None if code is None or code > BEYOND_ARE_SIGNALS else code


def _given(text: str) -> str:
    return "" if text in ("(null)", "None", "None assigned", "N/A", "Unknown") else text


def _time(text: str) -> float | None:
    return float(text) if text.isdigit() and int(text) > 0 else None
