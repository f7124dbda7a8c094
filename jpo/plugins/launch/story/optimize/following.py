"""One run of the loop: started once, followed to its end or its boundary, put on record. It waits by yielding seconds.

Killed at any instant, it is found again by its id: an intent is submitted again, a run that goes on is followed, one that has
ended is put on record.
"""

import re
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from jpo.errors import LaunchError
from jpo.plugins.launch.during.adjustment import NOTHING, Adjustment
from jpo.plugins.launch.excerpt import last_words
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, entries, output_of, read
from jpo.plugins.launch.lifecycle import LONGEST_PAUSE, SHORTEST_PAUSE, cancel, noted, start, statuses
from jpo.plugins.launch.project.boundaries import training_of
from jpo.plugins.launch.project.command import invocation_of
from jpo.plugins.launch.project.finished import EndedRun, at_its_limit, put_on_record
from jpo.plugins.launch.project.jobs import job_of, shortened
from jpo.plugins.launch.settings import launch_table
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task
from jpo.plugins.launch.watching import account
from jpo.project.project import open_history
from jpo.project.workload import content_now, read_workload
from jpo.records import RunStatus
from jpo.wording import numbers

Waiting = Generator[float, None, EndedRun]
LOOKS = 40
"""At a trial before its boundary, at least: what cannot win any more should not wait for the next look."""
FAILED = (RunStatus.FAILED, RunStatus.OOM_KILLED, RunStatus.DIVERGED)


@dataclass(frozen=True, slots=True)
class Boundary:
    """When a trial is of no use.

    Attributes:
        training_seconds: after so long, by its own log; None: time alone is no reason, as in a search by loss alone.
        startup_seconds: what it takes besides; None: not known.
        watched: whether it is stopped as soon as its curve can no longer win; False of a run that is wanted for its model.
    """

    training_seconds: float | None = None
    startup_seconds: float | None = None
    watched: bool = False

    @property
    def in_all(self) -> float | None:
        """What the engine is told, which sees no log: it must not end a run that is only slow to start."""
        if self.training_seconds is None or self.startup_seconds is None:
            return None
        return self.training_seconds + 2 * self.startup_seconds


def made(task: Task, plan: LoopPlan, outside: Outside, run_id: str, boundary: Boundary) -> Waiting:
    """The run of this id, from wherever it is to its record; LaunchError JPO-E753 to E755, the engine refuses it, or is away."""
    entry = read(task.ledger, run_id)
    launcher = outside.engine(task.settings, entry.engine if entry else task.engine)
    if entry is None:
        job = job_for(task, plan, outside, run_id, boundary)
        yield from room_for(job.needs, launcher, plan)
        entry = start(job, launcher, task.ledger, now=outside.clock(), config=content_now(task.path) or b"")
        outside.note(f"{run_id}: started on {launcher.name}")
    elif entry.engine_id is None and entry.end is None:
        entry = start(entry.job, launcher, task.ledger, now=outside.clock())
    if entry.end is None:
        yield from _to_its_end(entry, launcher, task, outside, boundary)
    note_limit(task, run_id, now=outside.clock())
    return on_record(task, run_id, outside)


def room_for(needs: Needs, launcher: Launcher, plan: LoopPlan) -> Generator[float, None, None]:
    """Wait until the engine has room for a run, where jobs go on side by side; a single one is the engine's to queue."""
    while plan.at_once > 1:
        room = launcher.room(needs)
        asked = ((needs.gpus, room.free_gpus), (needs.cpus, room.free_cpus), (needs.memory_gib, room.free_memory_gib))
        never = room.gpus is not None and needs.gpus > room.gpus  # the engine refuses it, and says so
        if never or all(not wanted or free is None or wanted <= free for wanted, free in asked):
            return
        yield LONGEST_PAUSE


def job_for(task: Task, plan: LoopPlan, outside: Outside, run_id: str, boundary: Boundary) -> LaunchJob:
    """The job that runs the command with what config.ini has now; UsageError JPO-E756: no command, E773, E774: a bad script."""
    workload = read_workload(task.path, task.settings, now=outside.clock())  # as the run will read it
    invocation = invocation_of(plan.command, workload, outside.folder, outside.environ, engine=task.engine)
    job = job_of(workload, task.settings, invocation, run_id=run_id, environment=plan.environment)
    return shortened(job, boundary.in_all)


def _to_its_end(
    entry: Entry, launcher: Launcher, task: Task, outside: Outside, boundary: Boundary
) -> Generator[float, None, None]:
    """Look at a run again and again until it is over. Beyond its boundary it is cancelled; a trial also when it cannot win."""
    pause, started_at, cancelled = SHORTEST_PAUSE, None, False
    longest, longest_pause = boundary.training_seconds, LONGEST_PAUSE
    with outside.watch(entry, launcher, task.settings) if boundary.watched else nullcontext() as look_at_trial:
        if look_at_trial and longest:
            longest_pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, longest / LOOKS))
        for status in statuses(entry, launcher, task.ledger, outside.clock):
            if status is not None:
                seen = look_at_trial(outside.clock()) if look_at_trial else None
                if status.over:
                    return
                if not cancelled and seen is not None and (why := stopped_because(task, entry)):
                    cancelled = True
                    outside.note(f"{entry.job.run_id}: stopped: {why}")
            left = longest_pause
            if longest is not None and not cancelled:
                started_at = started_at or training_of(entry, task.ledger).started_at
                left = longest_pause if started_at is None else started_at + longest - outside.clock()
                if left <= 0 and not training_of(entry, task.ledger).over:
                    launcher.cancel(str(entry.engine_id))
                    note_stop(task, entry, longest, now=outside.clock())
                    cancelled = True
                    outside.note(f"{entry.job.run_id}: stopped after {numbers.duration(longest)}: it can no longer win")
            yield max(0.01, min(pause, left if left > 0 else pause))
            pause = min(longest_pause, pause * 1.5)


def note_limit(task: Task, run_id: str, *, now: float) -> None:
    """A trial that its engine ended at a limit that JPO gave it, and not the user, was stopped by JPO: nobody saw it in time."""
    entry = read(task.ledger, run_id)
    if entry is None or entry.end is None or entry.end.ended_as is not RunStatus.STOPPED:
        return
    longest = entry.job.longest_seconds
    own = longest is not None and longest != launch_table(task.settings).timeout
    if own and at_its_limit(entry, 0.0) and not stopped_because(task, entry):
        note_stop(task, entry, longest or 0.0, now=now)


def note_stop(task: Task, entry: Entry, longest_seconds: float, *, now: float) -> None:
    """That JPO ended a trial at its boundary, and not the user, makes it evidence of a longer run: so it goes on record."""
    why = f"it took {numbers.duration(longest_seconds)}, and can no longer win"
    stop = Adjustment(now, why, wins=0.0, applied=True, actual=NOTHING)
    run_id, identity = entry.job.run_id, entry.job.identity
    with account.deciding(task.ledger, run_id) as made:
        made.append(stop)
        account.put_on_audit_log(run_id, identity, [stop], partial(open_history, task.settings), kind=account.MADE, now=now)


def stopped_because(task: Task, entry: Entry) -> str:
    """Why a run was stopped by a decision about it; "": it was not."""
    made = account.read(task.ledger, entry.job.run_id)
    return next((each.why for each in made if each.is_stop and each.applied), "")


def cancel_all(task: Task, outside: Outside) -> None:
    """End the runs of this job that go on and put them on record; they are made again when the command goes on.

    Of a baseline there may be several; one that cannot be told to end is said, and does not keep the others.
    """
    own = re.compile(rf"{re.escape(task.name)}-b?\d+(\.\d+)?")
    for entry in [entry for entry in entries(task.ledger) if own.fullmatch(entry.job.run_id)]:
        if entry.end is None or not entry.recorded:
            try:
                launcher = outside.engine(task.settings, entry.engine)
                known = noted(entry, launcher, task.ledger)
                if known.engine_id is None:
                    continue
                if known.end is not None or cancel(known, launcher, task.ledger, sleep=outside.sleep):
                    on_record(task, known.job.run_id, outside)
            except LaunchError as error:
                outside.note(f"{entry.job.run_id}: may still be running: {error}")


def on_record(task: Task, run_id: str, outside: Outside) -> EndedRun:
    """Put a run that has ended on record, once, and say how it ended."""
    entry = read(task.ledger, run_id)
    assert entry is not None, "started"
    with open_history(task.settings) as store:
        ended = put_on_record(entry, task.ledger, task.settings, store, now=outside.clock())
    said = words_of(entry, task, outside) if ended.run is None or ended.run.status in FAILED else ""
    outside.note(f"{run_id}: {in_words(ended)}{f': {said}' if said else ''}")
    for note in ended.notes:
        outside.note(f"{run_id}: note: {note.cited}")
    return ended


def words_of(entry: Entry, task: Task, outside: Outside) -> str:
    """The last line that a run printed, without what looks like a secret; of an exception that is its message."""
    return last_words(output_of(task.ledger, entry.job.run_id), {**outside.environ, **entry.job.environment})


def in_words(ended: EndedRun) -> str:
    """How a run ended, and after how long."""
    if ended.run is None:
        return "ended, and nothing is known of it"
    seconds = ended.run.outcome.duration_seconds
    missed = ", target not reached" if ended.run.outcome.converged is False else ""
    return f"{ended.run.status.value}{missed}" + ("" if seconds is None else f", {numbers.duration(seconds)}")
