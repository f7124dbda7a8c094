"""Lifecycle of one launched run: started once, followed to its end, or cancelled. Each step may be made again after kill -9."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobStatus, LaunchJob
from jpo.plugins.launch.launcher import Launcher, StartsTogether
from jpo.plugins.launch.ledger import Entry, folder_of, is_past, locked, make_folder, put, read, write

UNREACHABLE = "JPO-E754"
SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 15.0
"""Seconds between two looks at a job: soon at first, since many fail at once."""
CANCEL_SECONDS, CANCEL_PAUSE = 30.0, 1.0
"""How long a run that is cancelled may take to end before whoever cancelled it is let go, and the longest pause of that wait."""
GIVE_UP_SECONDS = 900.0
"""How long an engine may be unreachable while a job is followed: a controller that is restarted comes back."""


def start(job: LaunchJob, launcher: Launcher, ledger: Path, *, now: float, config: bytes = b"") -> Entry:
    """The entry of a job that is submitted now, or was before: whoever asks again gets the same one. Its config.ini is kept.

    Raises LaunchError: JPO-E750, another job has this run id; JPO-E752, the ledger cannot be written; JPO-E753 to E755, the
    engine does not take it.
    """
    folder = folder_of(ledger, job.run_id)
    if read(ledger, job.run_id) is None:
        launcher.refuse(job)  # before anything is made for it
    if is_past(ledger, job.run_id):  # its folder is not made anew
        return _intended(job, launcher.name, ledger, now, config)
    with locked(folder):
        entry = _intended(job, launcher.name, ledger, now, config)
        if entry.engine_id is None and entry.end is None:
            entry = replace(entry, engine_id=launcher.submit(job, folder.absolute()))
            write(ledger, entry)
        return entry


def noted(entry: Entry, launcher: Launcher, ledger: Path) -> Entry:
    """An entry with the engine's id also where nobody noted it: who submitted it was killed or interrupted in between.

    Without one it was never submitted. What has an id or an end is returned as it is.

    Raises LaunchError: the engine's; JPO-E752, the ledger cannot be written; JPO-E785, another process is at this run.
    """
    if entry.engine_id is not None or entry.end is not None:
        return entry
    folder = folder_of(ledger, entry.job.run_id)
    with locked(folder, wait=False):  # who starts it just now may take minutes
        entry = read(ledger, entry.job.run_id) or entry
        if entry.engine_id is None and (found := launcher.find(entry.job, folder.absolute())) is not None:
            entry = replace(entry, engine_id=found)
            write(ledger, entry)
    return entry


def start_together(
    jobs: Sequence[LaunchJob], launcher: StartsTogether, ledger: Path, name: str, *, now: float, config: bytes = b""
) -> None:
    """Start several jobs that ask for the same at once, under one name. Killed on the way, `start` goes on with each of them.

    LaunchError as of `start`, and JPO-E762 where they ask for different things.
    """
    launcher.refuse(jobs[0])
    folders = [folder_of(ledger, job.run_id) for job in jobs]
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(locked(folder))
        intended = [_intended(job, launcher.name, ledger, now, config) for job in jobs]
        for entry, engine_id in zip(intended, launcher.submit_all(jobs, [f.absolute() for f in folders], name), strict=True):
            write(ledger, replace(entry, engine_id=engine_id))


def _intended(job: LaunchJob, engine: str, ledger: Path, now: float, config: bytes) -> Entry:
    """The entry of a job, on disk before its engine hears of it; under the lock of its run."""
    entry = read(ledger, job.run_id)
    if entry and (entry.job, entry.engine) != (job, engine):
        finding = f"was launched before on {entry.engine}, with another command, configuration or resources"
        raise LaunchError(f"run {job.run_id}", finding, "give the new run an id of its own", code="JPO-E750")
    if entry is None:
        if not (ledger / ".gitignore").exists():
            put(ledger / ".gitignore", b"*\n")  # what runs print may hold secrets, and `git add .` takes all
        folder = folder_of(ledger, job.run_id)
        make_folder(folder / "runs")
        put(folder / "config.ini", config)
        entry = Entry(job, engine, now)
        write(ledger, entry)
    return entry


def follow(
    entry: Entry,
    launcher: Launcher,
    ledger: Path,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    longest_pause: float = LONGEST_PAUSE,
) -> Iterator[JobStatus]:
    """The states of a submitted job, each look one, until it is over; its end is in the ledger before it is yielded.

    An engine that cannot be reached is asked again, up to GIVE_UP_SECONDS.

    `longest_pause`: seconds between two looks: of an engine that is asked through files they may be few.

    Raises LaunchError: JPO-E754, it stays unreachable; the job may go on, and can be followed again.
    """
    if entry.end is not None:
        yield entry.end
        return
    pause = SHORTEST_PAUSE
    for status in statuses(entry, launcher, ledger, clock):
        if status is not None:
            yield status
            if status.over:
                return
        sleep(pause)
        pause = min(longest_pause, pause * 1.5)


def statuses(entry: Entry, launcher: Launcher, ledger: Path, clock: Callable[[], float]) -> Iterator[JobStatus | None]:
    """How a submitted job goes, each time that the next is asked for. None: its engine cannot be reached just now.

    Raises LaunchError: JPO-E754, for more than GIVE_UP_SECONDS; what else the engine raises.
    """
    reached = clock()
    while True:
        status: JobStatus | None = None
        try:
            status = ask_status(entry, launcher, ledger)
            reached = clock()
        except LaunchError as error:
            if error.code != UNREACHABLE or clock() - reached > GIVE_UP_SECONDS:
                raise
        yield status


def ask_status(entry: Entry, launcher: Launcher, ledger: Path) -> JobStatus:
    """How a submitted job goes now. Of one that is over, output and run log are brought home, then its end is written down.

    Another process may have brought it home before, and the engine may know nothing of it any more: what that one wrote counts.
    """
    assert entry.engine_id is not None, "submitted"
    status = launcher.status(entry.engine_id)
    if status.over:
        folder = folder_of(ledger, entry.job.run_id)
        with locked(folder):
            known = read(ledger, entry.job.run_id) or entry
            if known.end is not None:
                return known.end
            launcher.collect(entry.engine_id, folder.absolute())
            write(ledger, replace(known, engine_id=entry.engine_id, end=status))
    return status


def cancel(entry: Entry, launcher: Launcher, ledger: Path, *, sleep: Callable[[float], None]) -> bool:
    """End a submitted job and wait until it has ended; False: that is not seen within CANCEL_SECONDS.

    Raises LaunchError: the engine's; JPO-E754 only where it cannot be told to end the job.
    """
    assert entry.engine_id is not None, "submitted"
    launcher.cancel(entry.engine_id)
    waited, pause = 0.0, SHORTEST_PAUSE
    for status in statuses(entry, launcher, ledger, lambda: 0.0):  # in no time, since CANCEL_SECONDS end it
        if status is not None and status.over:
            return True
        sleep(pause)
        waited, pause = waited + pause, min(CANCEL_PAUSE, pause * 1.5)
        if waited >= CANCEL_SECONDS:
            break
    return False


def recorded(entry: Entry, ledger: Path) -> None:
    """Note that the run is in the history."""
    with locked(folder_of(ledger, entry.job.run_id)):
        write(ledger, replace(read(ledger, entry.job.run_id) or entry, recorded=True))
