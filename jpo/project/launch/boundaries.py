"""Boundaries of runs that are made to find better values: after how long one is no use any more, by what was recorded before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.launch.ledger import Entry
from jpo.project.launch.finished import NEARLY, at_its_limit, logs_of
from jpo.project.load import LoadedSettings
from jpo.records import Run, RunStatus
from jpo.telemetry.csv.log import parsed


@dataclass(frozen=True, slots=True)
class TrainingSoFar:
    """How long a run has been training, by its own log.

    Attributes:
        started_at: unix seconds; None: it has no log yet, or none that is seen from here.
        over: it has ended its log, and saves or tests now.
    """

    started_at: float | None
    over: bool = False


def longest_training_seconds(settings: LoadedSettings, runs: Iterable[Run]) -> float | None:
    """[launch] stop_at times the shortest of these runs that ended well; None: it is 0, or there is none."""
    stop_at = settings.values.launch.stop_at
    well = [run.outcome.duration_seconds for run in runs if run.ended_well and run.outcome.duration_seconds]
    return stop_at * min(well) if stop_at and well else None


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
        try:
            log = parsed(path)
        except TelemetryError:
            continue
        if (start := log.number("start")) is not None:
            return TrainingSoFar(start, log.closed)
    return TrainingSoFar(None)


def ended_early(entry: Entry, run: Run | None, longest_seconds: float | None) -> bool:
    """Whether a run was ended from outside before any boundary of its own: with its engine or its node, or by the user."""
    if entry.end is None or run is None or run.status is not RunStatus.STOPPED:
        return False
    trained = run.outcome.duration_seconds or 0.0
    at_boundary = longest_seconds is not None and trained >= NEARLY * longest_seconds
    return not at_boundary and not at_its_limit(entry, trained)
