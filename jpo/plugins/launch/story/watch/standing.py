"""How a run stands: a look at it, and what is on record of runs like it -> its end, its cost, its baseline, its SLA."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from jpo.cost import Prices, check_sla, usd_per_hour
from jpo.cost.comparison import usd_of
from jpo.forecast.curves.curve import curve_of
from jpo.plugins.launch.during import stop
from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.during.end_of_curve import total_seconds
from jpo.plugins.launch.during.progress import RunProgress
from jpo.plugins.launch.during.stop import StopVerdict
from jpo.plugins.launch.report.watch.watched import BesideBaseline, QualityCurve, RunForecast, Verdict, WatchedRun, WinChance
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
    counted = seen.epochs
    alike = [(seconds, None if done is None else done + counted.from_zero) for seconds, done in past.alike]
    return RunProgress(
        elapsed,
        total_seconds(elapsed, counted.times, epochs, alike, has_target=past.has_target),
        usd_per_hour(seen.parameters, prices),
        curve,
        seen.diverged,
        epochs,
        seen.share_done,
        counted.began_at,
    )


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
    rate, elapsed = usd_per_hour(seen.parameters, terms.prices), seen.elapsed_seconds
    usd = None if rate is None or elapsed is None else rate * elapsed / 3600
    forecast = RunForecast() if progress is None or seen.over else _forecast(seen, progress, past, rate)
    checks = _sla(seen, forecast, rate, past, terms)
    rival = past.rival.run_id if past.rival else None
    curve = tuple((epoch, value) for epoch, value in seen.curve(past.quality) if math.isfinite(value))
    return WatchedRun(
        seen,
        QualityCurve(past.quality.name, curve),
        forecast,
        usd_so_far=usd,
        basis=past.basis,
        compared=tuple(_compared(seen, past, usd)),
        sla=checks,
        chance=WinChance(rival, verdict.wins, f"Chance to win: {verdict.why}.") if verdict else WinChance(rival),
        decisions=tuple(decisions),
        held=held,
        warnings=tuple(_warnings(seen, checks, forecast)),
        currency=terms.currency,
    )


def _forecast(seen: SeenRun, progress: RunProgress, past: PastRuns, rate: float | None) -> RunForecast:
    total, start, final = progress.total_seconds, seen.times.started_at, stop.final_of(progress, past.finished)
    ends = None if start is None or total is None else Interval(start + total.mean, start + total.low, start + total.high)
    return RunForecast(total, ends, usd_of(total, rate), None if final is None else past.quality.interval_of(final.interval()))


def _compared(seen: SeenRun, past: PastRuns, usd: float | None) -> Iterator[BesideBaseline]:
    """Time, money and quality next to the baseline's at the same progress."""
    if not past.baseline:
        return
    seconds = [(run, run.outcome.duration_seconds) for run, _ in past.baseline]
    yield _line("duration_seconds", seen.elapsed_seconds, _then(seen, seconds))
    yield _line("cost_usd", usd, _then(seen, past.baseline))
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


def _sla(seen: SeenRun, forecast: RunForecast, rate: float | None, past: PastRuns, terms: ProjectTerms) -> tuple[SlaCheck, ...]:
    """The targets against what it will come to; what it has spent already can break one whatever is forecast."""

    def used(amount: float | None) -> Interval | None:
        return None if amount is None else Interval(amount, amount, amount)

    def beyond(target: str, used: Interval | None) -> Interval | None:
        return used if used and used.mean > terms.targets.get(target, math.inf) else None

    spent, memory = used(seen.elapsed_seconds), beyond("memory_max_gib", used(seen.use.memory_gib))
    time = forecast.total_seconds or (spent if seen.over else beyond("time_max", spent))
    expected = Forecast(time, usd_of(time, rate) or beyond("cost_max", usd_of(spent, rate)), memory_gib=memory)
    return check_sla(terms.targets, expected.having({past.quality.name: forecast.final} if forecast.final else {}))


def _warnings(seen: SeenRun, checks: Sequence[SlaCheck], forecast: RunForecast) -> Iterator[Note]:
    """A note for each target that will be, or may be, missed."""
    expected = {
        "time_max": ("duration_seconds", forecast.total_seconds),
        "cost_max": ("cost_usd", forecast.usd_in_all),
        "accuracy_min": ("val_accuracy", forecast.final),
        "val_loss_max": ("val_loss", forecast.final),
    }
    for check in checks:
        if check.verdict not in ("broken", "at risk"):
            continue
        will = "is missed" if seen.over else "will be missed" if check.verdict == "broken" else "may be missed"
        quantity, interval = expected.get(check.name, ("", None))
        said = f": {numbers.expected(quantity, interval, bounds=True)} expected" if interval else ""
        yield Note(MISSED, f"{check.name} = {numbers.written(check.name, check.limit)} {will}{said}", check.name)
