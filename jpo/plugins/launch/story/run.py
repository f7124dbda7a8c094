"""`jpo run`: one run is started with the values of config.ini, followed to its end, and put on record.

The intent is in the ledger before anything starts. Killed at any instant, nothing is started twice, nothing is left running that
nobody watches, and the next command puts on record what came of it.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jpo.cost import run_cost_usd
from jpo.errors import LaunchError
from jpo.files import whole
from jpo.plugins.launch.engines.aws.settings import AwsTable, in_regions
from jpo.plugins.launch.engines.aws.skypilot import as_yaml, task
from jpo.plugins.launch.excerpt import NewOutput, last_words
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.launcher import Launcher, ShowsPlan
from jpo.plugins.launch.ledger import Entry, output_of, read
from jpo.plugins.launch.lifecycle import LONGEST_PAUSE, cancel, follow, noted, start
from jpo.plugins.launch.project.accounts import LOCAL, accounted_for
from jpo.plugins.launch.project.boundaries import progress_of
from jpo.plugins.launch.project.command import invocation_of
from jpo.plugins.launch.project.engines import launcher_of, surroundings_of
from jpo.plugins.launch.project.finished import EndedRun, put_on_record
from jpo.plugins.launch.project.jobs import job_of, new_run_id
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.report.launched.run import LaunchReport
from jpo.plugins.launch.settings import table_of
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, prices_of
from jpo.project.project import open_history
from jpo.project.workload import read_workload
from jpo.records import RunStatus, Workload
from jpo.records.notes import Note
from jpo.report.progress_bar import Live

FAILED, NO_LOG, SHARED = "JPO-E759", "JPO-E772", "JPO-W776"
UNASKED = ("JPO-E754", "JPO-E764")
"""Codes of an engine that cannot be reached, or that nothing here names: no reason against a plan."""
LOCAL_PAUSE = 0.5
"""Seconds between two looks at a run on this machine: they cost next to nothing."""
HOW_TO_LOG = "let the script write one: `with RunLog(...)` of jpo.runlog, four lines (docs/reporting.md)"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of the command line; see `jpo run --help`. None: as jpo.toml says, or made here (`run_id`)."""

    now: float
    on: str | None = None
    run_id: str | None = None
    longest_seconds: float | None = None
    detached: bool = False
    dry_run: bool = False
    follows: bool = False
    skypilot: Path | None = None
    """File into which the run is written as a task of SkyPilot, instead of being started."""


@dataclass(frozen=True, slots=True)
class Surface:
    """What `jpo run` needs of its process: where it was started, its environment, time, and where progress is seen."""

    folder: Path
    environ: Mapping[str, str]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    live: Live


def run(config: Path, settings: LoadedSettings, words: Sequence[str], options: RunOptions, here: Surface) -> LaunchReport:
    """Read, understand the script, start, follow, record.

    Raises:
        UsageError: JPO-E756, E757, E773, E774: the command line or the script cannot be used.
        LaunchError: JPO-E750 to E755, E758: it is not started, or cannot be followed.
    """
    workload, ledger = read_workload(config, settings, now=options.now), ledger_of(settings)
    if options.skypilot is not None:
        job, notes = _job(workload, settings, words, options, here, engine="aws")
        written = _as_task(job, settings, here, options.skypilot)
        return LaunchReport(Entry(job, "skypilot", options.now), output_of(ledger, job.run_id), (*notes, written))
    launcher = launcher_of(settings, options.on, environ=here.environ, detached=options.detached)
    job, notes = _job(workload, settings, words, options, here, engine=launcher.name)
    if options.dry_run:
        notes = (*notes, *_unchecked(job, launcher))
        report = LaunchReport(Entry(job, launcher.name, options.now), output_of(ledger, job.run_id), notes)
        return replace(report, plan=launcher.plan(job, workload.content)) if isinstance(launcher, ShowsPlan) else report
    with open_history(settings) as store:  # one that cannot be used is reported now, not after hours
        accounted_for(settings, store, here.environ, now=options.now, engines={LOCAL, launcher.name})
    notes = (*notes, *_shared(job, launcher))
    try:
        entry = start(job, launcher, ledger, now=options.now, config=workload.content)
        if options.detached:
            return LaunchReport(entry, output_of(ledger, job.run_id), notes)
        _to_its_end(entry, launcher, ledger, settings, options, here)
    except KeyboardInterrupt:
        if not options.detached:
            _cancelled(job.run_id, launcher, ledger, settings, here)
        raise
    return _recorded(entry, ledger, settings, notes, here)


def _cancelled(run_id: str, launcher: Launcher, ledger: Path, settings: LoadedSettings, here: Surface) -> None:
    """End a run that was interrupted, also before its start was noted, and put it on record."""
    entry = read(ledger, run_id)
    if entry is None or (entry := noted(entry, launcher, ledger)).engine_id is None:
        return
    here.live.note(f"{run_id}: cancelled, waiting for its end")
    cancel(entry, launcher, ledger, sleep=here.sleep)
    with open_history(settings) as store:
        accounted_for(settings, store, here.environ, now=here.clock(), engines=())


def _job(
    workload: Workload, settings: LoadedSettings, words: Sequence[str], options: RunOptions, here: Surface, *, engine: str
) -> tuple[LaunchJob, tuple[Note, ...]]:
    """The job that is meant, and what must be said of it."""
    invocation = invocation_of(words, workload, here.folder, here.environ, engine=engine)
    run_id = new_run_id(workload, now=options.now) if options.run_id is None else options.run_id
    job = job_of(workload, settings, invocation, run_id=run_id, longest_seconds=options.longest_seconds)
    return job, invocation.notes


def _as_task(job: LaunchJob, settings: LoadedSettings, here: Surface, file: Path) -> Note:
    """Write a job as a task of SkyPilot; how to start it."""
    table = table_of(settings, "aws")
    assert isinstance(table, AwsTable)
    text = as_yaml(task(job, in_regions(table, surroundings_of(settings, here.environ))[0]))
    with whole(here.folder / file) as new:
        new.write(text.encode())
    return Note("", f"start it with: {shlex.join(('sky', 'jobs', 'launch', str(file)))}", str(file))


def _to_its_end(
    entry: Entry, launcher: Launcher, ledger: Path, settings: LoadedSettings, options: RunOptions, here: Surface
) -> None:
    """Follow a run, showing how it goes, and what it prints if that is wanted."""
    shown, pause = "", LOCAL_PAUSE if launcher.name == "local" else LONGEST_PAUSE
    output = NewOutput(output_of(ledger, entry.job.run_id), {**here.environ, **entry.job.environment})
    for status in follow(entry, launcher, ledger, clock=here.clock, sleep=here.sleep, longest_pause=pause):
        for line in output.lines(over=status.over) if options.follows else ():
            here.live.note(line)
        state = f"{status.state.value}{f' ({status.reason})' if status.reason else ''}"
        progress = progress_of(entry, ledger, settings) or (f"{entry.job.run_id}: {state}", None, None)
        if progress[0] != shown:
            here.live.progress(*progress)
        shown = progress[0]


def _unchecked(job: LaunchJob, launcher: Launcher) -> Iterator[Note]:
    """Refuse what could never run; a plan is shown also where the engine cannot be asked, with a word of that."""
    try:
        launcher.refuse(job)
    except LaunchError as error:
        if error.code not in UNASKED:
            raise
        yield Note(
            error.code, f"{launcher.name} was not asked whether it takes this: {error.place}: {error.finding}", launcher.name
        )


def _shared(job: LaunchJob, launcher: Launcher) -> Iterator[Note]:
    """That other runs have the CPUs that this one asks for, where its engine would let them share."""
    if launcher.name == "local" and (wanted := job.needs.cpus) is not None:
        free = launcher.room(job.needs).free_cpus
        if free is not None and free < wanted:
            text = f"it asks for {wanted:g} CPUs, and {free:g} are free: the runs share CPUs, so its time says less"
            yield Note(SHARED, text, "cpus")


def _recorded(entry: Entry, ledger: Path, settings: LoadedSettings, notes: tuple[Note, ...], here: Surface) -> LaunchReport:
    """What came of a run that is over, put on record, and the error that the command ends with, if it does."""
    entry = read(ledger, entry.job.run_id) or entry
    with open_history(settings) as store:
        runs = reversed(store.runs_of(entry.job.identity))
        before = next((run for run in runs if run.ended_well and run.run_id != entry.job.run_id), None)
        ended = put_on_record(entry, ledger, settings, store, now=here.clock())
    prices, output = prices_of(settings), output_of(ledger, entry.job.run_id)
    costs = tuple(None if run is None else run_cost_usd(run, prices) for run in (ended.run, before))
    failure, notes = _failure(entry, ended, output, here.environ), tuple(dict.fromkeys((*notes, *ended.notes)))
    currency = currency_of(settings)
    return LaunchReport(entry, output, notes, ended.run, before, costs, currency, ended.log, failure, ended.facts)


def _failure(entry: Entry, ended: EndedRun, output: Path, environ: Mapping[str, str]) -> LaunchError | None:
    """Why the command ends with 7; None: all is well."""
    end, place = entry.end, f"run {entry.job.run_id}"
    assert end is not None, "ended"
    status = ended.run.status if ended.run is not None else end.ended_as
    if end.ended_as is RunStatus.SUCCEEDED and ended.log is None and not ended.reported_elsewhere:
        missing, remedy = "wrote no run log: nobody knows its losses", HOW_TO_LOG
        if ended.notes and ended.notes[0].code:
            missing = f"its run log cannot be read: {ended.notes[0].text}"
            remedy = "correct it and run the same command again: the run is only read again"
        elif ended.notes:
            missing = f"wrote no run log of its own: {ended.notes[0].text}"
            remedy = "let the script write one for each run: JPO_RUN_ID and JPO_RUNLOG_DIR in its environment say where"
        return LaunchError(place, f"ended well, and {missing}", remedy, code=NO_LOG)
    if end.ended_as is RunStatus.SUCCEEDED and status is RunStatus.SUCCEEDED:
        return None
    status = end.ended_as if status is RunStatus.SUCCEEDED else status  # its log was closed before it was ended
    words = "" if end.ended_as is RunStatus.STOPPED else last_words(output, {**environ, **entry.job.environment})
    how = status.value.replace("_", " ") if status else "lost"
    said = "; ".join(dict.fromkeys(text for text in (end.reason, words) if text))
    return LaunchError(place, f"{how}{f': {said}' if said else ''}", f"its output is in {output}", code=FAILED)
