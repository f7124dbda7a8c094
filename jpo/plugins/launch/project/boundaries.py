"""Boundaries of runs that are made to find better values: after how long one is no use any more, by what was recorded before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from jpo.errors import TelemetryError
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.finished import NEARLY, at_its_limit, logs_of
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.records import Parameters, Run, RunStatus, same
from jpo.telemetry.csv.log import parsed


@dataclass(frozen=True, slots=True)
class TrainingSoFar:
    """Since when a run trains (unix seconds; None: no log seen), and whether that is over: it has ended its log."""

    started_at: float | None
    over: bool = False


def longest_training_seconds(settings: LoadedSettings, runs: Sequence[Run], values: Parameters | None = None) -> float | None:
    """[launch] stop_at times the shortest of these runs that ended well; None: it is 0, or there is none.

    Where no target says that all models are as good, a run whose values ended well is measured by their own runs: the shortest of
    all may have brought the worse model.
    """
    stop_at = launch_table(settings).stop_at
    well = [run for run in runs if run.ended_well and run.outcome.duration_seconds]
    if values is not None and not any(run.outcome.converged is not None for run in runs):
        well = [run for run in well if same(run.parameters, values)] or well
    return stop_at * min(run.outcome.duration_seconds or 0.0 for run in well) if stop_at and well else None


def longest_usual_seconds(settings: LoadedSettings, reached: Sequence[Run], values: Parameters) -> float | None:
    """[launch] stop_at times what values usually take to their target: the best ones, or those of the run where these are known.

    A run that is no trial is to deliver a model, and the shortest of many runs was lucky: twice its time would end every other
    run of a job that reaches its target after two epochs, or after nine.
    """
    stop_at, taken = launch_table(settings).stop_at, dict[tuple[tuple[str, float], ...], list[float]]()
    for run in reached:
        if run.outcome.duration_seconds:
            taken.setdefault(tuple(sorted(run.parameters.items())), []).append(run.outcome.duration_seconds)
    if not (stop_at and taken):
        return None
    own = [each for known, seconds in taken.items() if same(dict(known), values) for each in seconds]
    return stop_at * (median(own) if own else min(map(median, taken.values())))


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
            log = parsed(path)
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
