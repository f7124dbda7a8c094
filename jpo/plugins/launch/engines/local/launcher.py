"""LocalLauncher: runs on this machine, each watched by a supervisor of its own."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex

import jpo
from jpo.errors import LaunchError
from jpo.inventory.machine import Machine, machine_here
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.local import cgroup, leases
from jpo.plugins.launch.engines.local.capacity import CPU, cpu_names, leased_cpus, leased_gpus, refuse_needs, room_of
from jpo.plugins.launch.engines.local.live import LiveProcesses
from jpo.plugins.launch.engines.local.processes import MARK, confine, kill_marked, marked, most_cpus, oom_kills, send_if_born
from jpo.plugins.launch.engines.local.state_file import STATE_FILE, Place, RunEnd, RunState, read_state, supervised, write_state
from jpo.plugins.launch.engines.local.supervisor import RENEWAL_SECONDS, STARTED, Order, end_of, packed
from jpo.plugins.launch.job import RUN_ID, JobState, JobStatus, LaunchJob, Needs, Room
from jpo.records import RunStatus

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
SILENT_SECONDS = 30 * RENEWAL_SECONDS
"""After which a supervisor that cannot be seen from here counts as gone."""
GRACE_SECONDS = 10.0
PAUSE_SECONDS = 0.05
READY_SECONDS = 20.0
"""Within which a supervisor has begun, on a machine that is busy."""
NOBODY = -1
"""In place of the pipe of a supervisor whose run goes on without the process that launched it."""
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jpo.plugins.launch.engines.local.supervisor import main; main()"


class LocalLauncher:
    """Launcher of this machine.

    Args:
        capacity: the machine as it is now; asked when it matters.
        environ: of the process that launches: jobs get it, with what JPO sets on top.
        detached: runs go on when this process ends; else their supervisors end them then.
        grace_seconds: between asking a run to end and ending it.
        leases_in: where GPUs and CPUs are leased; the same for all projects of a user.
    """

    name = "local"

    def __init__(
        self,
        ledger: Path,
        capacity: Callable[[], Machine],
        environ: Mapping[str, str],
        *,
        detached: bool = False,
        leases_in: Path | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._ledger, self._capacity, self._environ = ledger, capacity, environ
        self._detached, self._leases, self._grace = detached, leases_in or leases.usual_folder(), grace_seconds
        self._owned = dict[str, int]()  # this end of the pipe by which a supervisor sees that this process lives

    def room(self, needs: Needs) -> Room:
        return room_of(self._capacity(), needs, self._leases)

    def refuse(self, job: LaunchJob) -> None:
        refuse_needs(self._capacity(), job, self._leases)
        self._refuse_command(job)

    def submit(self, job: LaunchJob, folder: Path) -> str:
        until = time.monotonic() + READY_SECONDS
        while True:
            with supervised(folder) as lock:
                state = read_state(folder)
                if state is not None and (state.supervisor is not None or state.end):
                    return _id(job.run_id, state)
                if lock is not None:
                    state = RunState(token_hex(8), Place.here())
                    write_state(folder, state)
                    self._start(job, folder, state, lock)
                    return _id(job.run_id, state)
            if time.monotonic() > until:
                raise LaunchError(str(folder), "is being started by another process", "ask again", code="JPO-E754")
            time.sleep(PAUSE_SECONDS)  # somebody else is about to start it, or has just failed to

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        state = read_state(folder)
        return None if state is None or state.supervisor is None else _id(job.run_id, state)

    def status(self, engine_id: str) -> JobStatus:
        found = self._found(engine_id)
        if found is None:
            return JobStatus(JobState.UNKNOWN, reason="no run of this id was started on this machine")
        state, folder = found
        if state.end is None and state.place != Place.here():
            state = _elsewhere(state, folder)
        elif state.end is None:
            with supervised(folder) as lock:
                state = state if lock is None else self._last_word(folder, state)
        if state.end and (owned := self._owned.pop(engine_id, None)) is not None:
            os.close(owned)
        return _status(state)

    def cancel(self, engine_id: str) -> None:
        found = self._found(engine_id)
        if found is None or self.status(engine_id).over:
            return
        state, _ = found
        if state.place != Place.here():
            raise LaunchError(f"run {engine_id}", f"runs on {state.place.host}", "cancel it there", code="JPO-E754")
        if state.supervisor is not None:
            send_if_born(state.supervisor, state.born, signal.SIGTERM)

    def collect(self, engine_id: str, folder: Path) -> None:
        """Output and run log are in its folder already."""

    def resize(self, engine_id: str, needs: Needs) -> None:
        """Confine a run that goes on to fewer CPUs, whose leases its supervisor gives back, or let it have more again.

        Raises LaunchError: JPO-E753, it does not run here, or nothing else than CPUs is to change, which this machine reserves.
        """
        state, place = self._running_here(engine_id), f"run {engine_id}"
        pids, group = [pid for pid in marked(state.token) if pid != state.supervisor], cgroup.found(state.token)
        if needs.cpus is None or int(needs.cpus) == most_cpus(pids):
            finding = "on this machine only the CPUs of a run can change: it reserves no memory that others could have"
            raise LaunchError(place, finding, "ask for less in config.ini", code="JPO-E753")
        names = cpu_names()
        unheld = [int(name.removeprefix(CPU)) for name in (*leases.free(self._leases, names), *names)]
        confine(pids, max(1, int(needs.cpus)), unheld)
        if group is not None:
            with suppress(OSError):  # it has just ended
                cgroup.limit(group, Needs(cpus=needs.cpus))

    def live(self, engine_id: str) -> LiveProcesses:
        """Its processes. LaunchError JPO-E753: it does not run here."""
        return LiveProcesses(engine_id.rpartition("/")[0], partial(marked, self._running_here(engine_id).token), time.time)

    def _running_here(self, engine_id: str) -> RunState:
        found = self._found(engine_id)
        if found is None or self.status(engine_id).state is not JobState.RUNNING or found[0].place != Place.here():
            finding, remedy = "does not run on this machine", "only what runs can be followed or resized"
            raise LaunchError(f"run {engine_id}", finding, remedy, code="JPO-E753")
        return found[0]

    def _start(self, job: LaunchJob, folder: Path, state: RunState, lock: int) -> None:
        """Start the supervisor, hand it lock, leases and order, and wait until it has started the command.

        Raises LaunchError: JPO-E755, what was free is not any more; JPO-E753, the command cannot be started.
        """
        gpus = leased_gpus(self._capacity(), job, self._leases) if job.needs.gpus else {}
        cpus = leased_cpus(job.needs, self._leases)
        held = (*gpus.values(), *cpus.values())
        theirs, ours = os.pipe()
        environment = {**self._environ, **_given(job, folder, list(gpus)), MARK: state.token}
        numbers = tuple(int(name.removeprefix(CPU)) for name in cpus)
        limits = (job.longest_seconds, job.needs.memory_gib, self._grace)
        group = cgroup.made(state.token, job.needs)
        order = Order(job.command, folder, job.folder, environment, numbers, held, *limits, group)
        owner = NOBODY if self._detached else theirs
        root = Path(jpo.__file__).parents[1]
        process = subprocess.Popen(  # noqa: S603 - JPO itself
            [sys.executable, "-I", "-c", PROGRAM, str(root), str(owner)],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[lock, theirs, *held],
            start_new_session=True,
        )
        os.close(theirs)
        leases.give_back(held)
        answer = _answer(process, packed(order))
        if answer == STARTED and not self._detached:
            self._owned[_id(job.run_id, state)] = ours
        else:
            os.close(ours)
        if answer is None:
            finding = f"the process that is to watch it was not ready within {READY_SECONDS:g} s"
            raise LaunchError(f"run {job.run_id}", finding, "look at what this machine is doing", code="JPO-E754")
        if answer != STARTED:
            words = answer.decode("utf-8", "replace").strip().rpartition("\n")[2] or "it ended at once"
            raise LaunchError(f"run {job.run_id}", f"cannot be started: {words}", "correct the command", code="JPO-E753")

    def _found(self, engine_id: str) -> tuple[RunState, Path] | None:
        run_id, _, token = engine_id.rpartition("/")
        if not RUN_ID.fullmatch(run_id):
            return None
        folder = self._ledger / run_id
        state = read_state(folder) or read_state(folder)  # the first look may have met a change
        return (state, folder) if state is not None and state.token == token else None

    def _last_word(self, folder: Path, state: RunState) -> RunState:
        """What stands there while nobody supervises; where that is no end, what is left of the run is ended first."""
        last = read_state(folder) or state
        if last.end:
            return last
        group = cgroup.found(last.token)
        starved = last.oom_kills is not None and (oom_kills(group) or 0) > last.oom_kills
        end = None if last.exit is None else end_of(last.exit, last.oom_kills, group)
        all_gone = cgroup.ended(group) and kill_marked(last.token)
        words = "the process that watched it was killed" if last.supervisor is not None else "it was never begun"
        ended_as = RunStatus.OOM_KILLED if starved else RunStatus.STOPPED
        reason = f"lost: {words}{'' if all_gone else ', and something that it started does not end'}"
        seen_at = max((folder / STATE_FILE).stat().st_mtime, last.started_at or 0.0)  # files have a coarser clock
        last = replace(last, ended_at=seen_at if last.exit is None else last.ended_at, end=end or RunEnd(ended_as, reason))
        write_state(folder, last)
        return last

    def _refuse_command(self, job: LaunchJob) -> None:
        place, program = f"run {job.run_id}", job.command[0]
        if not os.path.isdir(job.folder):  # noqa: PTH112 - False also where it cannot be looked at
            raise LaunchError(place, f"{job.folder} is not a folder to start in", "check the path", code="JPO-E758")
        path = {**self._environ, **job.environment}.get("PATH")
        file = shutil.which(job.folder / program) if "/" in program else shutil.which(program, path=path)
        if file is None:
            there = "/" in program and os.path.isfile(job.folder / program)  # noqa: PTH113 - the same
            remedy = "make it executable (chmod +x), or start it by its interpreter" if there else "check its name and PATH"
            finding = f"{program:.200} {'is not executable' if there else 'is not a program that can be found'}"
            raise LaunchError(place, finding, remedy, code="JPO-E758")


def launcher(_table: None, here: Surroundings) -> LocalLauncher:
    return LocalLauncher(here.ledger, lambda: machine_here(here.environ), here.environ, detached=here.detached)


def _given(job: LaunchJob, folder: Path, gpus: Sequence[str]) -> dict[str, str]:
    """Variables that a job gets on top of the environment; its own win."""
    given = {"JPO_RUN_ID": job.run_id, "JPO_RUNLOG_DIR": str(folder / "runs"), "PYTHONUNBUFFERED": "1"}
    if job.needs.cpus is not None:
        given |= dict.fromkeys(THREADS, str(max(1, int(job.needs.cpus))))
    if gpus or "gpus" in job.parameters:
        given["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    return {**given, **job.environment}


def _answer(process: subprocess.Popen[bytes], order: bytes) -> bytes | None:
    """Send the order; what the supervisor says when it has started the command, or Python that could not; None: not in time."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, suppress(BrokenPipeError):
        process.stdin.write(order)
    said, until = b"", time.monotonic() + READY_SECONDS
    with process.stdout:
        while select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
            piece = os.read(process.stdout.fileno(), 65536)
            said += piece
            if not piece or said == STARTED:
                process.wait()  # the supervisor has left its first process
                return said
    process.kill()
    process.wait()
    return None


def _elsewhere(state: RunState, folder: Path) -> RunState:
    """The state of a run whose supervisor cannot be seen from here: it goes on as long as its state is renewed."""
    here, renewed = Place.here(), (folder / STATE_FILE).stat().st_mtime
    restarted = here.host == state.place.host and here.boot != state.place.boot
    if not restarted and time.time() - renewed <= SILENT_SECONDS:
        return state
    words = "this machine was restarted" if restarted else f"{state.place.host} has not been heard of"
    return replace(state, ended_at=renewed, end=RunEnd(RunStatus.STOPPED, f"lost: {words}"))


def _status(run: RunState) -> JobStatus:
    end = run.end
    return JobStatus(
        JobState.ENDED if end else JobState.WAITING if run.started_at is None else JobState.RUNNING,
        exit_code=end.exit_code if end else None,
        ended_as=end.ended_as if end else None,
        reason=end.reason if end else "",
        place=run.place.host,
        started_at=run.started_at,
        ended_at=run.ended_at if end else None,
        memory_gib=run.memory_gib,
        cpu_seconds=run.cpu_seconds,
        busy_cpus=None if end else run.busy_cpus,
    )


def _id(run_id: str, state: RunState) -> str:
    return f"{run_id}/{state.token}"
