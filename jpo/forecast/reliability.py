"""Reliability of chances: what was claimed with them, and how often that came true.

Source: Brier, "Verification of Forecasts Expressed in Terms of Probability", Monthly Weather Review 1950; Murphy and Winkler,
"Reliability of Subjective Probability Forecasts of Precipitation and Temperature", JRSS C 1977 (reliability diagram).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

WELL, KEPT, DEARER, BETTER = "ends well", "quality kept", "no more than a tenth dearer", "better than today"
"""What a change claims, as the rows of reports name it."""
BINS = 5
"""Equally wide parts of 0..1, each of which has a point in a reliability diagram."""

Claim = tuple[float, bool]
"""A stated chance, and whether what it was stated of came true."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability of some claims: the mean chance, the share that came true, and the mean square of the difference."""

    cases: int
    claimed: float
    came_true: float
    brier: float


def reliability(claims: Sequence[Claim]) -> Reliability:
    """The reliability of at least one claim."""
    chances, true = zip(*claims, strict=True)
    return Reliability(len(claims), fmean(chances), fmean(true), fmean((chance - came) ** 2 for chance, came in claims))


def by_chance(claims: Sequence[Claim]) -> Iterator[Reliability]:
    """The points of a reliability diagram: of each of the BINS, by rising chance, that has any claim."""
    for part in range(BINS):
        if some := [claim for claim in claims if min(int(claim[0] * BINS), BINS - 1) == part]:
            yield reliability(some)
