"""What a scope brought, whether its runs report themselves or are labelled pods."""

from __future__ import annotations

from dataclasses import dataclass

from jpo.records import Skipped
from jpo.telemetry.outcome import MeasuredRun
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.time_series import SampledRun

RunWithPods = tuple[MeasuredRun, SampledRun]
"""A run that is over, with what its time series need."""


@dataclass(frozen=True, slots=True)
class NewRuns:
    """Runs that a scope brought.

    Attributes:
        runs: those that ended since the watermark.
        ends: of all runs that are over, skipped ones included.
        undecided: last reports (unix seconds) of runs that may still be running.
        open_ids: those runs, and the ones that surely are.
        labellings: where the cluster has their pods.
        starts: of the runs that are over, as far as known.
    """

    runs: tuple[RunWithPods, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ends: tuple[float, ...] = ()
    undecided: tuple[float, ...] = ()
    open_ids: frozenset[str] = frozenset()
    labellings: tuple[Labelling, ...] = ()
    starts: tuple[float, ...] = ()

    def __add__(self, other: NewRuns) -> NewRuns:
        """Both together."""
        return NewRuns(
            (*self.runs, *other.runs),
            (*self.skipped, *other.skipped),
            (*self.ends, *other.ends),
            (*self.undecided, *other.undecided),
            self.open_ids | other.open_ids,
            (*self.labellings, *other.labellings),
            (*self.starts, *other.starts),
        )
