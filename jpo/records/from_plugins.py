"""What plugins tell the core, besides runs: what a first run takes, how long one would wait, and what else happened to runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jpo.records.decisions import Forecast
from jpo.records.notes import Note


@dataclass(frozen=True, slots=True)
class Queued:
    """A run that would be submitted now.

    Attributes:
        engine: that said so.
        wait_seconds: before it starts.
        done_at: unix seconds of its expected end; None where nobody knows how long it takes.
    """

    engine: str
    wait_seconds: float
    done_at: float | None


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that happened to a run besides its start and its end, for `jpo history`.

    `kind`: the list of the JSON document that it stands in. `sentence`: for people. `document`: for programs.
    """

    run_id: str
    kind: str
    sentence: str
    document: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FirstRun:
    """First run of a configuration, as it is estimated before any was measured.

    Attributes:
        forecast: memory of a GPU and energy are among its metrics.
        words: what it rests on; empty: nothing is known.
        notes: what such a run would meet.
    """

    forecast: Forecast = field(default_factory=Forecast)
    words: str = ""
    notes: tuple[Note, ...] = ()
