"""The worth of a saved hour: does a more expensive configuration pay for someone to whom an hour is worth a given amount?"""

from __future__ import annotations

from jpo.cost import CostComparison


def worth_it(comparison: CostComparison, hour_usd: float) -> bool | None:
    """Whether a change pays at this worth of an hour; None: unknown. A slower configuration may pay too, if it is cheaper."""
    if comparison.usd_more is None or comparison.seconds_saved is None:
        return None
    return comparison.usd_more <= hour_usd * comparison.seconds_saved.mean / 3600
