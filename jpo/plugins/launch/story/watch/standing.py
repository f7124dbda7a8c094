"""How a run stands: a look at it, and what is on record of runs like it -> its end, its cost, its baseline, its SLA."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from jpo.cost import Prices, check_sla, usd_per_hour
from jpo.forecast.curves.curve import curve_of
from jpo.forecast.curves.target import epochs_ahead, epochs_ahead_by_pace
from jpo.plugins.launch.during import stop
from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.during.end_of_curve import total_seconds
from jpo.plugins.launch.during.progress import RunProgress
from jpo.plugins.launch.during.stop import StopVerdict
from jpo.plugins.launch.report.watch.watched import (
    BaselineComparison,
    BesideBaseline,
    QualityCurve,
    RunForecast,
    Verdict,
    WatchedRun,
    WinChance,
)
from jpo.plugins.launch.watching.past import PastRuns
from jpo.plugins.launch.watching.seen import SeenRun
from jpo.records import Currency, Forecast, Interval, Preference, Run, RunStatus, SlaCheck
from jpo.records.notes import Note
from jpo.wording import numbers

SAME_AS_BEFORE = 0.03
"""Relative difference below which a run is as its baseline: two runs of one configuration differ by more."""
MISSED = "JPO-W783"


@dataclass(frozen=True, slots=True)
class ProjectTerms:
    """What a project says about runs, as far as it matters to one that is watched."""

    prices: Prices
    currency: Currency
    targets: Mapping[str, float]
    preference: Preference


def progress_of(seen: SeenRun, past: PastRuns, prices: Prices) -> RunProgress | None:
    """The run as decisions see it; None while nobody knows when it began."""
    elapsed = seen.elapsed_seconds
    if elapsed is None:
        return None
    epochs, errors = seen.epochs_planned, past.quality.errors_of(seen.curve(past.quality))
    while errors and not math.isfinite(errors[-1][1]) and not seen.diverged:
        errors.pop()  # a validation that measured nothing
    curve = curve_of(errors)
    training = elapsed if seen.times.trains_since is not None else 0.0  # of imports nothing says how slow its epochs are
    return RunProgress(
        elapsed,
        _total(seen, past),
        usd_per_hour(seen.parameters, prices),
        curve,
        seen.diverged,
        epochs,
        seen.share_done,
        seen.epochs.began_at,
        ahead=(curve and epochs_ahead(curve, past.reached))
        or epochs_ahead_by_pace(seen.epochs_done or 0.0, training, past.longest_epoch_seconds, past.reached),
    )


def _total(seen: SeenRun, past: PastRuns) -> Interval | None:
    elapsed, counted = seen.elapsed_seconds, seen.epochs
    assert elapsed is not None
    alike = [(seconds, None if done is None else done + counted.from_zero) for seconds, done in past.alike]
    return total_seconds(elapsed, counted.times, seen.epochs_planned, alike, has_target=past.has_target)


def final_of(progress: RunProgress | None, past: PastRuns) -> Interval | None:
    """The quality of its model after the last epoch; None where too few curves support a forecast."""
    final = None if progress is None else stop.final_of(progress, past.finished)
    return None if final is None else past.quality.interval_of(final.interval())


def standing(
    seen: SeenRun,
    past: PastRuns,
    progress: RunProgress | None,
    terms: ProjectTerms,
    verdict: StopVerdict | None,
    decisions: Sequence[Adjustment] = (),
    held: str = "",
) -> WatchedRun:
    """All that is said of a run at one look."""
    total = None if progress is None or seen.over else progress.total_seconds
    rate = usd_per_hour(seen.parameters, terms.prices)
    elapsed, final = seen.elapsed_seconds, None if seen.over else final_of(progress, past)
    curve = seen.curve(past.quality)
    checks = _sla(seen, total, rate, final, past, terms)
    usd_in_all = None if total is None or rate is None else _scaled(total, rate / 3600)
    return WatchedRun(
        seen,
        QualityCurve(past.quality.name, tuple((epoch, value) for epoch, value in curve if math.isfinite(value))),
        RunForecast(total, _from(seen.times.started_at, total), usd_in_all, final),
        usd_so_far=_usd(rate, elapsed),
        baseline=BaselineComparison(past.basis, tuple(_compared(seen, past, _usd(rate, elapsed)))),
        sla=checks,
        chance=_chance(past, verdict),
        decisions=tuple(decisions),
        held=held,
        warnings=tuple(_warnings(seen, checks, total, rate, final)),
        currency=terms.currency,
    )


def _chance(past: PastRuns, verdict: StopVerdict | None) -> WinChance:
    rival = past.rival.run_id if past.rival else None
    return WinChance(rival, verdict.wins, f"Chance to win: {verdict.why}.") if verdict else WinChance(rival)


def _usd(rate: float | None, seconds: float | None) -> float | None:
    return None if rate is None or seconds is None else rate * seconds / 3600


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.mean * factor, interval.low * factor, interval.high * factor)


def _from(start: float | None, total: Interval | None) -> Interval | None:
    return None if start is None or total is None else Interval(start + total.mean, start + total.low, start + total.high)


def _compared(seen: SeenRun, past: PastRuns, usd: float | None) -> Iterator[BesideBaseline]:
    """Time, money and quality next to the baseline's at the same progress."""
    if not past.baseline:
        return
    then = {
        "duration_seconds": _then(seen, [(run, run.outcome.duration_seconds) for run, _ in past.baseline]),
        "cost_usd": _then(seen, past.baseline),
    }
    here = {"duration_seconds": seen.elapsed_seconds, "cost_usd": usd}
    for quantity, amount in here.items():
        yield _line(quantity, amount, then[quantity])
    values, earlier = (
        {epoch: value for epoch, value in curve if math.isfinite(value)}
        for curve in (seen.curve(past.quality), past.baseline_curve)
    )
    both = [epoch for epoch in values if epoch in earlier]
    if both:
        yield _line(past.quality.name, values[both[-1]], earlier[both[-1]], more_is_better=past.quality.more_is_better)


def _then(seen: SeenRun, baseline: Sequence[tuple[Run, float | None]]) -> float | None:
    """What the baseline had spent when it was as far: after as many epochs, else at the same share of the whole."""
    counted, done, share = seen.epochs, seen.epochs_done, seen.share_done
    values = []
    for run, amount in baseline:
        if amount and done and run.outcome.epochs:
            values.append(amount * (done - counted.began_at) / (run.outcome.epochs + counted.from_zero))
        elif amount and (share or seen.status is RunStatus.SUCCEEDED):
            values.append(amount * (share or 1.0))
    return fmean(values) if values else None


def _line(quantity: str, here: float | None, then: float | None, *, more_is_better: bool = False) -> BesideBaseline:
    if here is None or then is None or here <= 0 or then <= 0 or not math.isfinite(here):
        return BesideBaseline(quantity, here if here is None or math.isfinite(here) else None, then, None, "unknown")
    ratio = here / then
    changed: Verdict = "better" if (ratio > 1) == more_is_better else "worse"
    return BesideBaseline(quantity, here, then, ratio, "same" if abs(ratio - 1) <= SAME_AS_BEFORE else changed)


def _sla(
    seen: SeenRun, total: Interval | None, rate: float | None, final: Interval | None, past: PastRuns, terms: ProjectTerms
) -> tuple[SlaCheck, ...]:
    """The targets against what it will come to; what it has spent already can break one whatever is forecast."""
    elapsed = seen.elapsed_seconds
    spent = None if elapsed is None else Interval(elapsed, elapsed, elapsed)
    limit = terms.targets.get("time_max", math.inf)
    time = total or (spent if seen.over or (elapsed is not None and elapsed > limit) else None)
    cost = None if rate is None else _scaled(time, rate / 3600) if time else None
    if rate is not None and cost is None and spent and _scaled(spent, rate / 3600).mean > terms.targets.get("cost_max", math.inf):
        cost = _scaled(spent, rate / 3600)
    expected = Forecast(duration_seconds=time, cost_usd=cost)
    if seen.use.memory_gib is not None and seen.use.memory_gib > terms.targets.get("memory_max_gib", math.inf):
        expected = expected.having({"memory_gib": Interval(seen.use.memory_gib, seen.use.memory_gib, seen.use.memory_gib)})
    if final is not None:
        expected = expected.having({past.quality.name: final})
    return check_sla(terms.targets, expected)


def _warnings(
    seen: SeenRun, checks: Sequence[SlaCheck], total: Interval | None, rate: float | None, final: Interval | None
) -> Iterator[Note]:
    """A note for each target that will be, or may be, missed."""
    expected = {
        "time_max": ("duration_seconds", total),
        "accuracy_min": ("val_accuracy", final),
        "val_loss_max": ("val_loss", final),
    }
    expected["cost_max"] = ("cost_usd", None if total is None or rate is None else _scaled(total, rate / 3600))
    for check in checks:
        if check.verdict not in ("broken", "at risk"):
            continue
        will = "is missed" if seen.over else "will be missed" if check.verdict == "broken" else "may be missed"
        quantity, interval = expected.get(check.name, ("", None))
        forecast = f": {numbers.expected(quantity, interval, bounds=True)} expected" if interval else ""
        yield Note(MISSED, f"{check.name} = {numbers.written(check.name, check.limit)} {will}{forecast}", check.name)
