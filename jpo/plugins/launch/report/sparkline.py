"""A curve in one line of text: "▇▅▃▂▁▁"."""

import math
from collections.abc import Sequence

LEVELS = "▁▂▃▄▅▆▇█"
WIDEST = 40


def sparkline(values: Sequence[float], width: int = WIDEST) -> str:
    """Values in order, the smallest as the lowest sign; of more than `width` each sign is the mean of neighbours.

    Values that are not finite are blanks; empty where there is none that is.
    """
    count = min(len(values), width)
    groups = [values[len(values) * n // count : len(values) * (n + 1) // count] for n in range(count)]
    means = [math.fsum(group) / len(group) for group in groups]
    known = [mean for mean in means if math.isfinite(mean)]
    if not known:
        return ""
    low, height = min(known), max(known) - min(known)
    levels = [-1 if not math.isfinite(mean) else round((mean - low) / (height or 1.0) * (len(LEVELS) - 1)) for mean in means]
    return "".join(" " if level < 0 else LEVELS[level] for level in levels)
