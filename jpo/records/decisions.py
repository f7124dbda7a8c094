"""Decisions: what is wanted, what is forecast, and what the agent chose."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from statistics import NormalDist
from typing import Any, Literal

from jpo.policies import PolicyName
from jpo.records.notes import Note, codes_of
from jpo.records.words import as_document


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference of the user: how much time, cost, efficiency, validation loss and energy matter; weights in 0..1 that sum to 1.

    A worse loss is penalised under every preference; a weight of `loss` says that a better one is worth something too. With a
    weight of `energy`, what a run costs are its joules instead of its money: money and energy are traded by the price of a kWh.
    """

    time: float = 0.5
    cost: float = 0.5
    efficiency: float = 0.0
    loss: float = 0.0
    energy: float = 0.0

    def __post_init__(self) -> None:
        weights = (self.time, self.cost, self.efficiency, self.loss, self.energy)
        if not all(math.isfinite(w) and 0 <= w <= 1 for w in weights):
            values = ", ".join(f"{f.name}={getattr(self, f.name)}" for f in fields(self))
            raise ValueError(f"weights must be in 0..1, found {values}")
        if abs(sum(weights) - 1) > 1e-6:
            raise ValueError(f"weights sum to {sum(weights):g}; they must sum to 1")
        if self.cost and self.energy:
            raise ValueError(
                "cost and energy both have a weight; weigh cost alone, with the price of energy in [prices] usd_per_kwh"
            )

    @property
    def paid(self) -> float:
        """The weight of what a run costs, in money or in energy."""
        return self.cost + self.energy


NAMED_PREFERENCES: Mapping[str, Preference] = {
    "time": Preference(1.0, 0.0, 0.0),
    "cost": Preference(0.0, 1.0, 0.0),
    "efficiency": Preference(0.0, 0.0, 1.0),
    "balanced": Preference(0.5, 0.5, 0.0),
}


COVERAGE = 0.9
"""Share of outcomes that intervals should hold, unless they say otherwise."""
HALF_WIDTH = NormalDist().inv_cdf((1 + COVERAGE) / 2)
"""Standard deviations from the middle of such an interval to either end."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval of a forecast: its mean, and bounds that should hold the outcome in COVERAGE of all cases."""

    mean: float
    low: float
    high: float


def share_interval(hits: int, of: int, *, level: float = COVERAGE) -> Interval:
    """A share with its confidence interval, which is wide for few cases and holds the share itself.

    Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927 (score interval); Brown, Cai
    and DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 2001.

    Raises ValueError: not 0 <= hits <= of, or `of` is 0.
    """
    if not 0 <= hits <= of or not of:
        raise ValueError(f"{hits} of {of} is not a share")
    z, share = NormalDist().inv_cdf(0.5 + level / 2), hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of one run: by quantity of `Outcome`; None where no evidence supports a number."""

    duration_seconds: Interval | None = None
    cost_usd: Interval | None = None
    val_loss: Interval | None = None
    throughput_samples_per_second: Interval | None = None
    memory_gib: Interval | None = None
    gpu_utilisation: Interval | None = None
    cpu_utilisation: Interval | None = None
    val_accuracy: Interval | None = None
    energy_joules: Interval | None = None
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    """Of the user's own metrics, those of which something is known."""

    def of(self, quantity: str) -> Interval | None:
        """The forecast of a quantity, or of a metric of the user's own; None: unknown."""
        known: Interval | None = getattr(self, quantity) if quantity in FORECAST else self.metrics.get(quantity)
        return known

    def having(self, values: Mapping[str, Interval | None]) -> "Forecast":
        """The forecast with these quantities in place of its own, the user's own metrics among them."""
        own = {name: value for name, value in values.items() if name not in FORECAST and value}
        named = {name: value for name, value in values.items() if name in FORECAST}
        return replace(self, metrics={**self.metrics, **own}, **named)

    @property
    def document(self) -> dict[str, Any]:
        """By quantity mean and bounds or None, as JSON has it; see SOME_MEASURE."""
        return {name: value for name, value in as_document(self).items() if value or name not in SOME_MEASURE}

    @property
    def by_quantity(self) -> dict[str, Any]:
        """The same with the user's own metrics among the quantities."""
        own: dict[str, Any] = as_document(self)["metrics"]
        return {**{name: value for name, value in self.document.items() if name != "metrics"}, **own}

    @property
    def known(self) -> dict[str, Interval]:
        """By quantity what is known, the user's own metrics last."""
        return {**{name: value for name in FORECAST if (value := getattr(self, name)) is not None}, **self.metrics}


SOME_MEASURE = frozenset({"val_accuracy", "energy_joules", "metrics"})
"""What only some jobs measure; a document leaves it out where it is unknown."""
FORECAST = tuple(f.name for f in fields(Forecast) if f.name != "metrics")
"""Quantities of a forecast that are not the user's own."""


DecidedBy = PolicyName | Literal["user", "rollback", "recovery", "waiting", "no evidence"]


class Seen(StrEnum):
    """Number that the agent saw of its choice and of the workload, each by its published key; what people read, reports say."""

    COST_AGAINST_TODAY = "expected cost against today"
    COST_AGAINST_BEST = "expected cost against the best known"
    FAILS = "chance that it fails"
    WORSE = "chance of more than 10 % worse than today"
    BETTER = "chance of better than the best known"
    BEST = "chance of being the best of all"
    IMPROVEMENT = "expected improvement of one run"
    SCORE = "score of the belief rule"
    RUNS_THERE = "runs there that ended well"
    FAILURES_THERE = "runs there that failed"
    RUNS = "finished runs"
    ADMISSIBLE = "admissible candidates"
    TRIED = "share of them tried"
    FITTING = "share of the simulated jobs that fits"
    NOISE = "noise of a run (sd of ln)"
    WIDENED_BY = "forecasts widened by"
    BUDGET_LEFT = "runs that exploring may still cost"
    LOSS_KEPT = "chance that it keeps the validation loss"
    """What a trial's confidence leaves out."""


ChangeKind = Literal["kept", "improvement", "trial", "return"]
"""What an answer is, the first word of its headline: today's values are kept; better values, with enough confidence; values
that are tried, within what trials may cost; or a way back to values that ended well."""


@dataclass(frozen=True, slots=True)
class RuleApplied:
    """Rule of docs/decision.md as it was applied: how many candidates it took away, and how many were left."""

    name: str
    code: str
    removed: int
    left: int


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of the agent: one candidate, which may be the configuration of today ("kept").

    Attributes:
        choice: row of the candidate set.
        confidence: chance, under the widened belief, of the claim that is made; at most 0.99, None if unknown. A trial claims to
            end well and to cost no more than a tenth more than today; where a promised loss comes first, a change claims to
            lower it. Any other change claims to be better than today, with the loss kept; keeping, that nothing that may be
            tried is better by more than noise.
        decided_by: a policy, "user" (set by hand), "rollback" (the last change did harm), "recovery" (no run has ended well),
            "waiting" (for the last suggestion's outcome) or "no evidence".
        reasons: a note for each thing that decided it, most important first.
        rules: what each rule took away, the one that chose last; empty where nothing was weighed.
        runs_saved: that SAC expects of its choice against the belief rule's, 0 where it is that; None where SAC had no say.
    """

    choice: int
    confidence: float | None
    decided_by: DecidedBy
    reasons: tuple[Note, ...]
    kind: ChangeKind = "kept"
    rules: tuple[RuleApplied, ...] = ()
    runs_saved: Interval | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        return codes_of(self.reasons)


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """Track record of the earlier forecasts of one quantity: how many have a finished run, and how many of these are `inside`
    their 90% interval. `median_error`: median of |actual / forecast - 1|, as a ratio.
    """

    quantity: str
    forecasts: int
    median_error: float
    inside: int


@dataclass(frozen=True, slots=True)
class Currency:
    """Currency in which amounts are shown; they are computed, stored and written to JSON in USD.

    `code`: ISO 4217, e.g. "EUR". `per_usd`: how much of it one USD is.
    """

    code: str = "USD"
    per_usd: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_usd) and self.per_usd > 0):
            raise ValueError(f"one USD is {self.per_usd} {self.code}; it must be a number above 0")


USD = Currency()
