"""Question of a deadline or a budget: how the rows of a prediction fare against it, and the answer in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from jpo.agent.safety.queue_waits import QueueWaits
from jpo.cost import CostComparison, Prices, compare
from jpo.errors import UsageError
from jpo.optimizer.explain.alternatives import FEWEST
from jpo.optimizer.prediction import Answer, Option, Row, label
from jpo.optimizer.prediction_rows import RowBasis, further_rows
from jpo.optimizer.question import Question
from jpo.records import HALF_WIDTH, USD, Currency, Interval, same
from jpo.wording import numbers


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds that were asked for: a maximum of seconds, a maximum of USD, or both.

    With a deadline the cheapest row that keeps to it is wanted, with a budget alone the fastest.

    `queue`: in which a run waits before it starts; against a deadline that counts as running does. None: nobody said.
    """

    seconds: float | None
    usd: float | None
    currency: Currency = USD
    queue: QueueWaits | None = None

    def kept(self, row: Row) -> bool:
        """Whether the row is expected to keep to all of it; what is unknown keeps to nothing."""
        return all(self.mean_of(row, name) <= most for name, most in self._asked())

    def wait_seconds(self, row: Row) -> float:
        """How long a run of the row would wait, where that counts; infinite, where one run cannot have so much.

        Of an amount that the engine did not tell: as long as less of it would, at least; 0 where nobody said anything.
        """
        if self.queue is None or self.seconds is None or (asked := row.parameters.get(self.queue.resource)) is None:
            return 0.0
        if self.queue.most is not None and asked > self.queue.most:
            return math.inf
        less = (wait for amount, wait in self.queue.waits.items() if amount < asked)
        return self.queue.waits[asked] if asked in self.queue.waits else max(less, default=0.0)

    def interval_of(self, row: Row, name: str) -> Interval | None:
        """A forecast, of time from now to the end; None where nothing is, or it would never start."""
        interval: Interval | None = getattr(row.expected.forecast, name)
        wait = self.wait_seconds(row) if name == "duration_seconds" else 0.0
        if interval is None or math.isinf(wait):
            return None
        return Interval(interval.mean + wait, interval.low + wait, interval.high + wait)

    def mean_of(self, row: Row, name: str) -> float:
        """Its mean; infinite where nothing is."""
        interval = self.interval_of(row, name)
        return math.inf if interval is None else interval.mean

    def order(self, row: Row) -> tuple[float, float]:
        """The smallest is wanted most. Where no cost is known, the fastest."""
        seconds, usd = self.mean_of(row, "duration_seconds"), self.mean_of(row, "cost_usd")
        return (seconds, usd) if self.seconds is None else (usd, seconds)

    def miss(self, row: Row) -> float:
        """Largest miss of a bound, as ln of a ratio; below 0 if the row keeps to all, inf if unknown."""
        asked = [(self.mean_of(row, name), most) for name, most in self._asked()]
        return max(math.log(mean / most) if mean else -math.inf for mean, most in asked)

    def probability(self, row: Row) -> float:
        """Probability that a run keeps to all of it. Both hang on its time, so that the less likely decides."""
        left = {"duration_seconds": self.wait_seconds(row)}
        return min(_below(getattr(row.expected.forecast, name), most - left.get(name, 0.0)) for name, most in self._asked())

    def words(self, row: Row, *, met: bool) -> str:
        """The answer in a sentence; `row` is the answer, or what comes nearest."""
        asked = " and ".join(f"{_VERBS[name]} {numbers.written(name, most, self.currency)}" for name, most in self._asked())
        if self.miss(row) == math.inf:
            return f"Whether anything would {asked} is unknown: no run, trial or similar workload supports a number."
        intervals = {name: getattr(row.expected.forecast, name) for name in ("duration_seconds", "cost_usd")}
        waits = {"duration_seconds": f" after {numbers.duration(wait)} in the queue"} if (wait := self.wait_seconds(row)) else {}
        parts = ", ".join(
            numbers.expected(name, interval, bounds=True, currency=self.currency) + waits.get(name, "")
            for name, interval in intervals.items()
            if interval
        )
        if not met:
            return f"No admissible configuration is expected to {asked}; the nearest is {label(row)}: {parts}."
        best = "The fastest" if self.seconds is None else "The cheapest"
        if math.isinf(self.mean_of(row, "cost_usd")):
            best = "Prices are unknown; the fastest"
        sure = numbers.percent(likely) if (likely := self.probability(row)) <= 0.99 else "> 99%"
        return f"{best} that is expected to {asked}: {label(row)}, {parts}; the probability is {sure}."

    def _asked(self) -> list[tuple[str, float]]:
        pairs = (("duration_seconds", self.seconds), ("cost_usd", self.usd))
        return [(name, most) for name, most in pairs if most is not None]


_VERBS = {"duration_seconds": "be done within", "cost_usd": "cost at most"}


def _below(interval: Interval | None, most: float) -> float:
    """Probability of at most so much, log-normally spread as the interval says."""
    if interval is None:
        return 0.0
    if interval.low <= 0 or interval.high <= interval.low:
        return float(interval.mean <= most)
    if most <= 0:
        return 0.0
    deviation = math.log(interval.high / interval.low) / (2 * HALF_WIDTH)
    return NormalDist(math.log(interval.mean), deviation).cdf(math.log(most))


def answer_to(question: Question, bounds: Bounds, rows: Sequence[Row], basis: RowBasis) -> tuple[tuple[Row, ...], Answer]:
    """The rows with those that the answer names, and the answer.

    It is one of the rows of --vary, else of all that have the values of --set.

    Raises UsageError: JPO-E824, a budget where the cost of no row is known.
    """
    pool = rows if question.varied else [*rows, *further_rows(rows, basis, spot=question.spot)]
    pool = [row for row in pool if same(row.parameters, question.chosen)]
    if bounds.usd is not None and all(row.expected.forecast.cost_usd is None for row in pool):
        finding, remedy = "what runs cost is unknown: no price is known, or no time", "name prices in [prices], or give --trials"
        raise UsageError("--max-cost", finding, remedy, code="JPO-E824")
    keeping = sorted((row for row in pool if row.allowed and bounds.kept(row)), key=bounds.order)
    nearest = min((row for row in pool if row.allowed), key=bounds.miss, default=min(pool, key=bounds.miss))
    best = keeping[0] if keeping else nearest
    timely = replace(bounds, usd=None)
    faster = faster_than(best, [row for row in pool if row.allowed and timely.kept(row)], basis.request.prices, bounds)
    shown = (*rows, *(row for row in (best, *(row for row, _ in faster)) if row not in rows))
    supported = math.isfinite(bounds.miss(best)) or bool(keeping)
    return shown, Answer(
        deadline_seconds=bounds.seconds,
        max_cost_usd=bounds.usd,
        met=bool(keeping),
        row=shown.index(best) if supported else None,
        probability=bounds.probability(best) if supported else None,
        words=bounds.words(best, met=bool(keeping)),
        options=tuple(option_of(shown.index(row), comparison) for row, comparison in faster),
    )


def faster_than(best: Row, rows: Sequence[Row], prices: Prices, bounds: Bounds) -> list[tuple[Row, CostComparison]]:
    """What is done sooner than the answer and more expensive, and sooner than all that costs less."""
    faster: list[tuple[Row, CostComparison]] = []
    fastest = bounds.mean_of(best, "duration_seconds")
    for row in sorted(rows, key=lambda row: bounds.mean_of(row, "cost_usd")):
        if bounds.mean_of(row, "duration_seconds") < fastest:
            fastest = bounds.mean_of(row, "duration_seconds")
            before, after = (bounds.interval_of(each, "duration_seconds") for each in (best, row))
            comparison = compare(best.parameters, row.parameters, prices, before_duration=before, after_duration=after)
            usd, then = best.expected.forecast.cost_usd, row.expected.forecast.cost_usd  # each by its own prices, spot or not
            faster.append((row, replace(comparison, cost_usd_before=usd, cost_usd_after=then)))
    return faster[:FEWEST]


def option_of(index: int, comparison: CostComparison) -> Option:
    """An alternative for the table."""
    saved = comparison.seconds_saved
    assert saved is not None, "its time is known: it is faster"
    return Option(index, saved.mean, comparison.usd_more, comparison.usd_per_saved_hour)
