"""The SLA: what runs promise, held against what is expected of them and against what came of them.

SLA_TARGETS is the one table that says what each promise of [sla] means. What is not known neither keeps nor breaks a promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from jpo.cost.price import Prices, outcome_of
from jpo.records import Forecast, Interval, Run, RunStatus, SlaCheck

MOST_MISSED = 1.0
"""A promise counts as missed by this at most, as a natural log: beyond e times the limit, worse is equally to be avoided."""
ROUNDING = 1e-9
"""Relative, as in the guard: a forecast is a mean of logs, of equal runs not to the last digit what each of them took."""


@dataclass(frozen=True, slots=True)
class SlaTarget:
    """What a promise of [sla] is about.

    Attributes:
        quantity: the field of Outcome and Forecast that it limits.
        at_most: the limit is the largest value that keeps it; else the smallest.
        only_grows: a run that did not get to its end may have broken it already; of the others such a run says nothing.
    """

    quantity: str
    at_most: bool
    only_grows: bool = False

    def edge(self, limit: float) -> float:
        """The furthest value that keeps it: what lies beyond the limit by rounding alone breaks nothing."""
        return limit + (ROUNDING if self.at_most else -ROUNDING) * abs(limit)

    def keeps(self, value: float, limit: float) -> bool:
        return value <= self.edge(limit) if self.at_most else value >= self.edge(limit)


SLA_TARGETS: Mapping[str, SlaTarget] = {
    "time_max": SlaTarget("duration_seconds", at_most=True, only_grows=True),
    "cost_max": SlaTarget("cost_usd", at_most=True, only_grows=True),
    "throughput_min": SlaTarget("throughput_samples_per_second", at_most=False),
    "memory_max_gib": SlaTarget("memory_gib", at_most=True, only_grows=True),
    "gpu_util_min": SlaTarget("gpu_utilisation", at_most=False),
    "cpu_util_min": SlaTarget("cpu_utilisation", at_most=False),
    "val_loss_max": SlaTarget("val_loss", at_most=True),
}
"""Every promise by its name in [sla], in the order of reports."""


def check_sla(targets: Mapping[str, float], expected: Forecast) -> tuple[SlaCheck, ...]:
    """Each promise held against a forecast: its mean breaks it, or only the far end of its interval ("at risk"), or neither."""
    return tuple(SlaCheck(name, limit, _expected(name, limit, expected)) for name, limit in targets.items())


def check_run(targets: Mapping[str, float], run: Run, prices: Prices) -> tuple[SlaCheck, ...]:
    """Each promise held against what was measured; never "at risk"."""
    return tuple(SlaCheck(name, limit, _measured(name, limit, run, prices)) for name, limit in targets.items())


def measured(name: str, run: Run, prices: Prices) -> float | None:
    """What a promise is held against: the run's own value, or the cost that its time and prices make; None: not known."""
    return outcome_of(run, SLA_TARGETS[name].quantity, prices)


def missed(targets: Mapping[str, float], run: Run, prices: Prices) -> float:
    """By how much a run broke its promises together, as natural logs of ratios to the limits: 0.0 = by nothing, 0.7 = twice one.

    Each counts MOST_MISSED at most. Where a limit or value is not above zero there is no ratio: the difference counts, relative
    to the limit.
    """
    broken = [check for check in check_run(targets, run, prices) if check.verdict == "broken"]
    return sum(_beyond(check, measured(check.name, run, prices)) for check in broken)


@dataclass(frozen=True, slots=True)
class Kept:
    """How often something was kept.

    Attributes:
        kept, known: in how many cases, of those in which it is known.
        share: the ratio with its 90% interval; None when nothing is known.
    """

    kept: int
    known: int

    @property
    def share(self) -> Interval | None:
        return None if self.known == 0 else _wilson(self.kept, self.known)


@dataclass(frozen=True, slots=True)
class Compliance:
    """How runs kept to an SLA.

    Attributes:
        runs: those that broke nothing, of those about which at least one promise is known.
        pairs: promises kept, of all promises of all runs that are known. Those of one run go together: its interval is too narrow
            to be shown.
        targets: the runs that kept each promise, by name.
    """

    runs: Kept
    pairs: Kept
    targets: Mapping[str, Kept]

    def of(self, name: str) -> Kept:
        """How often a target was kept; never, of none, where no run was held against it."""
        return self.targets.get(name, Kept(0, 0))


def compliance(checked: Iterable[Iterable[SlaCheck]]) -> Compliance:
    """The SLA's account over runs, each given by its checks."""
    runs = [list(checks) for checks in checked]
    promised = {check.name for checks in runs for check in checks}
    verdicts = [{check.name: check.verdict != "broken" for check in checks if check.verdict != "unknown"} for checks in runs]
    return Compliance(
        runs=_kept(all(known.values()) for known in verdicts if known),
        pairs=_kept(kept for known in verdicts for kept in known.values()),
        targets={name: _kept(known[name] for known in verdicts if name in known) for name in SLA_TARGETS if name in promised},
    )


def _kept(answers: Iterable[bool]) -> Kept:
    kept = list(answers)
    return Kept(sum(kept), len(kept))


def _wilson(kept: int, known: int) -> Interval:
    """A share with its 90% interval. Source: Wilson, JASA 1927; Brown, Cai and DasGupta, "Interval Estimation", 2001."""
    z = NormalDist().inv_cdf(0.95)
    share, shrink = kept / known, 1 + z**2 / known
    middle = (share + z**2 / (2 * known)) / shrink
    half = z * math.sqrt(share * (1 - share) / known + z**2 / (4 * known**2)) / shrink
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def _expected(name: str, limit: float, expected: Forecast) -> Literal["ok", "at risk", "broken", "unknown"]:
    promise = SLA_TARGETS[name]
    interval: Interval | None = getattr(expected, promise.quantity)
    if interval is None:
        return "unknown"
    if not promise.keeps(interval.mean, limit):
        return "broken"
    return "ok" if promise.keeps(interval.high if promise.at_most else interval.low, limit) else "at risk"


def _measured(name: str, limit: float, run: Run, prices: Prices) -> Literal["ok", "broken", "unknown"]:
    promise, value = SLA_TARGETS[name], measured(name, run, prices)
    if value is None:
        return "unknown"
    if promise.keeps(value, limit):
        return "ok" if run.status is RunStatus.SUCCEEDED else "unknown"
    return "broken" if run.status is RunStatus.SUCCEEDED or promise.only_grows else "unknown"


def _beyond(check: SlaCheck, value: float | None) -> float:
    assert value is not None, "what is not known breaks nothing"
    worse, better = (value, check.limit) if SLA_TARGETS[check.name].at_most else (check.limit, value)
    if better > 0:
        return min(MOST_MISSED, math.log(worse) - math.log(better))
    return min(MOST_MISSED, (worse - better) / abs(check.limit)) if check.limit else MOST_MISSED
