"""SLA targets: their meaning, and their checks against forecasts and against the outcomes of runs.

A new target is a line of TARGETS in wording/names.py, one of SLA in constraints/sla.py, which is the guard's, and a key in
project/tables/promises.py, docs/jpo-toml.md and docs/weighing.md; a row in the test_sla.py of tests/cost and tests/constraints.
Of runs that go on also _sla and _warnings in plugins/launch/story/watch/standing.py; of qualities of the model facts_of in
project/proposal.py, to_be_lowered in optimizer/sla.py, cost/thresholds.py and project/unreported.py. Its quantity is a field of
records.Forecast and Outcome; a new one is also in OUTCOMES of wording/names.py, forecast/demand.py,
report/suggestion_schema.py, history/migrations.py, history/postgres/schema.py and constraints/own.py, and if it is newly
measured in telemetry/outcome.py and OUTCOME_LIMITS of forecast/evidence/plausibility.py; shown by USE in report/prediction.py,
MORE_IS_BETTER in commands/compare.py. What contradicts [parameters] is refused by `can_be_kept` in project/settings.py. An
unknown value neither meets nor breaks a target.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from jpo.cost.price import Prices, outcome_of
from jpo.records import Forecast, Interval, Run, RunStatus, SlaCheck, share_interval
from jpo.wording import names

MOST_MISSED = 1.0
"""Largest miss of one target, as a natural log: beyond e times the limit, worse is equally to be avoided."""
ROUNDING = 1e-9
"""Relative, as in the guard: a forecast is a mean of logs, and differs in the last digit from the equal runs that it rests on."""


def edge(target: names.Target, limit: float) -> float:
    """The last value that meets a target: one that is beyond the limit by rounding alone breaks nothing."""
    return limit + (ROUNDING if target.at_most else -ROUNDING) * abs(limit)


def keeps(target: names.Target, value: float, limit: float) -> bool:
    """Whether a value meets a target at this limit."""
    return value <= edge(target, limit) if target.at_most else value >= edge(target, limit)


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
    return outcome_of(run, names.target(name).quantity, prices)


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
            logs.append(math.log(limit / value) if names.target(name).at_most else math.log(value / limit))
    return min(logs, default=None)


@dataclass(frozen=True, slots=True)
class ComplianceRate:
    """The share of cases in which targets were met: `kept` of `known` ones, with its 90% interval; None when nothing is known."""

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
    held = {check.name for checks in runs for check in checks}
    ordered = [*(name for name in names.TARGETS if name in held), *sorted(held - names.TARGETS.keys())]  # as in reports
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
    target = names.target(name)
    interval: Interval | None = expected.of(target.quantity)
    if interval is None:
        return "unknown"
    if not keeps(target, interval.mean, limit):
        return "broken"
    return "ok" if keeps(target, interval.high if target.at_most else interval.low, limit) else "at risk"


def _measured(name: str, limit: float, run: Run, prices: Prices) -> Literal["ok", "broken", "unknown"]:
    target, value = names.target(name), measured(name, run, prices)
    if value is None:
        return "unknown"
    if keeps(target, value, limit):
        return "ok" if run.status is RunStatus.SUCCEEDED else "unknown"
    return "broken" if run.status is RunStatus.SUCCEEDED or target.only_grows else "unknown"


def _beyond(check: SlaCheck, value: float | None) -> float:
    assert value is not None, "an unknown value breaks nothing"
    worse, better = (value, check.limit) if names.target(check.name).at_most else (check.limit, value)
    if better > 0:
        return min(MOST_MISSED, math.log(worse) - math.log(better))
    return min(MOST_MISSED, (worse - better) / abs(check.limit)) if check.limit else MOST_MISSED
