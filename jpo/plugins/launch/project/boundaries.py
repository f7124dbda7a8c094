"""Boundaries of trials: after how long one is of no use any more, by what was recorded before; and how far a run is."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from pathlib import Path
from statistics import fmean

from jpo.errors import TelemetryError
from jpo.forecast.before_after import t_quantile
from jpo.history.figures import seconds_by_values
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.finished import NEARLY, at_its_limit, logs_of
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.project.sources import own_names
from jpo.records import Run, RunStatus
from jpo.telemetry.csv.log import parsed
from jpo.wording import numbers
from jpo.wording.names import OUTCOMES

SHOWN = ("train_loss", "val_loss", "val_accuracy")


@dataclass(frozen=True, slots=True)
class TrainingSoFar:
    """Since when a run trains (unix seconds; None: no log seen), and whether that is over: it has ended its log."""

    started_at: float | None
    over: bool = False


def longest_trial_seconds(settings: LoadedSettings, runs: Iterable[Run]) -> float | None:
    """After how long a trial can no longer win; None: [launch] stop_at is 0, none of these runs ended well, or neither time nor
    cost counts, as in a search by loss alone.

    That is stop_at times what the best values usually take, and at least what 19 of 20 of their runs take on this machine: the
    shortest of many runs was lucky, and runs of equal values differ by a tenth here and by half there. Values that ran once are
    the best only if even a long run of theirs would be.
    """
    stop_at, taken = launch_table(settings).stop_at, [[*map(log, each)] for each in seconds_by_values(runs).values()]
    wanted = settings.values.preference
    free = settings.values.agent.goal == "search" and not (wanted.time or wanted.cost)
    if not (stop_at and taken) or free:
        return None
    freedom = sum(len(own) - 1 for own in taken)
    squares = sum((each - fmean(own)) ** 2 for own in taken for each in own)
    spread = t_quantile(freedom) * sqrt(squares / freedom) if freedom else 0.0
    return min(exp(fmean(own) + max(log(stop_at), spread * sqrt(1 + 1 / len(own)))) for own in taken)


def startup_seconds(entry: Entry, run: Run | None) -> float | None:
    """What an ended run took besides training, imports and data above all; None: not known."""
    end = entry.end
    seconds = None if run is None else run.outcome.duration_seconds
    if end is None or end.started_at is None or end.ended_at is None or seconds is None:
        return None
    return max(0.0, end.ended_at - end.started_at - seconds)


def training_of(entry: Entry, ledger: Path) -> TrainingSoFar:
    """How long a run that goes on has been training; its log may be half written, or not be there yet."""
    for path in logs_of(entry, ledger):
        with suppress(TelemetryError):
            read = parsed(path)
            if (start := read.number("start")) is not None:
                return TrainingSoFar(start, read.closed)
    return TrainingSoFar(None)


def progress_of(entry: Entry, ledger: Path, settings: LoadedSettings) -> tuple[str, float | None, float | None] | None:
    """The last epoch of a run in words, its number, and how many there will be; None: its log does not say anything yet."""
    for path in logs_of(entry, ledger):
        try:
            read = parsed(path, own_names(settings).metrics)
        except TelemetryError:
            continue  # empty as yet, or its last line is being written
        epoch = read.latest.get("epoch")
        if epoch is None or not isfinite(epoch):
            continue
        epochs = read.head.get("epochs", "")
        total = float(epochs) if epochs.isdecimal() and len(epochs) < 10 else entry.job.parameters.get("epochs")
        losses = (f"{OUTCOMES[name].short} {numbers.plain(read.latest[name])}" for name in SHOWN if name in read.latest)
        words = ", ".join([f"epoch {epoch:g}{f' of {total:g}' if total else ''}", *losses])
        return f"{entry.job.run_id}: {words}", epoch, total or None
    return None


def ended_early(entry: Entry, run: Run | None, longest_seconds: float | None) -> bool:
    """Whether a run was ended from outside before any boundary of its own: with its engine or its node, or by the user."""
    if entry.end is None or run is None or run.status is not RunStatus.STOPPED:
        return False
    trained = run.outcome.duration_seconds or 0.0
    at_boundary = longest_seconds is not None and trained >= NEARLY * longest_seconds
    return not at_boundary and not at_its_limit(entry, trained)
