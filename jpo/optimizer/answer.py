"""Answer to a what-if question: the row that keeps to it, else the nearest one, and what is faster but more expensive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from jpo.cost import CostComparison, Prices, compare
from jpo.errors import UsageError
from jpo.optimizer.prediction import Answer, Option, Row
from jpo.optimizer.prediction_rows import RowBasis, further_rows
from jpo.optimizer.question import Question
from jpo.optimizer.what_if import Bounds
from jpo.records import same

MOST_OPTIONS = 3


def answer_to(question: Question, bounds: Bounds, rows: Sequence[Row], basis: RowBasis) -> tuple[tuple[Row, ...], Answer]:
    """The rows with those that the answer names, and the answer.

    It is one of the rows of --vary, else of all that have the values of --set.

    Raises:
        UsageError: JPO-E824, a budget where the cost of no row is known.
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
    return faster[:MOST_OPTIONS]


def option_of(index: int, comparison: CostComparison) -> Option:
    """An alternative for the table."""
    saved = comparison.seconds_saved
    assert saved is not None, "its time is known: it is faster"
    return Option(index, saved.mean, comparison.usd_more, comparison.usd_per_saved_hour)
