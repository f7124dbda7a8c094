"""Report: everything a reader is told about one suggestion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jpo.records import USD, Currency, Suggestion, TrackRecord


@dataclass(frozen=True, slots=True)
class Report:
    """A suggestion and what became of it.

    Attributes:
        path: the config.ini it is about.
        written: True if config.ini holds the suggested values now.
        track: how earlier forecasts turned out, quantity by quantity; empty before the first one could be compared.
        diff: unified diff of config.ini, when it was asked for.
        currency: in which amounts are shown to people.
    """

    suggestion: Suggestion
    path: Path
    written: bool
    track: tuple[TrackRecord, ...] = ()
    diff: str | None = None
    currency: Currency = USD
