"""A run that is watched: how far it is, what it may take and cost, next to its baseline and its SLA, and what is decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from jpo.plugins.launch.during.adjustment import Adjustment, Saving
from jpo.records import USD, Currency, Identity, Interval, Parameters, SlaCheck, in_order, plain_values
from jpo.report.document import Cell, Column, Document, Items, Note, Row, Span, Table, estimate
from jpo.report.headline import VERDICTS
from jpo.wording import names, numbers
from jpo.wording.sparkline import sparkline

BETTER = ("faster", "cheaper", "better")
WORSE = ("slower", "dearer", "worse")


@dataclass(frozen=True, slots=True)
class BesideBaseline:
    """A quantity next to the baseline's at the same progress; None: unknown.

    Attributes:
        word: faster, slower, cheaper, dearer, better, worse, "as before", or "unknown".
    """

    quantity: str
    here: float | None
    baseline: float | None
    ratio: float | None
    word: str


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run as it is now. None: unknown.

    Attributes:
        source: the engine that it was launched on, "csv" or "prometheus".
        state: waiting, running, ended or unknown; `words`: what its engine says to that.
        at: unix seconds of this look, as the other moments.
        quality: by which its model is judged; `curve`: epochs done and value of it.
        final: its value after the last epoch.
        basis: what the baseline is; empty: there is none.
        wins: chance to beat the best run so far, where it was computed; `rival`: which that is.
        decisions: what was decided about it so far; `held`: why nothing is carried out just now.
        warnings: sentence -> reason code.
    """

    run_id: str
    identity: Identity
    parameters: Parameters
    source: str
    state: str
    at: float
    words: str = ""
    place: str = ""
    status: str | None = None
    started_at: float | None = None
    starts_at: float | None = None
    ended_at: float | None = None
    elapsed_seconds: float | None = None
    epochs_done: float | None = None
    epochs: float | None = None
    share_done: float | None = None
    samples_per_second: float | None = None
    busy_cpus: float | None = None
    busy_gpus: float | None = None
    memory_gib: float | None = None
    quality: str = "val_loss"
    value: float | None = None
    curve: tuple[tuple[float, float], ...] = ()
    final: Interval | None = None
    total_seconds: Interval | None = None
    ends_at: Interval | None = None
    usd_so_far: float | None = None
    usd_in_all: Interval | None = None
    basis: str = ""
    compared: tuple[BesideBaseline, ...] = ()
    sla: tuple[SlaCheck, ...] = ()
    rival: str | None = None
    wins: float | None = None
    why: str = ""
    decisions: tuple[Adjustment, ...] = ()
    held: str = ""
    warnings: Mapping[str, str] = field(default_factory=dict)
    currency: Currency = USD


def document(run: WatchedRun) -> Document:
    """How it stands, beside its baseline, its SLA, and the decisions."""
    head = f"{run.source}{f' on {run.place}' if run.place else ''}"
    values = ", ".join(f"{names.short(name)} {numbers.written(name, run.parameters[name])}" for name in in_order(run.parameters))
    return Document(
        ("Run ", Span(run.run_id)),
        (
            ("Workload ", Span(str(run.identity)), f"   {values}" if values else ""),
            (Span(standing(run)), f"   {head}", f"   {run.words}" if run.words else ""),
            _standing(run),
            _beside(run),
            Table(
                (Column("SLA"), Column("limit", "figure"), Column("forecast")),
                tuple(
                    (check.name, Cell(check.limit, check.name), Span(check.verdict, VERDICTS[check.verdict])) for check in run.sla
                ),
                "sla",
            ),
            run.why,
            Items(tuple(decision(each, run.currency) for each in run.decisions)),
            run.held,
            *(Note(f"{sentence} [{code}]") for sentence, code in run.warnings.items()),
        ),
        currency=run.currency,
    )


def standing(run: WatchedRun) -> str:
    """Its state in a word or two."""
    if run.state == "ended":
        return f"ended: {(run.status or 'how is not known').replace('_', ' ')}"
    return run.state


def _standing(run: WatchedRun) -> Table:
    rows: list[Row] = [(label, cell) for label, cell in _facts(run)]
    return Table((Column(""), Column("", "prose")), tuple(rows), "run")


def _facts(run: WatchedRun) -> Iterator[tuple[str, Cell | str]]:
    """What is known of it, line by line; of what matters also that it is not known."""
    if run.starts_at is not None and run.state == "waiting":
        yield "expected to start", Cell(run.starts_at, "moment")
    if run.started_at is not None:
        yield "started (UTC)", Cell(run.started_at, "moment")
    if run.elapsed_seconds is not None:
        yield "elapsed", Cell(run.elapsed_seconds, "duration_seconds")
    if run.epochs_done is not None:
        yield "epochs", f"{run.epochs_done:g}{f' of {run.epochs:g}' if run.epochs else ''}{_percent(run)}"
    if run.state == "running":
        yield "ends (UTC)", _moment(run.ends_at)
        yield "duration in all", estimate(run.total_seconds, "duration_seconds")
    yield "cost so far", Cell(run.usd_so_far, "cost_usd")
    if run.state == "running":
        yield "cost in all", estimate(run.usd_in_all, "cost_usd")
    if run.curve:
        yield names.heading(run.quality), f"{sparkline([value for _, value in run.curve])}  {_value(run)}"
    if run.state == "running" and run.curve:
        yield f"{names.heading(run.quality)} at its end", estimate(run.final, run.quality)
    for label, value, form in _use(run):
        if value is not None:
            yield label, Cell(value, form)


def _use(run: WatchedRun) -> tuple[tuple[str, float | None, str], ...]:
    return (
        ("samples/s", run.samples_per_second, "throughput_samples_per_second"),
        ("CPUs busy", run.busy_cpus, "cpu_cores_mean"),
        ("GPUs busy", run.busy_gpus, "gpus"),
        ("memory", run.memory_gib, "memory_gib"),
    )


def _percent(run: WatchedRun) -> str:
    return "" if run.share_done is None else f" ({numbers.percent(run.share_done)})"


def _value(run: WatchedRun) -> str:
    return numbers.UNKNOWN if run.value is None else numbers.written(run.quality, run.value)


def _moment(ends: Interval | None) -> Cell | str:
    if ends is None:
        return numbers.UNKNOWN
    return f"{numbers.moment(ends.mean)} ({numbers.moment(ends.low)} to {numbers.moment(ends.high)})"


def _beside(run: WatchedRun) -> Table:
    """Beside the baseline, both as far as this run is."""
    columns = (
        Column(f"beside {run.basis}"),
        Column("here", "figure"),
        Column("then", "figure"),
        Column("change"),
        Column(""),
    )
    rows = tuple(
        (
            names.heading(line.quantity),
            Cell(line.here, line.quantity),
            Cell(line.baseline, line.quantity),
            Cell(line.ratio, "change"),
            Span(line.word, "good" if line.word in BETTER else "bad" if line.word in WORSE else "dim"),
        )
        for line in run.compared
    )
    return Table(columns, rows, "baseline")


def decision(made: Adjustment, currency: Currency = USD) -> str:
    """A decision in a sentence: what, why, what it should save, what it saved."""
    what = "stop" if made.kind == "stop" else f"release {names.quantity(made.about).long}"
    if made.given is not None and made.kept is not None:
        what += f" {numbers.from_to(made.about, made.given, made.kept)}"
    done = "done" if made.applied else "would do (--apply does it)"
    answer = f": {made.answer}" if made.answer else ""
    sentence = (
        f"{numbers.moment(made.at)} UTC {what}: {made.why}; {_saves(made.expected, 'should save', currency)}; {done}{answer}"
    )
    if made.actual is None:
        return sentence
    saved = "saved" if made.applied else "would have saved"
    right = {True: "; it did not win", False: "; but it became the best run", None: ""}[made.right]
    return f"{sentence}; {_saves(made.actual, saved, currency)}{right}"


def _saves(reward: Saving, verb: str, currency: Currency) -> str:
    parts = [numbers.duration(reward.seconds)] if reward.seconds is not None else []
    parts += [numbers.money(reward.usd, currency)] if reward.usd is not None else []
    return f"{verb} {' and '.join(parts)}" if parts else f"what it {verb.replace('should save', 'saves')} is not known"


def as_line(run: WatchedRun) -> str:
    """How it stands, in one line for logs."""
    parts = [f"{run.run_id} {standing(run)}"]
    if run.words:
        parts.append(run.words)
    if run.epochs_done is not None:
        parts.append(f"epoch {run.epochs_done:g}{f' of {run.epochs:g}' if run.epochs else ''}{_percent(run)}")
    if run.value is not None:
        parts.append(f"{names.heading(run.quality)} {_value(run)}")
    if run.elapsed_seconds is not None:
        parts.append(f"elapsed {numbers.duration(run.elapsed_seconds)}")
    if run.state == "running":
        parts.append(f"in all {numbers.expected('duration_seconds', run.total_seconds, bounds=True)}")
    parts.append(f"cost {numbers.UNKNOWN if run.usd_so_far is None else numbers.money(run.usd_so_far, run.currency)}")
    parts += [f"{names.heading(line.quantity)} {line.word}" for line in run.compared if line.word != "unknown"]
    parts += [f"{check.name} {check.verdict}" for check in run.sla if check.verdict in ("at risk", "broken")]
    return "; ".join(parts)


def as_json(run: WatchedRun) -> dict[str, object]:
    """The published document; moments in unix seconds, amounts in USD, null where nothing is known."""
    found = asdict(run)
    del found["currency"], found["identity"], found["warnings"]
    return {
        "schema_version": 1,
        **found,
        "workload": run.identity.labels,
        "parameters": plain_values(run.parameters),
        "curve": [list(point) for point in run.curve],
        "warnings": [{"text": sentence, "code": code} for sentence, code in run.warnings.items()],
    }
