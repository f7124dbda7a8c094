"""Did what suggestions claimed come true? What followed each change is held against the runs before it that had the old values.

Means of few runs are compared, so that what is claimed of configurations seems to come true a little less often than it does.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from jpo.agent.safety.risk import WORSE
from jpo.commands.doctor.case import Case
from jpo.cost import Prices
from jpo.cost.price import run_cost_usd
from jpo.forecast.calibration import COVERAGE, FEWEST
from jpo.project.collect import LEDGER_RUNS, past_forecasts
from jpo.project.prices import prices_of
from jpo.project.request import qualities_of, quality_floor, quality_of
from jpo.records import BETTER_QUALITY, Quality, Run, RunStatus, Seen, Suggestion, same, share_interval
from jpo.report.doctor import Line
from jpo.wording import names, numbers

WELL, KEPT, DEARER, BETTER = "ends well", "quality kept", "no more than a tenth dearer", "better than today"
"""What a change claims."""
Claim = tuple[float, bool]
"""A stated chance, and whether what it was stated of came true."""


def claims(case: Case) -> Iterator[Line]:
    """Of each claim how likely it was said to be, and how often it was true; of intervals, how many runs were inside."""
    if (identity := case.identity) is None:
        return
    with case.history() as store:
        recorded, prices = store.recorded_runs(identity, limit=LEDGER_RUNS), prices_of(case.settings)
        runs, floor = [entry.run for entry in recorded], quality_floor(case.settings) or 0.0
        quality = quality_of(case.settings, runs, qualities_of(case.settings, runs))
        claimed: dict[str, list[Claim]] = {what: [] for what in (WELL, KEPT, DEARER, BETTER)}
        for made in store.suggestions_of(identity, limit=LEDGER_RUNS):
            after = [entry.run for entry in recorded if entry.suggestion_id == made.suggestion_id]
            before = [run for run in runs if run.ended_at <= made.created_at]
            for what, claim in came_true(made, before, after, prices, quality, floor):
                claimed[what].append(claim)
        for past in past_forecasts(store, recorded, prices):
            if past.quantity in names.objectives([past.quantity]):
                inside = [(COVERAGE, at < past.inside) for at in range(past.forecasts)]
                claimed[f"{names.heading(past.quantity)} inside its interval"] = inside
    if any(claimed.values()):
        yield from (line(what, some) for what, some in claimed.items())
    else:
        yield Line("claims", "ok", "no run has followed a change yet")


def line(what: str, some: Sequence[Claim]) -> Line:
    """Claimed and came true; unknown where there are too few cases."""
    if len(some) < FEWEST:
        return Line(what, "unknown", f"{numbers.counted(len(some), 'case')}; {FEWEST} say something")
    claimed, true = fmean(chance for chance, _ in some), share_interval(sum(came for _, came in some), len(some))
    shares = f"claimed {numbers.percent(claimed)}, came true {numbers.percent(true.mean)}"
    finding = f"{shares} of {len(some)} cases ({numbers.between('share', true.low, true.high)})"
    return Line(what, "warning" if claimed > true.high else "ok", finding)


def came_true(
    made: Suggestion, before: Sequence[Run], after: Sequence[Run], prices: Prices, quality: Quality, floor: float
) -> Iterator[tuple[str, Claim]]:
    """Each claim of a change, with its chance and whether it came true, as far as runs say so."""
    ended = [run for run in after if run.status is not RunStatus.STOPPED]
    chance, seen = made.decision.confidence, made.prospects.seen
    if not (ended and made.changes):
        return
    old = [run for run in before if run.ended_well and same(made.values.current, {**made.values.current, **run.parameters})]
    well = [run for run in ended if run.ended_well]
    if Seen.FAILS in seen:
        yield WELL, (1 - seen[Seen.FAILS], ended[0].ended_well)
    worse = _difference([_log_error(run, quality) for run in old], [_log_error(run, quality) for run in well])
    kept = worse is None or worse <= math.log1p(floor)
    if Seen.LOSS_KEPT in seen and worse is not None:
        yield KEPT, (seen[Seen.LOSS_KEPT], kept)
    dearer = _difference([_weighed(run, made, prices) for run in old], [_weighed(run, made, prices) for run in well])
    if chance is None or made.having(BETTER_QUALITY) or (well and dearer is None):
        return
    if made.decision.kind == "trial":
        yield DEARER, (chance, dearer is not None and dearer <= WORSE)
    else:
        yield BETTER, (chance, dearer is not None and dearer < 0 and kept)


def _difference(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Of the means of what is known; None where one side knows nothing."""
    means = [fmean(known) for side in (after, before) if (known := [each for each in side if each is not None])]
    return means[0] - means[1] if len(means) == 2 else None


def _log_error(run: Run, quality: Quality) -> float | None:
    error = quality.error_of(run.outcome.of(quality.name))
    return math.log(error) if error and error > 0 else None


def _weighed(run: Run, made: Suggestion, prices: Prices) -> float | None:
    """ln of time and cost as they are weighed; None where something with a weight is not known."""
    preference, seconds = made.decision.preference, run.outcome.duration_seconds
    paid = run.outcome.energy_joules if preference.energy else run_cost_usd(run.completed(made.values.current), prices)
    if not seconds or preference.efficiency or preference.loss or (preference.paid and not paid):
        return None
    return preference.time * math.log(seconds) + preference.paid * math.log(paid or 1.0)
