"""A suggestion that changes one value, and the note about it."""

from __future__ import annotations

from pathlib import Path

from made import a_suggestion, altered

from jpo.plugins.ci.report.comment import Comment
from jpo.records import RISK, Change, Forecast, Interval, Note, Suggestion, TrackRecord
from jpo.report.answer import Report

CHANGE = Change("batch_size", "training.batch_size", 16, 64, "16", "64", "3 runs at 64", 0.95, "max_change")
NOW = Forecast(Interval(100, 90, 110), Interval(2.0, 1.8, 2.2), Interval(0.1, 0.09, 0.11))
NEXT = Forecast(Interval(78, 70, 90), Interval(3.02, 2.8, 3.3), Interval(0.1, 0.09, 0.11))
REASONS = (
    Note("JPO-I603", "batch_size 64 takes 22% less time"),
    Note("JPO-I615", "exploring may cost 2 runs"),
    Note(RISK, "chance that it fails: 3%"),
)


def suggested(**given: object) -> Suggestion:
    made = altered(a_suggestion(), status="changed", changes=(CHANGE,), now=NOW, next=NEXT, reasons=REASONS, confidence=0.95)
    return altered(made, **given)


def note(suggestion: Suggestion, **given: object) -> Comment:
    track = (TrackRecord("duration_seconds", 8, 0.05, 7),)
    return Comment(Report(suggestion, Path("config.ini"), True, track), **given)  # type: ignore[arg-type]
