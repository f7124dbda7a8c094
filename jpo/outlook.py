"""What is to be expected of the configurations that a workload could run: candidates, belief, and a forecast for each.

Here simulator, belief and prices meet for everybody who looks ahead: `advise` chooses from an outlook, `jpo predict` and
`jpo pareto` show it. No store, no file, no clock: the same arguments give the same outlook, in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from jpo.agent.action import followed, propose_candidates
from jpo.agent.rows import row_of, rows_of
from jpo.cost import Prices, log_rate, usd_per_hour
from jpo.forecast import predict
from jpo.forecast.widening import one_step_ahead, widening
from jpo.prior import Prior, believe, prior_of, thinned
from jpo.records import Belief, Candidates, Forecast, Preference, Run

Values = Mapping[str, float]

FEW = 250
"""Simulated jobs in the beliefs of the calibration watch: 250 and more were measured to be equal within 3 %."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants and allows.

    Attributes:
        free: parameters that may change.
        admissible: the guard's word on (today's, proposed) values.
        choices, scales, follow: see `propose_candidates`.
        promises: what the SLA promises, by the names of [sla].
        explore, confidence: see `decide`.
    """

    free: Collection[str]
    admissible: Callable[[Values, Values], bool]
    preference: Preference
    prices: Prices = field(default_factory=Prices)
    choices: Mapping[str, Sequence[float]] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)
    follow: Mapping[str, str] = field(default_factory=dict)
    promises: Mapping[str, float] = field(default_factory=dict)
    explore: Literal["off", "safe", "on"] = "safe"
    confidence: float = 0.9


@dataclass(frozen=True, eq=False, slots=True)
class Outlook:
    """What is known and believed of a workload's candidates.

    Attributes:
        runs: the workload's finished runs, oldest first.
        prior: what was believed before them.
        widen: by how much the belief was too sure of itself, at least 1 (see `forecast.widening`).
        prices: what resources cost.
    """

    candidates: Candidates
    belief: Belief
    runs: Sequence[Run]
    prior: Prior
    widen: float
    prices: Prices

    def forecast(self, row: int) -> Forecast:
        """What is expected of one run of a candidate, with 90 % intervals."""
        rate = usd_per_hour(self.candidates.parameters(row), self.prices)
        return predict(self.belief, row, usd_per_hour=rate, widen=self.widen)

    def row(self, values: Values) -> int:
        """The candidate with these values, which must be there."""
        return row_of(self.candidates, values)


def look_ahead(
    current: Values,
    runs: Sequence[Run],
    wishes: Wishes,
    *,
    seed: int,
    others: Sequence[Run] = (),
    asked: Sequence[Values] = (),
    widen: float | None = None,
) -> Outlook:
    """The outlook of a workload.

    Args:
        current: today's values by parameter name.
        runs: finished runs of this workload, oldest first.
        others: runs of other workloads, which have a say in what is believed before the first run.
        asked: configurations to look at whether or not they are admissible; each names all parameters of `current`.
        widen: the factor of the calibration watch where it is known; None: as the forecasts of the last runs say.
    """
    candidates = collect(current, runs, wishes)
    for values in asked:
        candidates = with_row(candidates, values, wishes.prices)
    prior = prior_of(candidates, seed, others)
    widen = calibration(prior, candidates, runs) if widen is None else widen
    return Outlook(candidates, believe(prior, candidates, runs), runs, prior, widen, wishes.prices)


def collect(current: Values, runs: Sequence[Run], wishes: Wishes) -> Candidates:
    """The candidate set of a workload."""
    candidates = propose_candidates(
        current,
        runs,
        free=wishes.free,
        admissible=lambda proposed: wishes.admissible(current, proposed),
        log_rate=lambda values: log_rate(values, wishes.prices),
        choices=wishes.choices,
        scales=wishes.scales,
        follow=wishes.follow,
    )
    return replace(candidates, priced=usd_per_hour(current, wishes.prices) is not None)


def with_row(candidates: Candidates, values: Values, prices: Prices) -> Candidates:
    """The set with one more configuration, which is not admissible unless it was a candidate before."""
    if rows_of(candidates, values).size:
        return candidates
    now = candidates.parameters(candidates.current)
    return replace(
        candidates,
        values=np.vstack([candidates.values, [values[name] for name in candidates.names]]),
        admissible=np.append(candidates.admissible, False),
        log_rate=np.append(candidates.log_rate, log_rate(values, prices) - log_rate(now, prices)),
    )


def with_followers(chosen: Values, today: Values, wishes: Wishes) -> dict[str, float]:
    """Today's configuration with some values changed by hand, and what follows them."""
    rules = {name: rule for name, rule in wishes.follow.items() if name in wishes.free and name not in chosen}
    return dict(followed({**today, **chosen}, today, rules))


def calibration(prior: Prior, candidates: Candidates, runs: Sequence[Run]) -> float:
    """By how much forecasts must be widened, as the last runs say, each forecast from those before it: 1.0 = not at all."""
    few = thinned(prior, FEW)  # one belief per run that is looked back upon
    return widening(one_step_ahead(lambda known: believe(few, candidates, known), candidates, runs))
