"""Features of a sample as the models see them: sizes by their logarithm, each robustly scaled, near-duplicates left out.

CPU counts in cores, since half a core more is half a core more at any level; memory and traffic span decades and count by their
logarithm. What is constant, or says what another feature says already, is left out and named in `notes`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.traces import Floats

ALIKE = 0.98
"""Absolute rank correlation from which the later one of two features is a near-duplicate."""
SIGNIFICANT = 0.2
"""Share of a feature's level: usage within a few hundredths of it is steady."""
SMALLEST_BYTES = float(16 << 20)
"""Sizes below 16 MiB are alike: log(0) is none, and an interpreter that starts is one phase, whatever it has loaded."""
NORMAL_IQR = 1.349
"""Interquartile range of the standard normal distribution."""
NORMAL_90 = 3.290
"""Its range from the 5th to the 95th percentile."""


@dataclass(frozen=True, eq=False, slots=True)
class Scaler:
    """Robust scaling.

    Attributes:
        names: features of the raw values, shape (samples, names).
        kept: position in `names` of each scaled feature.
        centre, scale: of each kept feature, after the logarithm of sizes.
        notes: which features were left out, and why.
    """

    names: tuple[str, ...]
    kept: tuple[int, ...]
    centre: Floats
    scale: Floats
    notes: tuple[str, ...] = ()

    def transform(self, values: Floats) -> Floats:
        """Raw values, shape (samples, names), as scaled features, shape (samples, kept)."""
        return (levels(values, self.names)[..., list(self.kept)] - self.centre) / self.scale


def is_size(name: str) -> bool:
    return name.endswith(("_bytes", ".bytes"))


def levels(values: Floats, names: Sequence[str]) -> Floats:
    """Values with sizes as the natural logarithm of bytes, at least SMALLEST_BYTES."""
    by_log = np.array([is_size(name) for name in names])
    return np.where(by_log, np.log(np.maximum(values, SMALLEST_BYTES)), values)


def fit_scaler(values: Floats, names: Sequence[str], place: str = "traces") -> Scaler:
    """The scaler of these values, shape (samples, names). Raises UsageError: JPO-E735, every feature is constant."""
    level = levels(values, names)
    ranks = [_ranks(column) for column in level.T]
    kept: list[int] = []
    notes: list[str] = []
    for at, name in enumerate(names):
        if np.ptp(level[:, at]) <= 1e-9 * max(1.0, float(np.abs(level[:, at]).max())):
            notes.append(f"{name} is constant: left out")
            continue
        twin = next((other for other in kept if abs(np.corrcoef(ranks[other], ranks[at])[0, 1]) >= ALIKE), None)
        if twin is not None:
            notes.append(f"{name} says nearly what {names[twin]} says: left out")
            continue
        kept.append(at)
    if not kept:
        finding = f"every feature is constant ({', '.join(names)}): there are no phases to find"
        raise UsageError(place, finding, "name traces in which something changes", code="JPO-E735")
    scale = np.array([max(_spread(level[:, at]), _significant(level[:, at], names[at])) for at in kept])
    return Scaler(tuple(names), tuple(kept), np.median(level[:, kept], axis=0), scale, tuple(notes))


def _spread(level: Floats) -> float:
    """A standard deviation of the bulk: the larger of two robust ones, so that a long plateau does not make it nothing."""
    low, first, third, high = np.quantile(level, (0.05, 0.25, 0.75, 0.95))
    robust = max((third - first) / NORMAL_IQR, (high - low) / NORMAL_90)
    return float(robust if robust > 1e-6 * max(1.0, float(np.abs(level).max())) else level.std())


def _significant(level: Floats, name: str) -> float:
    """The least that counts as one standard deviation: the rest is how a collector counts ticks, or noise of steady usage."""
    return SIGNIFICANT if is_size(name) else SIGNIFICANT * float(np.quantile(np.abs(level), 0.95))


def _ranks(level: Floats) -> Floats:
    """For Spearman's correlation; ties by the order of the samples would blur plateaus, so equal values share a rank."""
    _, inverse, counts = np.unique(level, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return middle[inverse]
