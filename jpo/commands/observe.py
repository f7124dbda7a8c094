"""`jpo observe`: the outcomes of finished runs go on record. Observing a run twice changes nothing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.reading import number
from jpo.project.checkout.in_force import job_as_run
from jpo.project.collect import collect
from jpo.project.durations import seconds_or_nan
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history, open_project, own_direction
from jpo.project.sources import own_names
from jpo.project.workload import read_workload, refuse_unknown
from jpo.records import MEASURED, Finished, Outcome, Parameters, Run, RunStatus
from jpo.report.progress_bar import Live
from jpo.telemetry.csv.folder import doubts_of, logged_run
from jpo.telemetry.csv.follow import LogRow, LogUpdate, Tail, gone
from jpo.telemetry.csv.follow import follow as updates_of
from jpo.wording import numbers
from jpo.wording.names import OUTCOMES

TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def ask_sources(
    config: Path, settings: LoadedSettings, *, now: float, offline: bool, again_seconds: float | None, dry_run: bool
) -> list[str]:
    """Ask all configured sources about the workload of config.ini; trouble with one is an error here.

    `again_seconds`: how far back the server is asked for runs that are not on record; None: as settings say.
    """
    with open_project(config, settings, now=now, read_only=dry_run, judges=False) as job:
        known = collect(job, offline=offline, strict=True, again_seconds=again_seconds)
    skipped = [f"skipped {run.run_id}: {run.reason}" for run in known.evidence.runs_skipped]
    return [*recorded(known.fresh, dry_run=dry_run), *skipped, *(f"note: {note.text}" for note in known.evidence.notes)]


def seconds_back(again: str, *, offline: bool, alone: bool) -> float:
    """The seconds that --again means; it asks a server, so neither --offline nor a run or log goes with it."""
    back = seconds_or_nan(again)
    if not 0 < back < math.inf:
        raise UsageError("--again", f"{again!r:.80} is not a time to look back", "write e.g. --again 30d", code="JPO-E306")
    if offline or not alone:
        raise UsageError("--again", "asks the server, and nothing else", "leave --offline, --csv and RUN out", code="JPO-E306")
    return back


def take_logs(logs: Sequence[Path], settings: LoadedSettings, *, now: float, dry_run: bool) -> list[str]:
    """Record the runs of CSV logs."""
    with open_history(settings, read_only=dry_run) as store:
        read = [logged_run(path, now=now, own=own_names(settings)) for path in logs]
        lines = recorded(store.record(Finished(tuple(logged.run for logged in read)), now=now), dry_run=dry_run)
    return [*lines, *(f"note: {note.cited}" for note in doubts_of(read))]


@dataclass(frozen=True, slots=True)
class ByHand:
    """A run that is given by hand and just ended.

    Attributes:
        metrics: its outcome, NAME -> VALUE.
        status: how it ended; None: well.
        parameters: what it ran with where that is not what config.ini says.
    """

    run_id: str | None
    metrics: Mapping[str, str]
    status: RunStatus | None
    parameters: Parameters


def take_run(config: Path, settings: LoadedSettings, given: ByHand, *, now: float, dry_run: bool) -> list[str]:
    """Record a run that is given by hand."""
    run_id, status = given.run_id, given.status
    if run_id is None:
        raise UsageError("RUN", "is missing: whose outcome is it?", "write `jpo observe RUN --metric ...`", code="JPO-E306")
    if not run_id.strip():
        raise UsageError("RUN", "is empty", "give the run a name", code="JPO-E306")
    with open_history(settings, read_only=dry_run) as store:
        workload = job_as_run(read_workload(config, settings, now=now), store, settings, now=now)
        outcome = outcome_in(given.metrics, settings)
        started = now - outcome.duration_seconds if outcome.duration_seconds is not None else None
        refuse_unknown(given.parameters, workload, option="--param")
        known = store.run(run_id)
        if known is None and not given.metrics and status in (None, RunStatus.SUCCEEDED):
            finding = f"{run_id!r:.80} is not on record, and nothing says how it went"
            remedy = "give figures, e.g. --metric duration_seconds=5400, or --status failed; `jpo observe` alone asks all sources"
            raise UsageError("RUN", finding, remedy, code="JPO-E790")
        # config.ini may have changed since: what a run on record ran with is there, or unknown
        ran = given.parameters if known else workload.terms.with_chosen(workload.current, given.parameters)
        ended = Run(run_id, workload.identity, ran, status or RunStatus.SUCCEEDED, started, now, outcome, "observe")
        return recorded(store.record(Finished((ended,)), now=now), dry_run=dry_run)


def outcome_in(metrics: Mapping[str, str], settings: LoadedSettings) -> Outcome:
    """The outcome that is given on the command line."""
    values: dict[str, float | bool] = {}
    own = own_direction(settings)
    for name, text in metrics.items():
        if name not in (*MEASURED, *own):
            remedy = f"known are {', '.join((*MEASURED, *own))}; one of your own needs its name in [metric]"
            raise UsageError("--metric", f"{name} is not a metric", remedy, code="JPO-E306")
        try:
            values[name] = TRUTH[text.lower()] if name == "converged" else number(text)
        except (ValueError, KeyError) as error:
            kind, example = ("neither true nor false", "true") if name == "converged" else ("not a number", "0.4")
            finding, remedy = f"{name} = {text!r} is {kind}", f"write e.g. {name}={example}"
            raise UsageError("--metric", finding, remedy, code="JPO-E306") from error
    try:
        measured = {name: value for name, value in values.items() if name not in own}
        return Outcome(**measured, metrics={name: values[name] for name in own if name in values})  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError("--metric", str(error), "give what was measured", code="JPO-E306") from error


def follow(
    log: Path, settings: LoadedSettings, *, clock: Callable[[], float], sleep: Callable[[float], None], live: Live
) -> list[str]:
    """Follow one CSV log until its run is over, and record that; until then nothing is recorded, so it can be repeated.

    `clock`, `sleep`: as `telemetry.follow` wants them; `live`: shows every epoch, and what happens to the file. Raises
    TelemetryError: JPO-E130, the log is gone; JPO-E110 to E112 as `read_log`.
    """
    with open_history(settings):
        pass  # a store that cannot be used is reported now, not after hours
    with Tail(log, own_names(settings)) as tail:
        last: LogRow | None = None
        for update in updates_of(tail, clock=clock, sleep=sleep):
            for note in notes(log, update):
                live.note(note)
            if update.rows:
                earlier = last if last and not update.change else LogRow(time=tail.log.number("start"), samples=0)
                last = update.rows[-1]
                live.progress(*progress(tail, last, earlier))
            if update.state == "gone":
                raise gone(log)
        run = tail.run(clock())
    with open_history(settings) as store:
        return recorded(store.record(Finished((run,)), now=clock()))


def notes(log: Path, update: LogUpdate) -> list[str]:
    """What happened to the file, in sentences."""
    sentences = []
    if update.state == "missing":
        sentences.append(f"{log}: no such file at present; waiting for it")
    if update.state == "silent":
        sentences.append(f"{log}: silent for too long; how its run ended is judged by its epochs")
    if update.change == "rewritten":
        sentences.append(f"{log}: written anew by the same run; reading it from its start [JPO-W131]")
    if update.change == "replaced":
        sentences.append(f"{log}: is the log of another run now; the one before it was not over and is not recorded [JPO-W132]")
    return sentences


def progress(tail: Tail, row: LogRow, earlier: LogRow) -> tuple[str, float | None, float | None]:
    """The row in words, its epoch, and the epochs there will be."""
    rate = row.samples_per_second(earlier)
    epochs = tail.log.head.get("epochs", "")
    total = float(epochs) if epochs.isdecimal() and len(epochs) < 10 else None
    done = row.epoch if row.epoch is not None and math.isfinite(row.epoch) else None
    words = [
        None if done is None else f"epoch {done:g}" + (f" of {total:g}" if total else ""),
        None if rate is None else f"{numbers.plain(rate)} samples/s",
        None if row.train_loss is None else f"{OUTCOMES['train_loss'].short} {numbers.plain(row.train_loss)}",
        None if row.val_loss is None else f"{OUTCOMES['val_loss'].short} {numbers.plain(row.val_loss)}",
        None if row.val_accuracy is None else f"{OUTCOMES['val_accuracy'].short} {numbers.plain(row.val_accuracy)}",
    ]
    return f"{tail.log.head.get('run_id', tail.log.path)}: {', '.join(word for word in words if word)}", done, total or None


def recorded(runs: Sequence[Run], *, dry_run: bool = False) -> list[str]:
    """One line per run that was new."""
    lines = [f"{'would record' if dry_run else 'recorded'} {run.run_id}: {run.identity}, {run.status.value}" for run in runs]
    return lines or ["nothing new: all runs were on record, and a later report of a run only adds what was unknown"]
