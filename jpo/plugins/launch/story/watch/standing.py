"""How a run stands: a look at it, and what is on record of runs like it -> its end, its cost, its baseline, its SLA."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from jpo.cost import Prices, check_sla, usd_per_hour
from jpo.forecast.curves.curve import curve_of
from jpo.forecast.curves.end import total_seconds
from jpo.forecast.curves.target import epochs_ahead, epochs_ahead_by_pace
from jpo.plugins.launch.during import stop
from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.during.progress import RunProgress
from jpo.plugins.launch.during.stop import StopVerdict
from jpo.plugins.launch.report.watch.watched import BesideBaseline, WatchedRun
from jpo.plugins.launch.watching.past import PastRuns
from jpo.plugins.launch.watching.seen import SeenRun
from jpo.records import Currency, Forecast, Interval, Run, RunStatus, SlaCheck
from jpo.wording import numbers

SAME_AS_BEFORE = 0.03
"""Relative difference below which a run is as its baseline: two runs of one configuration differ by more."""
PERCENT_WORDS = {"duration_seconds": ("faster", "slower"), "cost_usd": ("cheaper", "dearer")}
MISSED = "JPO-W783"


@dataclass(frozen=True, slots=True)
class ProjectTerms:
    """What a project says about runs, as far as it matters to one that is watched."""

    prices: Prices
    currency: Currency
    targets: Mapping[str, float]


def progress_of(seen: SeenRun, past: PastRuns, prices: Prices) -> RunProgress | None:
    """The run as decisions see it; None while nobody knows when it began."""
    elapsed = seen.elapsed_seconds
    if elapsed is None:
        return None
    epochs, errors = epochs_of(seen), past.quality.errors_of(seen.curve(past.quality))
    while errors and not math.isfinite(errors[-1][1]) and not seen.diverged:
        errors.pop()  # a validation that measured nothing
    curve = curve_of(errors)
    training = elapsed if seen.trains_since is not None else 0.0  # of imports nothing says how slow its epochs are
    return RunProgress(
        elapsed,
        _total(seen, past),
        usd_per_hour(seen.parameters, prices),
        curve,
        seen.diverged,
        epochs,
        share_of(seen),
        seen.epochs.began_at,
        ahead=(curve and epochs_ahead(curve, past.reached))
        or epochs_ahead_by_pace(done_of(seen) or 0.0, training, past.longest_epoch_seconds, past.reached),
    )


def epochs_of(seen: SeenRun) -> float | None:
    """How many epochs it will have at most."""
    return seen.parameters.get("epochs")


def done_of(seen: SeenRun) -> float | None:
    """How many epochs are done, however its job counts them."""
    return None if seen.epochs_done is None else seen.epochs_done + seen.epochs.from_zero


def share_of(seen: SeenRun) -> float | None:
    """How much of its work is done."""
    epochs, done = epochs_of(seen), done_of(seen)
    if epochs and done is not None:
        return min(1.0, done / epochs)
    return seen.share_done


def _total(seen: SeenRun, past: PastRuns) -> Interval | None:
    elapsed, counted = seen.elapsed_seconds, seen.epochs
    assert elapsed is not None
    alike = [(seconds, None if done is None else done + counted.from_zero) for seconds, done in past.alike]
    return total_seconds(elapsed, counted.times, epochs_of(seen), alike, has_target=past.has_target)


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
    return WatchedRun(
        seen.run_id,
        seen.identity,
        seen.parameters,
        seen.source,
        seen.state.value,
        seen.at,
        seen.words,
        seen.place,
        seen.status.value if seen.status else None,
        seen.started_at,
        seen.starts_at,
        seen.ended_at,
        elapsed,
        done_of(seen),
        epochs_of(seen),
        share_of(seen),
        seen.samples_per_second,
        seen.busy_cpus,
        seen.busy_gpus,
        seen.memory_gib,
        past.quality.name,
        value=next((value for _, value in reversed(curve) if math.isfinite(value)), None),
        curve=tuple((epoch, value) for epoch, value in curve if math.isfinite(value)),
        final=final,
        total_seconds=total,
        ends_at=_from(seen.started_at, total),
        usd_so_far=_usd(rate, elapsed),
        usd_in_all=None if total is None or rate is None else _scaled(total, rate / 3600),
        basis=past.basis,
        compared=tuple(_compared(seen, past, _usd(rate, elapsed))),
        sla=checks,
        rival=past.rival.run_id if past.rival else None,
        wins=verdict.wins if verdict else None,
        why=f"Chance to win: {verdict.why}." if verdict else "",
        decisions=tuple(decisions),
        held=held,
        warnings=dict(_warnings(seen, checks, total, rate, final)),
        currency=terms.currency,
    )


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
    for quantity, (good, bad) in PERCENT_WORDS.items():
        yield _line(quantity, here[quantity], then[quantity], good, bad)
    values, earlier = (
        {epoch: value for epoch, value in curve if math.isfinite(value)}
        for curve in (seen.curve(past.quality), past.baseline_curve)
    )
    both = [epoch for epoch in values if epoch in earlier]
    if both:
        good, bad = ("worse", "better") if past.quality.more_is_better else ("better", "worse")
        yield _line(past.quality.name, values[both[-1]], earlier[both[-1]], good, bad)


def _then(seen: SeenRun, baseline: Sequence[tuple[Run, float | None]]) -> float | None:
    """What the baseline had spent when it was as far: after as many epochs, else at the same share of the whole."""
    counted, done, share = seen.epochs, done_of(seen), share_of(seen)
    values = []
    for run, amount in baseline:
        if amount and done and run.outcome.epochs:
            values.append(amount * (done - counted.began_at) / (run.outcome.epochs + counted.from_zero))
        elif amount and (share or seen.status is RunStatus.SUCCEEDED):
            values.append(amount * (share or 1.0))
    return fmean(values) if values else None


def _line(quantity: str, here: float | None, then: float | None, less: str, more: str) -> BesideBaseline:
    if here is None or then is None or here <= 0 or then <= 0 or not math.isfinite(here):
        return BesideBaseline(quantity, here if here is None or math.isfinite(here) else None, then, None, "unknown")
    ratio = here / then
    word = "as before" if abs(ratio - 1) <= SAME_AS_BEFORE else less if ratio < 1 else more
    return BesideBaseline(quantity, here, then, ratio, word)


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
    if seen.memory_gib is not None and seen.memory_gib > terms.targets.get("memory_max_gib", math.inf):
        expected = expected.having({"memory_gib": Interval(seen.memory_gib, seen.memory_gib, seen.memory_gib)})
    if final is not None:
        expected = expected.having({past.quality.name: final})
    return check_sla(terms.targets, expected)


def _warnings(
    seen: SeenRun, checks: Sequence[SlaCheck], total: Interval | None, rate: float | None, final: Interval | None
) -> Iterator[tuple[str, str]]:
    """A sentence for each target that will be, or may be, missed."""
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
        yield f"{check.name} = {numbers.written(check.name, check.limit)} {will}{forecast}", MISSED
