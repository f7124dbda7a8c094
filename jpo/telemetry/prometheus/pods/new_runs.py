"""What a scope brought, whether its runs report themselves or are labelled pods."""

from __future__ import annotations

from dataclasses import dataclass, fields

from jpo.records import Skipped
from jpo.telemetry.outcome import MeasuredRun
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.discovery import RunBounds


@dataclass(frozen=True, slots=True)
class NewRuns:
    """Runs that a scope brought: new ones, and the bounds of all that are `over`, skipped ones included.

    `undecided`: last reports (unix seconds) of runs that may still be running; `open_ids`: those, and the ones that surely are.
    """

    runs: tuple[MeasuredRun, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    over: tuple[RunBounds, ...] = ()
    undecided: tuple[float, ...] = ()
    open_ids: tuple[str, ...] = ()
    labellings: tuple[Labelling, ...] = ()

    def __add__(self, other: NewRuns) -> NewRuns:
        return NewRuns(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))
