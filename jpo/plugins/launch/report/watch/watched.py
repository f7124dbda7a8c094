"""A run that is watched: how far it is, what it may take and cost, next to its baseline and its SLA, and what is decided."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from jpo.plugins.launch.during.adjustment import Adjustment, Saving
from jpo.plugins.launch.during.adjustment import as_json as adjustment_as_json
from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.watching.seen import Points, SeenRun
from jpo.records import USD, Currency, Interval, Note, SlaCheck, in_order, plain_values, uncoded
from jpo.report.document import Cell, Column, Document, Items, Row, Span, Table, estimate
from jpo.report.headline import VERDICTS
from jpo.wording import names, numbers

Verdict = Literal["better", "worse", "same", "unknown"]
WORDS = {"duration_seconds": ("faster", "slower"), "cost_usd": ("cheaper", "dearer")}
"""For a quantity that is better, and worse, than the baseline's; of others these very words."""


@dataclass(frozen=True, slots=True)
class BesideBaseline:
    """A quantity next to the baseline's at the same progress; None: unknown."""

    quantity: str
    here: float | None
    baseline: float | None
    ratio: float | None
    verdict: Verdict

    @property
    def word(self) -> str:
        """The verdict as it is shown and published: faster, slower, cheaper, dearer, better, worse, "as before", or "unknown"."""
        better, worse = WORDS.get(self.quantity, ("better", "worse"))
        return {"better": better, "worse": worse, "same": "as before", "unknown": "unknown"}[self.verdict]


@dataclass(frozen=True, slots=True)
class QualityCurve:
    """Learning curve of a run, in numbers alone, and the quality of its model that it shows."""

    quality: str
    points: Points = ()

    @property
    def value(self) -> float | None:
        """The newest."""
        return self.points[-1][1] if self.points else None


@dataclass(frozen=True, slots=True)
class RunForecast:
    """What a run that goes on will come to: seconds, unix seconds, USD, its quality after the last epoch. None: unknown."""

    total_seconds: Interval | None = None
    ends_at: Interval | None = None
    usd_in_all: Interval | None = None
    final: Interval | None = None


@dataclass(frozen=True, slots=True)
class WinChance:
    """Chance of a run to beat the best run so far, the rival, where it was computed, and why."""

    rival: str | None = None
    wins: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run at one look, and what is said of it.

    Attributes:
        basis: which runs its baseline is ("": there is none); `compared`: it next to them, quantity by quantity.
        decisions: what was decided about it so far; `held`: why nothing is carried out just now.
    """

    seen: SeenRun
    learning: QualityCurve
    forecast: RunForecast = RunForecast()
    usd_so_far: float | None = None
    basis: str = ""
    compared: tuple[BesideBaseline, ...] = ()
    sla: tuple[SlaCheck, ...] = ()
    chance: WinChance = WinChance()
    decisions: tuple[Adjustment, ...] = ()
    held: str = ""
    warnings: tuple[Note, ...] = ()
    currency: Currency = USD


def document(run: WatchedRun) -> Document:
    """How it stands, beside its baseline, its SLA, and the decisions."""
    seen, parameters = run.seen, run.seen.parameters
    head = f"{seen.source}{f' on {seen.place}' if seen.place else ''}"
    values = ", ".join(f"{names.short(name)} {numbers.written(name, parameters[name])}" for name in in_order(parameters))
    return Document(
        ("Run ", Span(seen.run_id)),
        (
            ("Workload ", Span(str(seen.identity)), f"   {values}" if values else ""),
            (Span(standing(seen)), f"   {head}", f"   {seen.words}" if seen.words else ""),
            Table((Column(""), Column("", "prose")), tuple(_facts(run)), "run"),
            _beside(run),
            Table(
                (Column("SLA"), Column("limit", "figure"), Column("forecast")),
                tuple(
                    (check.name, Cell(check.limit, check.name), Span(check.verdict, VERDICTS[check.verdict])) for check in run.sla
                ),
                "sla",
            ),
            run.chance.why,
            Items(tuple(decision(each, run.currency) for each in run.decisions)),
            run.held,
            *uncoded(warning.cited for warning in run.warnings),
        ),
        currency=run.currency,
    )


def standing(seen: SeenRun) -> str:
    """Its state in a word or two."""
    if seen.state is JobState.ENDED:
        return f"ended: {(seen.status.value if seen.status else 'how is not known').replace('_', ' ')}"
    return seen.state.value


def _facts(run: WatchedRun) -> Iterator[Row]:
    """What is known of it, line by line; of what matters also that it is not known."""
    seen, times, forecast, curve = run.seen, run.seen.times, run.forecast, run.learning
    running = seen.state is JobState.RUNNING
    if times.starts_at is not None and seen.state is JobState.WAITING:
        yield "expected to start in", Cell(max(0.0, times.starts_at - seen.at), "duration_seconds")
    if times.started_at is not None:
        yield "started (UTC)", Cell(times.started_at, "moment")
    if seen.elapsed_seconds is not None:
        yield "elapsed", Cell(seen.elapsed_seconds, "duration_seconds")
    if seen.epochs_done is not None:
        yield "epochs", _epochs(seen)
    if running:
        ends = forecast.ends_at
        left = Interval(*(max(0.0, at - seen.at) for at in (ends.mean, ends.low, ends.high))) if ends else None
        yield "ends in", estimate(left, "duration_seconds")
        yield "duration in all", estimate(forecast.total_seconds, "duration_seconds")
    yield "cost so far", Cell(run.usd_so_far, "cost_usd")
    if running:
        yield "cost in all", estimate(forecast.usd_in_all, "cost_usd")
    if curve.points:
        yield names.heading(curve.quality), f"{sparkline([value for _, value in curve.points])}  {_value(curve)}"
    if running and curve.points:
        yield f"{names.heading(curve.quality)} at its end", estimate(forecast.final, curve.quality)
    for label, value, form in (
        ("samples/s", seen.training.samples_per_second, "throughput_samples_per_second"),
        ("CPUs busy", seen.use.busy_cpus, "cpu_cores_mean"),
        ("GPUs busy", seen.use.busy_gpus, "gpus"),
        ("memory", seen.use.memory_gib, "memory_gib"),
    ):
        if value is not None:
            yield label, Cell(value, form)


def _epochs(seen: SeenRun) -> str:
    of = f" of {seen.epochs_planned:g}" if seen.epochs_planned else ""
    return f"{seen.epochs_done:g}{of}{'' if seen.share_done is None else f' ({numbers.percent(seen.share_done)})'}"


def _value(curve: QualityCurve) -> str:
    return numbers.UNKNOWN if curve.value is None else numbers.written(curve.quality, curve.value)


def _beside(run: WatchedRun) -> Table:
    """Beside the baseline, both as far as this run is."""
    columns = (Column(f"against {run.basis}"), Column("here", "figure"), Column("then", "figure"), Column("change"), Column(""))
    rows = tuple(
        (
            names.heading(line.quantity),
            Cell(line.here, line.quantity),
            Cell(line.baseline, line.quantity),
            Cell(line.ratio, "change"),
            Span(line.word, "good" if line.verdict == "better" else "bad" if line.verdict == "worse" else "dim"),
        )
        for line in run.compared
    )
    return Table(columns, rows, "baseline")


def decision(made: Adjustment, currency: Currency = USD) -> str:
    """A decision in a sentence: what, why, what it should save, what it saved."""
    what, given_back = "stop", made.release
    if given_back:
        amounts = numbers.from_to(given_back.resource, given_back.given, given_back.kept)
        what = f"{'give back' if given_back.is_return else 'release'} {names.quantity(given_back.resource).long} {amounts}"
    done = "done" if made.applied else "was refused" if made.answer else "would do (--apply does it)"
    answer = f": {made.answer}" if made.answer else ""
    saves = _saved(made.expected, "should save", currency, unknown="saves")
    sentence = f"{numbers.moment(made.at)} UTC {what}: {made.why}; {saves}; {done}{answer}"
    if made.actual is None:
        return sentence
    saved = "saved" if made.applied else "would have saved"
    right = {True: "; it did not win", False: "; but it became the best run", None: ""}[made.right]
    return f"{sentence}; {_saved(made.actual, saved, currency, unknown=saved)}{right}"


def _saved(reward: Saving, verb: str, currency: Currency, *, unknown: str) -> str:
    parts = [numbers.duration(reward.seconds)] if reward.seconds is not None else []
    parts += [numbers.money(reward.usd, currency)] if reward.usd is not None else []
    return f"{verb} {' and '.join(parts)}" if parts else f"what it {unknown} is not known"


def as_line(run: WatchedRun) -> str:
    """How it stands, in one line for logs."""
    seen, usd = run.seen, run.usd_so_far
    parts = [f"{seen.run_id} {standing(seen)}"]
    if seen.words:
        parts.append(seen.words)
    if seen.epochs_done is not None:
        parts.append(f"epoch {_epochs(seen)}")
    if run.learning.value is not None:
        parts.append(f"{names.heading(run.learning.quality)} {_value(run.learning)}")
    if seen.elapsed_seconds is not None:
        parts.append(f"elapsed {numbers.duration(seen.elapsed_seconds)}")
    if seen.state is JobState.RUNNING:
        parts.append(f"in all {numbers.expected('duration_seconds', run.forecast.total_seconds, bounds=True)}")
    parts.append(f"cost {numbers.UNKNOWN if usd is None else numbers.money(usd, run.currency)}")
    parts += [f"{names.heading(line.quantity)} {line.word}" for line in run.compared if line.verdict != "unknown"]
    parts += [f"{check.name} {check.verdict}" for check in run.sla if check.verdict in ("at risk", "broken")]
    return "; ".join(parts)


def as_json(run: WatchedRun) -> dict[str, object]:
    """The published document; moments in unix seconds, amounts in USD, null where nothing is known."""
    seen, forecast, curve = run.seen, run.forecast, run.learning
    return {
        "schema_version": 1,
        "run_id": seen.run_id,
        "parameters": plain_values(seen.parameters),
        "source": seen.source,
        "state": seen.state.value,
        "at": seen.at,
        "words": seen.words,
        "place": seen.place,
        "status": seen.status.value if seen.status else None,
        **_named(seen.times, "started_at", "starts_at", "ended_at"),
        "elapsed_seconds": seen.elapsed_seconds,
        "epochs_done": seen.epochs_done,
        "epochs": seen.epochs_planned,
        "share_done": seen.share_done,
        "samples_per_second": seen.training.samples_per_second,
        **_named(seen.use, "busy_cpus", "busy_gpus", "memory_gib"),
        "quality": curve.quality,
        "value": curve.value,
        "curve": [list(point) for point in curve.points],
        **_named(forecast, "final", "total_seconds", "ends_at"),
        "usd_so_far": run.usd_so_far,
        **_named(forecast, "usd_in_all"),
        "basis": run.basis,
        "compared": [_named(line, "quantity", "here", "baseline", "ratio", "word") for line in run.compared],
        "sla": [asdict(check) for check in run.sla],
        **asdict(run.chance),
        "decisions": [adjustment_as_json(made) for made in run.decisions],
        "held": run.held,
        "workload": seen.identity.labels,
        "warnings": [_named(warning, "text", "code") for warning in run.warnings],
    }


def _named(record: object, *fields: str) -> dict[str, object]:
    values = {name: getattr(record, name) for name in fields}
    return {name: asdict(value) if isinstance(value, Interval) else value for name, value in values.items()}


LEVELS = "▁▂▃▄▅▆▇█"
WIDEST = 40


def sparkline(values: Sequence[float], width: int = WIDEST) -> str:
    """Values in order, the smallest as the lowest sign; of more than `width` each sign is the mean of neighbours.

    Values that are not finite are blanks; empty where there is none that is.
    """
    count = min(len(values), width)
    groups = [values[len(values) * n // count : len(values) * (n + 1) // count] for n in range(count)]
    means = [math.fsum(group) / len(group) for group in groups]
    known = [mean for mean in means if math.isfinite(mean)]
    if not known:
        return ""
    low, height = min(known), max(known) - min(known)
    levels = [-1 if not math.isfinite(mean) else round((mean - low) / (height or 1.0) * (len(LEVELS) - 1)) for mean in means]
    return "".join(" " if level < 0 else LEVELS[level] for level in levels)
