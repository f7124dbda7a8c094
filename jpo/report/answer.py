"""The answer of a command that suggests, for whoever shows it: suggestion.py in short, explanation.py in full."""

from dataclasses import dataclass
from pathlib import Path

from jpo.cost.price import Rented
from jpo.records import USD, Currency, Suggestion, TrackRecord
from jpo.records.from_plugins import Queued


@dataclass(frozen=True, slots=True)
class Report:
    """A suggestion and what became of it.

    Attributes:
        written: True if config.ini holds the suggested values now.
        track: how earlier forecasts turned out, quantity by quantity; empty before the first one could be compared.
        diff: unified diff of config.ini, when it was asked for.
        in_force: config.ini as it was in force before; None where it is not at hand.
        instances, queue: on which it runs now and next; when the next would be done. None: unknown.
    """

    suggestion: Suggestion
    path: Path
    written: bool
    track: tuple[TrackRecord, ...] = ()
    diff: str | None = None
    currency: Currency = USD
    in_force: bytes | None = None
    instances: tuple[Rented | None, Rented | None] = (None, None)
    queue: Queued | None = None
