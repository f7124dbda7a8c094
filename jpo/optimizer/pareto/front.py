"""Front: measured runs and predicted configurations of one workload on two to four objectives, and which of them are worth it.

The record that text, JSON and picture are made of, and the words which they share.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from jpo.cost.comparison import TradeOff
from jpo.optimizer.surrogate import FailureChance
from jpo.records import NO_EVIDENCE, QUALITIES, USD, Currency, Evidence, Identity, Interval, Note, Quality
from jpo.wording import names, numbers
from jpo.wording.names import short


@dataclass(frozen=True, slots=True)
class Point:
    """Point of a front: one configuration.

    Attributes:
        runs: finished runs whose medians the values are; 0 = predicted.
        values: by quantity; of a predicted one the mean of the forecast, and empty where nothing supports a number.
        bounds: 90% intervals of the forecast; empty for a measured one.
        on_front: it is measured, and no measured point is as good in everything and better in something.
        on_expected_front: no point is, predicted ones included.
        marks: "today", "suggested"; `preferred`: the preferences that lead there, by name.
        failure: chance that a run fails, and where that comes from; None: unknown.
        breaks: targets of [sla] which it breaks, or is expected to.
        trade: of time against money, expected against today's values; None: there is none, or an hour's worth is not known.
    """

    parameters: Mapping[str, float]
    runs: int
    values: Mapping[str, float]
    bounds: Mapping[str, Interval] = field(default_factory=dict)
    on_front: bool = False
    on_expected_front: bool = False
    marks: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    failure: FailureChance | None = None
    breaks: tuple[str, ...] = ()
    trade: TradeOff | None = None

    @property
    def marked(self) -> bool:
        return bool(self.marks or self.preferred)


class Unshown(NamedTuple):
    """Why runs or candidates are not among the points; `lacking`: the quantities without which runs are."""

    why: Literal["failed", "unmeasured", "unforecast", "risky", "crowded"]
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Volumes:
    """Hypervolume up to the reference point, in the product of the quantities' units; more is better.

    Attributes:
        reference: the reference point, by quantity.
        measured: of the measured points.
        expected: of them and all predicted ones as expected; `unlucky`: at the worse ends of their intervals.
    """

    reference: Mapping[str, float]
    measured: float
    expected: float
    unlucky: float


@dataclass(frozen=True, slots=True)
class Front:
    """Front as `jpo pareto` shows it.

    Attributes:
        objectives: name on the command line -> quantity, a field of Forecast; see `maximised`.
        points: measured ones first, each kind by the first objective; of the predicted ones only those on the front or marked.
        today: the values of config.ini.
        suggested: what `jpo suggest` would choose from what is on record; None: nothing admissible.
        because: who decided, and why; or why nothing is admissible.
        preferences: where each preference would go, by name.
        volumes: None without a reference point: before the first measured point, where none was given.
        left_out: why runs and candidates are not among the points -> how many.
        evidence: what it rests on, with what else the reader must know.
        metric: the user's own, where there is one.
    """

    workload: Identity
    objectives: Mapping[str, str]
    points: tuple[Point, ...]
    today: Mapping[str, float]
    suggested: Mapping[str, float] | None
    because: Note
    preferences: Mapping[str, Mapping[str, float]]
    volumes: Volumes | None
    left_out: Mapping[Unshown, int]
    evidence: Evidence = NO_EVIDENCE
    currency: Currency = USD
    metric: Quality | None = None

    @property
    def quantities(self) -> tuple[str, ...]:
        return tuple(self.objectives.values())

    def maximised(self, quantity: str) -> bool:
        """Whether more of an objective is better."""
        return maximised(quantity, self.metric)

    def points_of_kind(self, *, measured: bool) -> tuple[Point, ...]:
        """Points that were measured, or predicted."""
        return tuple(point for point in self.points if bool(point.runs) is measured)


def maximised(quantity: str, metric: Quality | None) -> bool:
    """Whether more of it is better; `metric`: the user's own, which says so itself."""
    return quantity.endswith("_utilisation") or any(
        quality.name == quantity and quality.more_is_better for quality in (*QUALITIES, metric) if quality is not None
    )


def unit_of(quantity: str, largest: float, currency: Currency) -> tuple[float, str]:
    """What values up to `largest` are multiplied with to be shown on one scale, and the unit; "" where there is none."""
    if quantity == "duration_seconds":
        return (1 / 3600, "h") if largest >= 7200 else (1 / 60, "min") if largest >= 120 else (1.0, "s")
    if quantity == "cost_usd":
        return currency.per_usd, currency.code
    return (100.0, "%") if quantity.endswith("_utilisation") else (1.0, "")


def measured_volume(front: Front, volumes: Volumes) -> str:
    """The hypervolume of the measured points on the scales of the reference point, with its unit: 4.56 h × USD."""
    scales = [unit_of(quantity, limit, front.currency) for quantity, limit in volumes.reference.items()]
    amount = f"{volumes.measured * math.prod(factor for factor, _ in scales):.4g}"
    unit = " × ".join(unit or names.heading(name) for name, (_, unit) in zip(front.quantities, scales, strict=True))
    return f"{amount} {unit}"


def gain(volume: float, measured: float) -> str:
    """How much more a hypervolume is than the measured one, in per cent of that."""
    if volume == measured:
        return "nothing"
    if not measured:
        return "all of it"
    more = 100 * (volume / measured - 1)
    if more < 0.1:
        return "less than 0.1%"
    return f"{more:.0f}%" if more >= 10 else f"{more:.2g}%"


def difference(values: Mapping[str, float], today: Mapping[str, float], *, sign: str = " ") -> str:
    """What differs from today, in short: "batch 64, lr 0.03"; "as today" where nothing does."""
    parts = [f"{short(name)}{sign}{numbers.plain(value)}" for name, value in values.items() if value != today[name]]
    return ", ".join(parts) or "as today"
