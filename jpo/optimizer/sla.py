"""SLA targets, and what an hour is worth, held against everything that could be suggested: which candidates keep them, and why
none does.

What is not known breaks no target. It chooses nothing: of the candidates that are left, `advise` does.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from jpo.agent.safety.host_memory import MEMORY
from jpo.agent.safety.vetoes import Veto, too_little_memory_vetoes
from jpo.cost.comparison import trade_off
from jpo.cost.sla import edge
from jpo.errors import NothingAdmissible
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate
from jpo.records import USD, Belief, Bools, Candidates, Currency, Floats, Forecast, Interval
from jpo.wording import names, numbers


@dataclass(frozen=True, eq=False, slots=True)
class TargetForecast:
    """Forecast of an SLA target at every candidate: what is expected and whether the target is kept, shape (K,) each."""

    name: str
    limit: float
    expected: Floats
    kept: Bools
    currency: Currency = USD

    def best(self, rows: Bools) -> float:
        """What comes nearest to the limit among these candidates."""
        best = np.nanmin if names.target(self.name).at_most else np.nanmax
        return float(best(self.expected[rows]))

    def written(self, value: float) -> str:
        """The limit, or what is expected, with its unit."""
        return numbers.written(self.name, value, self.currency)


def target_forecasts(surrogate: Surrogate, request: Request) -> Iterator[TargetForecast]:
    """Forecasts of the SLA targets about which something is known; where nothing is known of a candidate (NaN), it keeps them."""
    for name, limit in request.wanted.targets.items():
        target = names.target(name)
        expected = surrogate.expected(target.quantity)
        if expected is not None:
            last = edge(target, limit)
            kept = ~(expected > last if target.at_most else expected < last)
            yield TargetForecast(name, limit, expected, kept, request.currency)


def within_sla(surrogate: Surrogate, request: Request) -> Candidates:
    """Candidates without those that are expected to break the SLA; a loss that today's values break too excludes none.

    Raises NothingAdmissible: JPO-E402, nothing is left; names the target and what comes nearest, or the targets that exclude each
    other.
    """
    allowed = surrogate.candidates.admissible
    targets = tuple(target for target in target_forecasts(surrogate, request) if not to_be_lowered(surrogate, target))
    for target in targets:
        if not (allowed & target.kept).any():
            remedy = "relax it, or widen the limits in [parameters]"
            raise NothingAdmissible(f"[sla] {target.name}", _out_of_reach(target, allowed), remedy, code="JPO-E402")
    keeps = np.logical_and.reduce([allowed, *(target.kept for target in targets)])
    if not keeps.any():
        remedy = "relax one of them, or widen the limits in [parameters]"
        raise NothingAdmissible("[sla]", _contradiction(targets, allowed), remedy, code="JPO-E402")
    return replace(surrogate.candidates, admissible=keeps)


def trade_vetoes(surrogate: Surrogate, request: Request) -> tuple[Veto, ...]:
    """Veto on what trades time for money, or money for time, at a price that the user's worth of an hour makes not acceptable.

    Today's row is never held; nothing is where an hour's worth, a time or a price is not known.
    """
    seconds, usd = surrogate.expected("duration_seconds"), surrogate.expected("cost_usd")
    if request.wanted.usd_per_saved_hour is None or seconds is None or usd is None:
        return ()
    pairs = zip(seconds.tolist(), usd.tolist(), strict=True)
    expected = [Forecast(_certain(duration), _certain(cost)) for duration, cost in pairs]
    now = expected[surrogate.candidates.current]
    trades = [trade_off(now, then, request.wanted.usd_per_saved_hour) for then in expected]
    rows = np.array([trade is not None and not trade.acceptable for trade in trades], dtype=np.bool_)
    worth = numbers.money(request.wanted.usd_per_saved_hour, request.currency)
    words = f"trades time and money at a price that is not acceptable: an hour is worth {worth} to you"
    return (Veto(rows, words, "JPO-I641", lasting=False),) if rows.any() else ()


def memory_vetoes(surrogate: Surrogate) -> tuple[Veto, ...]:
    """Veto on what is forecast to run out of host memory: of what it asks for, of the quota, or of this machine's."""
    if not surrogate.p_short_of_memory.any():
        return ()
    need = surrogate.demands[MEMORY].mean
    return too_little_memory_vetoes(
        surrogate.candidates, surrogate.belief, surrogate.p_short_of_memory, need, surrogate.memory_gib_there
    )


def _certain(mean: float) -> Interval | None:
    return None if math.isnan(mean) else Interval(mean, mean, mean)


def to_be_lowered(surrogate: Surrogate, target: TargetForecast) -> bool:
    """Whether it is a quality of the model that today's values break: what makes that better is welcome, see `loss_first`."""
    of_model = target.name in ("val_loss_max", "accuracy_min") or target.name not in names.TARGETS
    return of_model and not target.kept[surrogate.candidates.current]


def promised(belief: Belief, targets: Mapping[str, float]) -> tuple[str, float] | None:
    """The target that bounds the quality of a belief, and its last error that keeps it; None where there is none."""
    for name, limit in targets.items():
        target = names.target(name)
        if target.quantity == belief.quality.name and (error := belief.quality.error_of(edge(target, limit))) is not None:
            return name, error
    return None


def _out_of_reach(target: TargetForecast, allowed: Bools) -> str:
    """That nothing keeps a target, and what comes nearest."""
    limit, nearest = target.written(target.limit), target.written(target.best(allowed))
    if nearest == limit:
        nearest = f"a little {'more' if names.target(target.name).at_most else 'less'}"
    return f"no admissible configuration is expected to keep {limit}; the nearest expects {nearest}"


def _contradiction(targets: Sequence[TargetForecast], allowed: Bools) -> str:
    """Why targets that can be kept one by one cannot be kept together."""
    pairs = [(target, other) for target, other in combinations(targets, 2) if not (allowed & target.kept & other.kept).any()]
    if not pairs:
        return f"{', '.join(target.name for target in targets)} cannot be kept together, though any two of them can"
    target, other = pairs[0]
    texts = []
    for kept, broken in ((target, other), (other, target)):
        at_best = names.target(broken.name).at_best
        texts.append(f"what keeps {kept.name} {at_best} {broken.written(broken.best(allowed & kept.kept))}")
    both = " and ".join(f"{each.name} ({each.written(each.limit)})" for each in (target, other))
    return f"{both} contradict each other: {'; '.join(texts)}"
