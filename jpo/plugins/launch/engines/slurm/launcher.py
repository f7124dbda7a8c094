"""SlurmLauncher: runs as jobs of SLURM, each found again by its run id and its folder."""

import os
import pwd
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.slurm import nodes as cluster
from jpo.plugins.launch.engines.slurm import run_files
from jpo.plugins.launch.engines.slurm.programs import Programs, away, pairs, refusal
from jpo.plugins.launch.engines.slurm.request import SECONDS_PER_MINUTE, changes, options, output, resources, time_limit_minutes
from jpo.plugins.launch.engines.slurm.run_files import Submission
from jpo.plugins.launch.engines.slurm.settings import SlurmTable, arguments
from jpo.plugins.launch.engines.slurm.states import NOT_TWICE, status_from_end, status_from_sacct, status_from_scontrol, with_end
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.plugins.launch.ledger import folder_of

SCRIPT = Path(__file__).with_name("batch.sh")
GRACE_SECONDS = 30.0
"""From SIGTERM to SIGKILL, as SLURM's KillWait: time for a checkpoint and the last line of a run log."""
ALIVE_SECONDS = 60.0
"""After its last sign a job that SLURM does not know is given up; a controller that lost its state ends such jobs by itself."""
UNKNOWN_JOB = re.compile(r"invalid job id|invalid job array id", re.IGNORECASE)
OVER_ALREADY = re.compile(r"invalid job id|already complet", re.IGNORECASE)
NODES_AWAY = re.compile(r"not available now|unavailable|down|drain|reserved|inactive|busy", re.IGNORECASE)
"""What `sbatch --test-only` says of a job that would wait for something that may come back."""
NODES_AWAY_OR_UNKNOWN = re.compile(rf"{NODES_AWAY.pattern}|node configuration is not available", re.IGNORECASE)
"""The same while a node has not registered yet, as after a restart of the controller: SLURM does not know what it has."""
STARTS_AT = re.compile(r"to start at (\d+)")
SACCT_FIELDS = "JobName,State,ExitCode,Start,End,NodeList,MaxRSS"
COMPLETION_FIELDS = "JobName,State,End,NodeList"


class SlurmLauncher:
    """Launcher of jobs on a SLURM cluster.

    The engine's id of a run is "JOB:RUN_ID", e.g. "17:night-1" or in an array "17_3:night-1".

    Args:
        ledger: absolute, on a file system that all nodes share.
        environment: of who submits; what of it a job gets, `Programs` says.
        clock: unix seconds.
        grace_seconds: from SIGTERM to SIGKILL for a run beyond its time.
    """

    name = "slurm"

    def __init__(
        self,
        table: SlurmTable,
        ledger: Path,
        environment: Mapping[str, str],
        clock: Callable[[], float],
        *,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._table, self._arguments, self._slurm = table, arguments(table), Programs(environment)
        self._ledger, self._clock, self._grace_seconds = ledger, clock, grace_seconds

    def room(self, needs: Needs) -> Room:
        nodes, partitions = self._nodes(), self._partitions()
        spelled = cluster.as_spelled(needs, nodes)
        answer = self._slurm.ask("sbatch", "--test-only", *self._arguments, *resources(spelled), str(SCRIPT))
        start = STARTS_AT.search(answer.text + answer.complaint)
        wait = max(0.0, float(start[1]) - self._clock()) if start else None
        room = cluster.room_of(spelled, nodes, partitions)
        notes = (room.note, "" if start else answer.complaint, *map(str, self._quotas()))
        return replace(room, wait_seconds=wait, note="; ".join(filter(None, notes)))

    def refuse(self, job: LaunchJob) -> None:
        nodes, partitions = self._nodes(), self._partitions()
        needs = cluster.as_spelled(job.needs, nodes)
        lacking = cluster.shortcoming(needs, nodes, partitions)
        if not lacking and (beyond := cluster.exceeded(needs, self._quotas())):
            lacking = f"asks for more than its quota: {beyond}", "ask for at most that, or another account or qos"
        minutes = time_limit_minutes(job, self._grace_seconds) or 0
        longest = max((each.longest_seconds or float("inf") for each in partitions), default=float("inf"))
        if not lacking and minutes * SECONDS_PER_MINUTE > longest:
            where = f"partition {self._table.partition or 'by default'}"
            finding = f"may run {minutes} minutes, and {where} gives {longest / 60:g}"
            lacking = finding, "set timeout in [launch], or another partition"
        if lacking:
            raise LaunchError(f"run {job.run_id}", *lacking, code="JPO-E755")
        asked = options(replace(job, needs=needs), self._grace_seconds)
        answer = self._slurm.ask("sbatch", "--test-only", *self._arguments, *asked, str(SCRIPT))
        away_now = NODES_AWAY if all(node.up for node in nodes) else NODES_AWAY_OR_UNKNOWN
        if answer.complaint and not away_now.search(answer.complaint):
            raise refusal("sbatch", answer.complaint)

    def submit(self, job: LaunchJob, folder: Path) -> str:
        number = self._number(folder)
        if number is None:
            run_files.put(job, folder, Submission(job.run_id, str(folder)), self._grace_seconds)
            asked = options(self._as_spelled(job), self._grace_seconds)
            number = self._sbatch(job.run_id, [*asked, output(folder), "--open-mode=append"], [folder])
        return f"{number}:{job.run_id}"

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        number = self._number(folder)
        return None if number is None else f"{number}:{job.run_id}"

    def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
        """As StartsTogether says: one array, each of its tasks with its own folder, end and account."""
        first = jobs[0]
        if len({(job.needs, job.folder, job.longest_seconds) for job in jobs}) > 1:
            finding = "its runs differ in resources, folder or time limit"
            raise LaunchError(f"array {name}", finding, "start them one by one", code="JPO-E762")
        numbers = [self._number(folder) for folder in folders]
        array = next((number.partition("_")[0] for number in numbers if number and "_" in number), None)
        if array is None:
            for task, (job, folder) in enumerate(zip(jobs, folders, strict=True)):
                run_files.put(job, folder, Submission(name, str(folders[0]), str(task)), self._grace_seconds)
            asked = [*options(self._as_spelled(first), self._grace_seconds), "--output=/dev/null", f"--array=0-{len(jobs) - 1}"]
            array = self._sbatch(name, asked, folders)
        return [f"{array}_{index}:{job.run_id}" for index, job in enumerate(jobs)]

    def status(self, engine_id: str) -> JobStatus:
        number, _, run_id = engine_id.partition(":")
        folder = folder_of(self._ledger, run_id)
        began, end = run_files.began(folder), run_files.ended(folder)
        if began and began.number != number:
            known = self._slurm.ask("scontrol", "--oneliner", "show", "job", number)
            if f" Comment={folder} " not in known.text:  # else a second job of it, by an answer of sbatch that was lost
                return JobStatus(JobState.UNKNOWN, reason=f"run {run_id} is job {began.number}, not {number}")
            number = began.number
        if not run_files.JOB_NUMBER.fullmatch(number):
            return JobStatus(JobState.UNKNOWN, reason=f"{number:.40} is not a SLURM job")
        status = self._as_slurm_says(number, _name(folder, run_id), enough=end is not None)
        had_begun = began is not None
        began, end = run_files.began(folder) or began, run_files.ended(folder) or end  # it may have ended meanwhile
        if began and not had_begun and status is not None and status.state is JobState.WAITING:  # or begun: nobody requeued it
            return JobStatus(JobState.RUNNING, place=began.node, started_at=began.at)
        lost = status is None or status.exit_code == NOT_TWICE  # a restarted controller may start a job again that goes on
        if lost and not end and began and began.alive_at and self._clock() - began.alive_at < ALIVE_SECONDS:
            reason = "SLURM no longer knows it, but it is still running"
            return JobStatus(JobState.RUNNING, reason=reason, place=began.node, started_at=began.at)
        if status is not None:
            return with_end(status, began, end)
        if end is not None:
            return status_from_end(end)
        since = f"; it began on {began.node}, and what ended it left no word" if began else ", and it never began"
        return JobStatus(JobState.UNKNOWN, reason=f"SLURM has no job {number} of this run (any more){since}")

    def cancel(self, engine_id: str) -> None:
        number, _, run_id = engine_id.partition(":")
        folder = folder_of(self._ledger, run_id)
        began = run_files.began(folder)
        own_name = f"--name={_name(folder, run_id)}"  # a controller that lost its state gives numbers again
        for each in sorted({number, began.number if began else number}):
            answer = self._slurm.ask("scancel", own_name, each)
            if answer.complaint and not OVER_ALREADY.search(answer.complaint):
                raise LaunchError("scancel", answer.complaint, "cancel it by hand", code="JPO-E753")
        if began and not run_files.ended(folder):
            run_files.ask_to_end(folder)  # a controller that lost the job does not reach it

    def resize(self, engine_id: str, needs: Needs) -> None:
        """Ask SLURM for other resources for a job: of one that waits it changes them, of one that runs 22.05 changes none."""
        number, _, run_id = engine_id.partition(":")
        if self.status(engine_id).over:
            raise refusal("scontrol", f"job {number} of run {run_id} is over")
        spelled = cluster.as_spelled(needs, self._nodes())
        self._slurm.answer("scontrol", "update", f"JobId={number}", *changes(spelled))

    def collect(self, engine_id: str, folder: Path) -> None:
        """Nothing: the job writes where JPO reads, on the file system that both share."""

    def _sbatch(self, name: str, asked: Sequence[str], folders: Sequence[Path]) -> str:
        """The number of the new job. Its comment is the (first) folder, by which it is told from others of the same name."""
        marked = [f"--job-name={name}", f"--comment={folders[0]}", "--parsable"]
        text = self._slurm.answer("sbatch", *self._arguments, *asked, *marked, str(SCRIPT), *map(str, folders))
        number = text.strip().partition(";")[0]
        if not number.isdigit():
            raise away("sbatch", f"answers {text.strip()!r:.80} where a job's number is expected")
        return number

    def _number(self, folder: Path) -> str | None:
        """The job that was submitted for this folder before; None: none. What has begun says so itself."""
        if known := run_files.began(folder):
            return known.number
        if (prepared := run_files.submission(folder)) is None:
            return None
        asked = ("--noheader", "--states=all", f"--user={os.getuid()}", f"--name={prepared.name}", "--format=%F|%k")
        found = [line.strip().partition("|") for line in self._slurm.answer("squeue", *asked).splitlines()]
        number = min((number for number, _, comment in found if comment == prepared.folder), key=int, default=None)
        return f"{number}_{prepared.task}" if number and prepared.task else number

    def _as_slurm_says(self, number: str, name: str, *, enough: bool) -> JobStatus | None:
        """A job as the controller or the accounting has it; None: they have no such job (any more).

        Where its end is known, that is `enough`: an accounting that is down need not be waited for.
        """
        answer = self._slurm.ask("scontrol", "--oneliner", "show", "job", number)
        if not answer.complaint:
            job = pairs(answer.text)
            return status_from_scontrol(job) if job.get("JobName") == name else None
        if not UNKNOWN_JOB.search(answer.complaint):
            raise away("scontrol", answer.complaint)
        try:
            status = status_from_sacct(self._accounted(number, name, SACCT_FIELDS))
            return status or status_from_sacct(self._accounted(number, name, COMPLETION_FIELDS, "--completion"))
        except LaunchError:
            if enough:
                return None
            raise

    def _accounted(self, number: str, name: str, fields: str, *source: str) -> list[dict[str, str]]:
        """Rows of the accounting, or of the log of completed jobs; none where the cluster keeps none, or lets nobody see it."""
        asked = ("--noheader", "--parsable2", f"--jobs={number}", f"--format={fields}")
        answer = self._slurm.ask("sacct", *source, *asked)
        rows = [dict(zip(fields.split(","), line.split("|"), strict=False)) for line in answer.text.splitlines()]
        return rows if not answer.complaint and rows and rows[0].get("JobName") == name else []

    def _nodes(self) -> list[cluster.Node]:
        return cluster.nodes_of(self._slurm.answer("scontrol", "--details", "--oneliner", "show", "node"))

    def _partitions(self) -> list[cluster.Partition]:
        partitions = cluster.partitions_of(self._slurm.answer("scontrol", "--oneliner", "show", "partition"))
        return cluster.chosen(partitions, self._table.partition)

    def _quotas(self) -> list[cluster.SlurmQuota]:
        """Limits of the account and the QOS under which jobs run; none where no accounting is, it is down, or tells nobody.

        A machine may have no name for its user, and an answer fewer fields than were asked for (KeyError).
        """

        def shown(fields: Sequence[str], what: str, *where: str) -> list[dict[str, str]]:
            asked = ("--noheader", "--parsable2", "show", what, "where", *where, f"format={','.join(fields)}")
            return cluster.rows(self._slurm.ask("sacctmgr", *asked).text, fields)

        account = () if self._table.account is None else (f"account={self._table.account}",)
        with suppress(LaunchError, KeyError):
            user = f"user={pwd.getpwuid(os.getuid()).pw_name}"
            for row in shown(cluster.ASSOCIATION_FIELDS, "association", user, *account)[:1]:
                name = self._table.qos or row["DefaultQOS"] or "normal"
                quotas = cluster.quotas_of(f"account {row['Account']}", row)
                for each in shown(cluster.QOS_FIELDS, "qos", f"name={name}"):
                    quotas += cluster.quotas_of(f"QOS {name}", each)
                return quotas
        return []

    def _as_spelled(self, job: LaunchJob) -> LaunchJob:
        return replace(job, needs=cluster.as_spelled(job.needs, self._nodes())) if job.needs.gpu_type else job


def launcher(table: SlurmTable, here: Surroundings) -> SlurmLauncher:
    return SlurmLauncher(table, here.ledger, here.environ, here.clock)


def _name(folder: Path, run_id: str) -> str:
    prepared = run_files.submission(folder)
    return prepared.name if prepared else run_id
