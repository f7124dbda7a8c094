"""Prediction: what is expected of configurations, what that rests on, and the answer to a what-if question."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jpo.cost.price import Rented
from jpo.optimizer.surrogate import FailureChance
from jpo.records import NO_EVIDENCE, USD, Currency, Evidence, Forecast, Identity, SlaCheck
from jpo.records.from_plugins import Queued
from jpo.wording import numbers
from jpo.wording.names import short

Kind = Literal["history", "trials", "similar workloads", "heuristic", "unknown"]


@dataclass(frozen=True, slots=True)
class Expected:
    """Expectation: a forecast and what it rests on.

    `words`: the runs, trials or workloads in question; for "unknown", what is missing.
    """

    kind: Kind
    words: str
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a prediction: one configuration.

    Attributes:
        parameters: all of them; `differs`: those that are not today's.
        spot: on spot prices (True), on demand (False), or as [prices] says (None).
        expected: what counts; `further`: what else there is to rest on, and says something different.
        runs: how many finished runs with exactly these values ended well.
        why_not: what the limits say against it; empty: it is admissible.
        sla: targets held against the forecast.
        failure: chance that a run of it fails; None before the first run.
        queued: when it would be done, if it were submitted now; None where [launch] names no engine that says so.
        instance: on which it would run; None where [prices] names no catalogue, or it has none.
    """

    parameters: Mapping[str, float]
    differs: Mapping[str, float]
    spot: bool | None
    expected: Expected
    further: tuple[Expected, ...] = ()
    runs: int = 0
    why_not: tuple[str, ...] = ()
    sla: tuple[SlaCheck, ...] = ()
    failure: FailureChance | None = None
    instance: Rented | None = None
    queued: Queued | None = None

    @property
    def allowed(self) -> bool:
        """Admissible, and not expected to break an SLA target."""
        return not self.why_not and all(check.verdict != "broken" for check in self.sla)


@dataclass(frozen=True, slots=True)
class Option:
    """Option: another row that keeps to what was asked, faster than the answer and more expensive. None: unknown."""

    row: int
    seconds_saved: float
    usd_more: float | None
    usd_per_saved_hour: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to "what is the cheapest in time", "the fastest within the budget", or both.

    Attributes:
        met: whether an allowed row is expected to keep to it.
        row: that row, else the one that comes nearest; None where no time or cost is known of any.
        probability: that a run of it keeps to what was asked.
        words: the answer in a sentence.
        options: faster but more expensive, the cheapest first.
    """

    deadline_seconds: float | None
    max_cost_usd: float | None
    met: bool
    row: int | None
    probability: float | None
    words: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction: everything that `jpo predict` says.

    Attributes:
        runs: finished runs of the workload on record.
        rows: today's configuration first.
        evidence: what it rests on, with what the reader must know.
        answer: None where nothing was asked.
    """

    path: Path
    identity: Identity
    runs: int
    rows: tuple[Row, ...]
    evidence: Evidence = NO_EVIDENCE
    answer: Answer | None = None
    currency: Currency = USD

    @property
    def exit_code(self) -> int:
        """3 where nothing keeps to what was asked."""
        return 3 if self.answer and not self.answer.met else 0


def label(row: Row) -> str:
    """How a row differs from today's values, and on which prices it is."""
    return configuration(row) + {None: "", False: " on demand", True: " spot"}[row.spot]


def configuration(row: Row) -> str:
    """How a row differs from today's values."""
    return ", ".join(f"{short(name)} {numbers.plain(value)}" for name, value in row.differs.items()) or "today"
