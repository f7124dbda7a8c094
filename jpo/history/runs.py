"""Recorded runs: what a later report adds to one, when it started, and which suggestion it followed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from jpo.records import Finished, Identity, Outcome, Run, Suggestion, as_given

RunKey = tuple[Identity, str]
"""What a run is known by: its workload and its id."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run on record, with the suggestion it followed (None: none) and when it was recorded (unix seconds)."""

    run: Run
    suggestion_id: str | None
    recorded_at: float


class Reading(NamedTuple):
    """How far a source has been read for a workload.

    `read_until`: unix seconds; `passed_over`: by id of a run that was seen and not recorded, unix seconds of that look.
    """

    read_until: float
    passed_over: Mapping[str, float]


def moved(current: Reading | None, finished: Finished) -> Reading:
    """How far a source has been read after another look; it never goes back."""
    before = current or Reading(-math.inf, {})
    read_until = before.read_until if finished.watermark is None else max(before.read_until, finished.watermark)
    return Reading(read_until, before.passed_over if finished.passed_over is None else finished.passed_over)


def key_of(run: Run) -> RunKey:
    return run.identity, run.run_id


def additions(
    reports: Sequence[Run], known: Mapping[RunKey, RecordedRun], suggestion_behind: Callable[[Run], str | None], now: float
) -> list[RecordedRun]:
    """What is to go on record: each report that is new, or adds something, as the run stands on record after it.

    `known`: what is on record of these runs; `suggestion_behind`: id of the suggestion that a run followed.
    """
    latest, added = dict(known), []
    for report in reports:
        earlier = latest.get(key_of(report))
        run = fuller(earlier.run, report) if earlier else report
        if earlier is None or run != earlier.run:
            suggestion_id = earlier.suggestion_id if earlier and earlier.suggestion_id else suggestion_behind(run)
            latest[key_of(run)] = RecordedRun(run, suggestion_id, earlier.recorded_at if earlier else now)
            added.append(latest[key_of(run)])
    return added


class Forgotten(NamedTuple):
    """Count of time series that were deleted: of how many runs, how many series, and the bytes they took."""

    runs: int
    series: int
    size_bytes: int


def fuller(recorded: Run, report: Run) -> Run:
    """The recorded run completed by a later report of it.

    What is on record never changes: not the status, not a time, not a number. A start, a parameter or a part of the outcome that
    was unknown is added, and what was only assumed of a parameter gives way to what is reported. So the order of sources decides,
    and reading a source again changes nothing. Only a run that fell silent was not over for sure: a report of its end, or of a
    later silence, takes its place.
    """
    if recorded.fell_silent and (not report.fell_silent or report.ended_at > recorded.ended_at):
        parameters, assumed = _merged_parameters(report, recorded)
        return replace(report, parameters=parameters, assumed=assumed)
    parameters, assumed = _merged_parameters(recorded, report)
    starts = report.started_at is not None and report.started_at <= recorded.ended_at
    missing = [f.name for f in fields(Outcome) if getattr(recorded.outcome, f.name) is None]
    metrics = {**report.outcome.metrics, **recorded.outcome.metrics}
    return replace(
        recorded,
        started_at=report.started_at if recorded.started_at is None and starts else recorded.started_at,
        parameters=parameters,
        assumed=assumed,
        outcome=replace(recorded.outcome, **{name: getattr(report.outcome, name) for name in missing}, metrics=metrics),
    )


def _merged_parameters(stronger: Run, weaker: Run) -> tuple[dict[str, float], tuple[str, ...]]:
    """The parameters of two reports of one run, and which of them none of the two reports: what is assumed gives way."""
    reported = {**_reported(weaker), **_reported(stronger)}
    values = {**weaker.parameters, **stronger.parameters, **reported}
    return values, tuple(sorted({*weaker.assumed, *stronger.assumed} - reported.keys()))


def _reported(run: Run) -> dict[str, float]:
    return {name: value for name, value in run.parameters.items() if name not in run.assumed}


def latest_start(run: Run) -> float:
    """Unix seconds by which the run had started: its start, else its end less its duration, else its end."""
    if run.started_at is not None:
        return run.started_at
    return run.ended_at - (run.outcome.duration_seconds or 0.0)


def follows(run: Run, suggestion: Suggestion) -> bool:
    """Whether a run ran with what was suggested.

    The run must report every parameter that the suggestion changed, at least one at all, and must agree on all that it reports
    but for rounding.
    """
    wanted: Mapping[str, float] = suggestion.values.suggested
    reported = run.parameters.keys() & wanted.keys()
    changed = {change.parameter for change in suggestion.changes}
    agrees = all(as_given(name, wanted[name], run.parameters[name]) for name in reported)
    return bool(reported) and changed <= reported and agrees
