"""What came of launched runs: an entry of the ledger that ended -> the Run that goes on record, from its log or its engine."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from jpo.errors import LaunchError, TelemetryError
from jpo.files.reading import number_or_nan
from jpo.history import Store
from jpo.plugins.launch.ledger import Entry, entries, folder_of, is_past, output_of
from jpo.plugins.launch.lifecycle import recorded
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.script.model_facts import printed, written
from jpo.plugins.launch.settings import launch_table
from jpo.plugins.launch.watching import account
from jpo.project.load import LoadedSettings
from jpo.project.sources import own_names
from jpo.records import COUNTS, MEASURED, PARAMETERS, Finished, Identity, Outcome, Run, RunStatus, Workload
from jpo.records.notes import Note
from jpo.telemetry.csv.folder import log_files
from jpo.telemetry.csv.log import parsed, run_of
from jpo.telemetry.outcome import Own

NO_FACTS = ("run_id", "start", "end", "cpu_seconds", "memory_bytes", "converged", "seed", "hostname", "pod")
"""Numbers of a head that say nothing of model and data, or might be names."""
NEWEST = 20
"""Runs of a workload that are asked for the number of its model's parameters."""
SOURCE = "launch"
"""Source of runs that wrote no log: what is known of them is what their engine says."""
NEARLY = 0.98
"""Of a boundary: clocks and schedulers are not exact, and what ended there was ended by it."""
CLOCKS_SECONDS = 2.0
"""By which the times of files and processes may differ."""
CORRECTED = (
    (RunStatus.STOPPED, RunStatus.FAILED),
    (RunStatus.OOM_KILLED, RunStatus.FAILED),
    (RunStatus.FAILED, RunStatus.SUCCEEDED),
)
"""How an engine saw a run end and what its closed log says, where the engine knows better: the last words of a script may be an
exception that came from outside, and what fails after the log's end (a check, saving the model) fails the run."""


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A launched run that is over.

    Attributes:
        run: as it goes on record; None: nothing is known that could be (it never started).
        log: its log; None: it wrote none that can be used, and notes say which cannot be read, or are of other runs (no code).
        reported_elsewhere: it has no log here: Prometheus is to report it, or its folder was cleaned up after it was on record.
        facts: what its log's head, else its output or its script, says of the model and its data besides parameters:
            model_parameters, train_samples.
    """

    run: Run | None
    log: Path | None
    notes: tuple[Note, ...] = ()
    reported_elsewhere: bool = False
    facts: Mapping[str, float] = field(default_factory=dict)


def ended_run(entry: Entry, ledger: Path, settings: LoadedSettings) -> EndedRun:
    """The run of an entry that has ended: from the log in its folder, else from what its engine says."""
    assert entry.end is not None, "ended"
    unread, of_others, inside = list[Note](), list[Note](), [*logs_of(entry, ledger)]
    for path in chain(inside, logs_elsewhere(entry, settings)):
        try:
            run = _logged(path, entry, own_names(settings))
        except TelemetryError as error:
            unread.append(Note(error.code, f"{error.place}: {error.finding}", str(path)))
            continue
        later = run.started_at is not None and run.started_at >= entry.asked_at
        if path in inside or run.run_id == entry.job.run_id or later:
            counts = _as_launched(run, entry, path in inside)
            if counts.source != run.source:
                unread.append(Note("JPO-W775", names_another(run.run_id, run.identity, entry), path.name))
            return EndedRun(counts, path, tuple(unread), facts=_printed(entry, ledger) | facts_of(path))
        of_others.append(Note("", f"{path} is of run {run.run_id}, which began before", str(path)))
    elsewhere = settings.values.prometheus.url is not None
    return EndedRun(_as_the_engine_says(entry), None, tuple(unread or of_others), reported_elsewhere=elsewhere)


def run_again(entry: Entry, ledger: Path, settings: LoadedSettings, store: Store) -> EndedRun:
    """The run of an entry that is on record: from its folder, or, where that was cleaned up, from the history."""
    if not is_past(ledger, entry.job.run_id):
        return ended_run(entry, ledger, settings)
    known = (run for run in store.runs_of(entry.job.identity) if run.run_id == entry.job.run_id)
    return EndedRun(next(known, None) or _as_the_engine_says(entry), None, reported_elsewhere=True)


def logs_of(entry: Entry, ledger: Path) -> Iterator[Path]:
    """The CSV logs in the folder of a run: the one under its id first, then the newest."""
    folder = folder_of(ledger, entry.job.run_id) / "runs"
    try:
        found = [*folder.glob("*.csv")]
    except OSError as error:  # a run that goes on record without its log has none for good
        raise LaunchError(str(folder), f"cannot be read ({error.strerror})", "check the disk", code="JPO-E752") from error
    yield from sorted(found, key=lambda path: (path.stem != entry.job.run_id, -_written_at(path)))


def model_facts(workload: Workload, settings: LoadedSettings) -> dict[str, float]:
    """What the script of [launch] command, or the newest run of a workload that was launched here and printed it, says of the
    model: model_parameters, trainable_parameters, model_layers. Whatever cannot be read says nothing."""
    ledger, found = ledger_of(settings), list[Entry]()
    with suppress(LaunchError):
        found = [entry for entry in entries(ledger, lambda _: None) if workload.identity.includes(entry.job.identity)]
    newest = sorted(found, key=lambda entry: entry.asked_at)[: -NEWEST - 1 : -1]
    told = next((facts for facts in (_said(entry, ledger) for entry in newest) if "model_parameters" in facts), {})
    return _written(launch_table(settings).command, settings.root) | told


def _said(entry: Entry, ledger: Path) -> dict[str, float]:
    """What a run's script, its output and the head of its log say of its model and data."""
    found = _printed(entry, ledger)
    with suppress(LaunchError, TelemetryError):
        for path in islice(logs_of(entry, ledger), 1):
            found |= facts_of(path)
    return found


def _printed(entry: Entry, ledger: Path) -> dict[str, float]:
    """What a run's script writes and its output says of the model, with as many layers as the run had where it was told."""
    told = {"model_layers": layers} if isinstance(layers := entry.job.parameters.get("num_layers"), float) else {}
    return _written(entry.job.command, entry.job.folder) | printed(output_of(ledger, entry.job.run_id)) | told


def _written(command: Sequence[str], folder: Path) -> dict[str, float]:
    return written(next((folder / word for word in command if word.endswith(".py")), Path()))


def facts_of(path: Path) -> dict[str, float]:
    """The numbers in the head of a log that are neither parameters nor measurements: what the model and its data are."""
    head = parsed(path).head
    known = {*PARAMETERS, *COUNTS, *MEASURED, *NO_FACTS}
    return {name: value for name, text in head.items() if name not in known and math.isfinite(value := number_or_nan(text))}


def _written_at(path: Path) -> float:
    with suppress(OSError):  # its script may remove it meanwhile
        return path.stat().st_mtime
    return 0.0


def names_another(run_id: str, identity: Identity, entry: Entry) -> str:
    """That a log names another run or workload than its launch, in words; "" where it does not, but for a number."""
    if entry.job.identity.includes(identity) and re.fullmatch(rf"{re.escape(entry.job.run_id)}(-\d+)?", run_id):
        return ""
    return f"Its log is of run {run_id} of {identity}; it counts as what was launched, {entry.job.run_id} of {entry.job.identity}"


def _as_launched(run: Run, entry: Entry, is_inside: bool) -> Run:
    """The run of a log under the launch's identity, its own words in `source`. One of this workload where settings have logs
    keeps its id, under which whoever reads those records it, too."""
    job, own = entry.job, entry.job.identity.includes(run.identity)
    if own and not is_inside:
        return run
    source = f"{run.source}: {run.run_id} of {run.identity}" if names_another(run.run_id, run.identity, entry) else run.source
    return replace(run, run_id=job.run_id, identity=run.identity if own else job.identity, source=source)


def logs_elsewhere(entry: Entry, settings: LoadedSettings) -> Iterator[Path]:
    """CSV logs where [csv] logs has them that were written while a run went on: its script may not know JPO_RUNLOG_DIR."""
    end = entry.end.ended_at if entry.end is not None and entry.end.ended_at is not None else math.inf
    for path in log_files(settings.csv_logs):
        with suppress(OSError):
            if entry.asked_at - CLOCKS_SECONDS <= path.stat().st_mtime <= end + CLOCKS_SECONDS:
                yield path


def put_on_record(
    entry: Entry, ledger: Path, settings: LoadedSettings, store: Store, *, now: float, keep: bool = True
) -> EndedRun:
    """Put the run of an entry that has ended on record, once, and note so in the ledger, if `keep`; what stood there already
    gains what was unknown.

    Raises:
        ValueError: the entry says what cannot be, and nothing about this run can be believed.
        StoreError: it could not be; the entry stays as it is, and the next command does it.
    """
    if is_past(ledger, entry.job.run_id):
        return run_again(entry, ledger, settings, store)
    ended = ended_run(entry, ledger, settings)
    run = ended.run
    if run is not None and run.source == SOURCE and run.ended_well:
        earlier = [other.outcome for other in store.runs_of(run.identity)]
        if any(outcome.val_loss is not None or outcome.val_accuracy is not None or outcome.metrics for outcome in earlier):
            # others say how good their models were; whether this one trained nobody knows: its time is none of a job of this kind
            run = replace(run, status=RunStatus.STOPPED)
    if run is not None and _missed_its_target(run, entry, ledger, store):
        run = replace(run, outcome=replace(run.outcome, converged=False))
    ended = replace(ended, run=run)
    if run is not None and not ended.reported_elsewhere:
        store.record(Finished((run,)), now=now)
    if keep:
        recorded(entry, ledger)
    return ended


def _missed_its_target(run: Run, entry: Entry, ledger: Path, store: Store) -> bool:
    """Whether a run of a job with a target was stopped by JPO since it was too far from it, or at a limit that it was given
    before it started; who else stops one says nothing of it."""
    if run.status is not RunStatus.STOPPED or run.outcome.converged is not None:
        return False
    with suppress(LaunchError):  # whoever watches it says that its decisions cannot be read
        stopped = any(made.is_stop and made.applied for made in account.read(ledger, entry.job.run_id))
        return (stopped or at_its_limit(entry, run.outcome.duration_seconds or 0.0)) and any(
            other.outcome.converged is not None for other in store.runs_of(run.identity)
        )
    return False


def at_its_limit(entry: Entry, trained_seconds: float) -> bool:
    """Whether a run ended when the time was over that its engine was told; where the engine saw no times, by what it trained."""
    end, longest = entry.end, entry.job.longest_seconds
    if end is None or longest is None:
        return False
    took = end.ended_at - end.started_at if end.ended_at is not None and end.started_at is not None else trained_seconds
    return took >= NEARLY * longest


def _logged(path: Path, entry: Entry, own: Own) -> Run:
    """The run of a log, which its script may not have closed: then it ended as its engine saw it."""
    log, end = parsed(path, own.metrics), entry.end
    assert end is not None, "ended"
    ended_as = end.ended_as or RunStatus.FAILED
    if not log.closed:
        last = log.latest.get("time") or log.number("start") or entry.asked_at
        log.head |= {"end": f"{last if end.ended_at is None else max(end.ended_at, last):.3f}", "status": ended_as.value}
    elif (ended_as, log.head["status"]) in CORRECTED:
        log.head["status"] = ended_as.value
    run = run_of(log, own=own)
    memory = run.outcome.memory_gib
    outcome = replace(run.outcome, memory_gib=end.memory_gib if memory is None else memory)
    return replace(run, parameters={**entry.job.parameters, **run.parameters}, outcome=outcome)


def _as_the_engine_says(entry: Entry) -> Run | None:
    """A run without a log: how it ended, how long it took, and what its engine measured."""
    end, job = entry.end, entry.job
    if end is None or end.started_at is None or end.ended_at is None or end.ended_as is None:
        return None
    seconds = max(0.0, end.ended_at - end.started_at)  # the clock of a file system is coarser than a process'
    cores = end.cpu_seconds / seconds if end.cpu_seconds is not None and seconds > 0 else None
    share = min(1.0, cores / job.needs.cpus) if cores is not None and job.needs.cpus else None
    outcome = Outcome(duration_seconds=seconds, memory_gib=end.memory_gib, cpu_cores_mean=cores, cpu_utilisation=share)
    parameters = {name: value for name, value in job.parameters.items() if math.isfinite(value)}
    return Run(job.run_id, job.identity, parameters, end.ended_as, end.started_at, end.started_at + seconds, outcome, SOURCE)
