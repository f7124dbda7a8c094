"""SLA targets: their meaning, and their checks against forecasts and against the outcomes of runs.

SLA_TARGETS says which quantity each target of [sla] limits. A new target is also a key in
project/tables/promises.py, a sign in wording/names.py, words in optimizer/sla.py and a limit, a fact
and a rule of the guard (constraints/limits.py, rules.py; facts come from project/proposal.py); of runs that go on _sla and
_warnings in plugins/launch/story/watch/standing.py. Its quantity is a field of records.Forecast and Outcome; a new one is also in
wording/names.OUTCOMES, forecast/demand.py, report/suggestion_schema.py, history/migrations.py and postgres/schema.py, and
constraints/own.py. An unknown value neither meets nor breaks a target.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from jpo.cost.price import Prices, outcome_of
from jpo.records import Forecast, Interval, Run, RunStatus, SlaCheck, share_interval

MOST_MISSED = 1.0
"""Largest miss of one target, as a natural log: beyond e times the limit, worse is equally to be avoided."""
ROUNDING = 1e-9
"""Relative, as in the guard: a forecast is a mean of logs, and differs in the last digit from the equal runs that it rests on."""


@dataclass(frozen=True, slots=True)
class SlaTarget:
    """The meaning of a target of [sla].

    Attributes:
        quantity: the field of Outcome and Forecast that it limits.
        at_most: the limit is the largest value that meets it; else the smallest.
        only_grows: a run that did not reach its end may have broken it already; about other targets such a run says nothing.
    """

    quantity: str
    at_most: bool
    only_grows: bool = False

    def edge(self, limit: float) -> float:
        """The last value that meets the target: one that is beyond the limit by rounding alone breaks nothing."""
        return limit + (ROUNDING if self.at_most else -ROUNDING) * abs(limit)

    def keeps(self, value: float, limit: float) -> bool:
        """Whether a value meets the target at this limit."""
        return value <= self.edge(limit) if self.at_most else value >= self.edge(limit)


SLA_TARGETS: Mapping[str, SlaTarget] = {
    "time_max": SlaTarget("duration_seconds", at_most=True, only_grows=True),
    "cost_max": SlaTarget("cost_usd", at_most=True, only_grows=True),
    "throughput_min": SlaTarget("throughput_samples_per_second", at_most=False),
    "memory_max_gib": SlaTarget("memory_gib", at_most=True, only_grows=True),
    "gpu_util_min": SlaTarget("gpu_utilisation", at_most=False),
    "cpu_util_min": SlaTarget("cpu_utilisation", at_most=False),
    "val_loss_max": SlaTarget("val_loss", at_most=True),
    "accuracy_min": SlaTarget("val_accuracy", at_most=False),
}
"""The targets by their name in [sla], in the order of reports."""


def sla_target(name: str) -> SlaTarget:
    """The target of a name in [sla]; of another name, NAME_min or NAME_max, that of a metric of the user's own."""
    return SLA_TARGETS.get(name) or SlaTarget(name[: -len("_min")], at_most=name.endswith("_max"))


def check_sla(targets: Mapping[str, float], expected: Forecast) -> tuple[SlaCheck, ...]:
    """The targets checked against a forecast: its mean breaks one, or only the far end of its interval does ("at risk")."""
    return tuple(SlaCheck(name, limit, _expected(name, limit, expected)) for name, limit in targets.items())


def check_run(targets: Mapping[str, float], run: Run, prices: Prices) -> tuple[SlaCheck, ...]:
    """The targets checked against the outcome of a run; never "at risk"."""
    return tuple(SlaCheck(name, limit, _measured(name, limit, run, prices)) for name, limit in targets.items())


def kept_all(verdicts: Iterable[str]) -> str:
    """What the checks of a run say together: "broken" if one is, "ok" if all are, else "unknown"; empty without any."""
    given = set(verdicts)
    return "broken" if "broken" in given else "ok" if given == {"ok"} else "unknown" if given else ""


def measured(name: str, run: Run, prices: Prices) -> float | None:
    """The value of a run that a target limits: measured, or the cost from time and prices; None: unknown."""
    return outcome_of(run, sla_target(name).quantity, prices)


def missed(targets: Mapping[str, float], run: Run, prices: Prices) -> float:
    """The total by which a run missed its targets, as natural logs of ratios to the limits: 0.7 = twice a limit, 0.0 = none.

    Each counts MOST_MISSED at most. Where a limit or value is not above zero, the difference relative to the limit counts.
    """
    broken = [check for check in check_run(targets, run, prices) if check.verdict == "broken"]
    return sum(_beyond(check, measured(check.name, run, prices)) for check in broken)


def slack(targets: Mapping[str, float], run: Run, prices: Prices) -> float | None:
    """Smallest natural log by which a run stayed within its targets, below 0 where it broke one; None: nothing is known."""
    logs = []
    for name, limit in targets.items():
        value = measured(name, run, prices)
        if value is not None and value > 0 and limit > 0:
            logs.append(math.log(limit / value) if sla_target(name).at_most else math.log(value / limit))
    return min(logs, default=None)


@dataclass(frozen=True, slots=True)
class ComplianceRate:
    """The share of cases in which targets were met.

    Attributes:
        kept, known: cases in which they were met, of those in which that is known.
        share: the ratio with its 90% interval; None when nothing is known.
    """

    kept: int
    known: int

    @property
    def share(self) -> Interval | None:
        return None if self.known == 0 else share_interval(self.kept, self.known)


@dataclass(frozen=True, slots=True)
class Compliance:
    """The compliance of runs with an SLA.

    Attributes:
        runs: those that broke nothing, of those with at least one known check.
        pairs: targets met, of all known checks of all runs; as checks of one run are correlated, its interval is too narrow.
        targets: the runs that met each target, by name.
    """

    runs: ComplianceRate
    pairs: ComplianceRate
    targets: Mapping[str, ComplianceRate]

    def of(self, name: str) -> ComplianceRate:
        """The runs that met a target; of none where no run was held against it."""
        return self.targets.get(name, ComplianceRate(0, 0))


def compliance(checked: Iterable[Iterable[SlaCheck]]) -> Compliance:
    runs = [list(checks) for checks in checked]
    names = {check.name for checks in runs for check in checks}
    ordered = [*(name for name in SLA_TARGETS if name in names), *sorted(names - SLA_TARGETS.keys())]  # as in reports
    verdicts = [{check.name: check.verdict != "broken" for check in checks if check.verdict != "unknown"} for checks in runs]
    return Compliance(
        runs=_rate(all(kept.values()) for kept in verdicts if kept),
        pairs=_rate(kept for run in verdicts for kept in run.values()),
        targets={name: _rate(run[name] for run in verdicts if name in run) for name in ordered},
    )


def _rate(answers: Iterable[bool]) -> ComplianceRate:
    verdicts = list(answers)
    return ComplianceRate(sum(verdicts), len(verdicts))


def _expected(name: str, limit: float, expected: Forecast) -> Literal["ok", "at risk", "broken", "unknown"]:
    target = sla_target(name)
    interval: Interval | None = expected.of(target.quantity)
    if interval is None:
        return "unknown"
    if not target.keeps(interval.mean, limit):
        return "broken"
    return "ok" if target.keeps(interval.high if target.at_most else interval.low, limit) else "at risk"


def _measured(name: str, limit: float, run: Run, prices: Prices) -> Literal["ok", "broken", "unknown"]:
    target, value = sla_target(name), measured(name, run, prices)
    if value is None:
        return "unknown"
    if target.keeps(value, limit):
        return "ok" if run.status is RunStatus.SUCCEEDED else "unknown"
    return "broken" if run.status is RunStatus.SUCCEEDED or target.only_grows else "unknown"


def _beyond(check: SlaCheck, value: float | None) -> float:
    assert value is not None, "an unknown value breaks nothing"
    worse, better = (value, check.limit) if sla_target(check.name).at_most else (check.limit, value)
    if better > 0:
        return min(MOST_MISSED, math.log(worse) - math.log(better))
    return min(MOST_MISSED, (worse - better) / abs(check.limit)) if check.limit else MOST_MISSED
