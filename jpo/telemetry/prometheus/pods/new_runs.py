"""What a scope brought, whether its runs report themselves or are labelled pods."""

from __future__ import annotations

from dataclasses import dataclass, fields

from jpo.records import Skipped
from jpo.telemetry.outcome import MeasuredRun
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.discovery import RunBounds


@dataclass(frozen=True, slots=True)
class NewRuns:
    """Runs that a scope brought.

    Attributes:
        runs: those that ended since the watermark.
        over: bounds of all runs that are over, skipped ones included.
        undecided: last reports (unix seconds) of runs that may still be running.
        open_ids: those runs, and the ones that surely are.
        labellings: where the cluster has their pods.
    """

    runs: tuple[MeasuredRun, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    over: tuple[RunBounds, ...] = ()
    undecided: tuple[float, ...] = ()
    open_ids: tuple[str, ...] = ()
    labellings: tuple[Labelling, ...] = ()

    def __add__(self, other: NewRuns) -> NewRuns:
        """Both together."""
        return NewRuns(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))
