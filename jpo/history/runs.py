"""Recorded runs: what a later report adds to one, when it started, and which suggestion it followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from jpo.records import Outcome, Run, Suggestion, same


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run on record, with the suggestion it followed (None: none) and when it was recorded (unix seconds)."""

    run: Run
    suggestion_id: str | None
    recorded_at: float


class Reading(NamedTuple):
    """How far a source has been read for a workload.

    Attributes:
        read_until: unix seconds.
        passed_over: by id of a run that was seen and not recorded, unix seconds of that look.
    """

    read_until: float
    passed_over: Mapping[str, float]


class Forgotten(NamedTuple):
    """Count of time series that were deleted: of how many runs, how many series, and the bytes they took."""

    runs: int
    series: int
    size_bytes: int


def fuller(recorded: Run, report: Run) -> Run:
    """The recorded run completed by a later report of it.

    What is on record never changes: not the status, not a time, not a number. A start, a parameter or a part of the outcome that
    was unknown is added. So the order of sources decides, and reading a source again changes nothing. Only a run that fell
    silent was not over for sure: a report of its end, or of a later silence, takes its place.
    """
    if recorded.fell_silent and (not report.fell_silent or report.ended_at > recorded.ended_at):
        return replace(report, parameters={**recorded.parameters, **report.parameters})
    starts = report.started_at is not None and report.started_at <= recorded.ended_at
    return replace(
        recorded,
        started_at=report.started_at if recorded.started_at is None and starts else recorded.started_at,
        parameters={**report.parameters, **recorded.parameters},
        outcome=_fuller_outcome(recorded.outcome, report.outcome),
    )


def _fuller_outcome(recorded: Outcome, report: Outcome) -> Outcome:
    missing = [f.name for f in fields(Outcome) if getattr(recorded, f.name) is None]
    return replace(recorded, **{name: getattr(report, name) for name in missing})


def latest_start(run: Run) -> float:
    """Unix seconds by which the run had started: its start, else its end less its duration, else its end."""
    if run.started_at is not None:
        return run.started_at
    return run.ended_at - (run.outcome.duration_seconds or 0.0)


def follows(run: Run, suggestion: Suggestion) -> bool:
    """Whether a run ran with what was suggested.

    The run must report every parameter that the suggestion changed, at least one at all, and must agree on all that it reports.
    """
    wanted: Mapping[str, float] = suggestion.suggested
    reported = run.parameters.keys() & wanted.keys()
    changed = {change.parameter for change in suggestion.changes}
    return bool(reported) and changed <= reported and same(run.parameters, wanted)
