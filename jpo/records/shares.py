"""Shares of cases with their confidence interval: of forecasts that held, of runs that met their SLA."""

from __future__ import annotations

import math
from statistics import NormalDist

from jpo.records.decisions import Interval


def share_interval(hits: int, of: int, *, level: float = 0.9) -> Interval:
    """A share with its confidence interval, which is wide for few cases and holds the share itself.

    Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927 (score interval); Brown, Cai
    and DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 2001.

    Raises:
        ValueError: not 0 <= hits <= of, or `of` is 0.
    """
    if not 0 <= hits <= of or not of:
        raise ValueError(f"{hits} of {of} is no share")
    z, share = NormalDist().inv_cdf(0.5 + level / 2), hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))
