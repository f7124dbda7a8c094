"""What came of `jpo optimize`, as its command has gathered it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jpo.forecast.before_after import BeforeAfter
from jpo.records import USD, Currency, Identity, Run
from jpo.records.notes import Note


@dataclass(frozen=True, slots=True)
class LoopRun:
    """One run of the loop that is over; None: unknown.

    Attributes:
        last: of the attempts of its step; those before it were cut off.
        stopped: JPO ended it.
    """

    run_id: str
    engine: str
    baseline: bool
    run: Run | None
    cost_usd: float | None
    last: bool = True
    stopped: bool = False

    @property
    def ended_well(self) -> bool:
        """Whether it produced a model."""
        return self.run is not None and self.run.ended_well

    def value(self, quantity: str) -> float | None:
        if quantity == "cost_usd":
            return self.cost_usd
        return None if self.run is None else self.run.outcome.of(quantity)


@dataclass(frozen=True, slots=True)
class LoopTotals:
    """What the runs after the baseline took together, beside what as many models would have taken with the baseline's values.

    Attributes:
        runs: how many were measured; `well`: how many of them produced a model.
        ratio: spent / kept, per model; None where none brought one.
    """

    quantity: str
    runs: int
    well: int
    spent: float
    kept: float
    ratio: float | None


@dataclass(frozen=True, slots=True)
class BestFound:
    """The values that the loop has left in config.ini, against the first ones.

    Attributes:
        values: those that differ from the first ones; empty: nothing better was found.
        lines: quantities of the runs with these values against the baseline; empty where none was made.
        search_seconds: what the runs with other values took beyond what their models would have taken before.
        repaid_after: the run after the baseline from which on all of them together took no more than as many models before.
    """

    values: Mapping[str, float]
    lines: Sequence[BeforeAfter]
    search_seconds: float | None
    repaid_after: int | None


@dataclass(frozen=True, slots=True)
class OptimizedJob:
    """One job.

    Attributes:
        name: with which the ids of its runs begin.
        suggestions: by run id the suggestion that it followed.
        lines: quantities of the runs after the baseline against those of it.
        missing: runs of the plan that were not made, although they are wanted.
        best: what the loop found; None: it is not through.
        failure: why it ended early; None: it did not.
    """

    config: str
    name: str
    identity: Identity
    runs: Sequence[LoopRun]
    suggestions: Mapping[str, str]
    totals: Sequence[LoopTotals]
    lines: Sequence[BeforeAfter]
    missing: int
    failure: Note | None = None
    currency: Currency = USD
    best: BestFound | None = None
