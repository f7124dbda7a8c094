"""Before and after JPO, workload by workload: the tables, a picture, the published JSON and CSV."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from jpo.forecast.before_after import BeforeAfter
from jpo.optimizer.before_and_after import Spent, return_on_trials
from jpo.records import OTHERWISE, USD, Currency, DecisionOnRecord, Identity, Note, Suggestion, codes_of
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Inline, Marks, Plot, Section, Span, Table
from jpo.report.forms.csv import csv_line
from jpo.wording import names, numbers

MOST_WORKLOADS = 20
"""Workloads of a store in one answer for people, those that ran last: nobody reads a thousand sections."""
PER_MODEL = ("duration_seconds", "cost_usd")
"""What is compared by what a model took: all runs of a side, whatever ended them, by the number of those that brought one."""
EMPHASIS: dict[str, Emphasis] = {"better": "good", "worse": "bad", "no clear change": "dim", "too few": "dim"}
MEANS = (
    "Per model: what all runs took, failed and stopped ones included, by the number that ended well. "
    "The rest is of runs that ended well: geometric means, unless another is named."
)
HEAD = (
    *("dataset", "model", "framework", "since", "quantity", "before", "after", "runs_before", "runs_after"),
    *("change", "low", "high", "kind", "word", "hardware", "basis"),
)


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """A workload before JPO's first change and after.

    Attributes:
        first_change, last_change: when they were written, unix seconds; None: JPO changed nothing yet.
        before, after: runs on each side; `left_out`: later runs that followed no suggestion.
        failed_starts: runs on neither side, since they failed before they trained, with values that train.
        lines: all runs after against those before; empty before the first change.
        since_last: only those since the last change against those before; empty where it is the first.
    """

    identity: Identity
    first_change: float | None
    last_change: float | None
    before: int
    after: int
    left_out: int
    lines: Sequence[BeforeAfter]
    since_last: Sequence[BeforeAfter]
    failed_starts: int = 0


@dataclass(frozen=True, slots=True)
class WorkloadChanges:
    """Workloads before JPO's first change and after, and the currency of their report."""

    workloads: Sequence[WorkloadChange]
    currency: Currency = USD
    every: int = 0
    """How many are on record, where these are not all."""


def document(result: WorkloadChanges) -> Document:
    sections = [Section(("Workload ", Span(str(change.identity))), blocks_of(change)) for change in result.workloads]
    nothing = "nothing on record yet; start with `jpo suggest config.ini`"
    more = only_last(len(sections), result.every)
    blocks = (*sections, Note("", more) if more else "") if sections else (nothing,)
    return Document("Before and after JPO", blocks, currency=result.currency)


def only_last(shown: int, every: int) -> str:
    """That more workloads are on record than are shown; empty where there are not."""
    more = f"the {shown} workloads that ran last, of {every:,} on record: name the CONFIG.INI of another"
    return more if shown < every else ""


def blocks_of(change: WorkloadChange) -> tuple[Block, ...]:
    return heading(change), *_tables(change)


def heading(change: WorkloadChange) -> str:
    if change.first_change is None or change.last_change is None:
        return f"no change by JPO is on record yet: {numbers.counted(change.before, 'run')}, nothing to compare"
    last = f", last on {numbers.moment(change.last_change)}" if change.last_change != change.first_change else ""
    left = f"; left out, since they followed no suggestion: {change.left_out}" if change.left_out else ""
    counted = f"{numbers.counted(change.before, 'run')} before, {numbers.counted(change.after, 'run')} after it{left}"
    starts = f"; starts that failed, through no fault of the values, and count on neither side: {change.failed_starts}"
    counted += starts if change.failed_starts else ""
    return f"first changed on {numbers.moment(change.first_change)}{last} (UTC): {counted}"


def _tables(change: WorkloadChange) -> Iterator[Block]:
    newest = {line.quantity: line for line in change.since_last}
    columns = (
        *(Column("quantity"), Column("before", "figure"), Column("after", "figure")),
        *(Column("change (90% interval)", "prose"), Column("")),
        *(Column("since the last change", "prose"), Column("")),
    )
    rows = (
        (
            *(label(line), before(line), Cell(line.after, line.quantity)),
            *(*ratio_or_difference(line), *ratio_or_difference(newest.get(line.quantity))),
        )
        for line in change.lines
    )
    yield Table(columns, tuple(rows), "quantities")
    yield MEANS if change.lines else ""
    if any(line.basis == "forecast" for line in (*change.lines, *change.since_last)):
        said = "JPO's forecast for the values before its first change, because too few runs had them"
        yield Note("", f"forecast: {said}; it is for one run, so its intervals are wide")


def chart(change: WorkloadChange) -> Plot:
    """The ratio of each quantity for which an interval is stated; 1 is as before. Without points where there is none."""
    lines = [(line, line.change) for line in change.lines if line.change and line.kind == "ratio"][::-1]
    rows = tuple(
        f"{label(line)}{' (before: forecast)' if line.basis == 'forecast' else ''}: "
        f"{numbers.expected('change', found, bounds=True)}, {line.word}"
        for line, found in lines
    )
    marks = [
        Marks(
            word,
            tuple((found.mean, float(at)) for at, (_, found) in some),
            EMPHASIS[word],
            reach=tuple((found.low, found.high, at, at) for at, (_, found) in some),
        )
        for word in dict.fromkeys(line.word for line, _ in lines)
        if (some := [(at, pair) for at, pair in enumerate(lines, 1) if pair[0].word == word])
    ]
    said = f"{change.before} runs before JPO's first change, {change.after} after; 90% intervals. The dashed line: as before."
    return Plot("After against before", said, "change", "", tuple(marks), rows=rows, moments=((1.0, ""),))


def before(line: BeforeAfter) -> Cell:
    """What stands before, and that it was forecast where it was."""
    return Cell(line.before, line.quantity, prefix="forecast " if line.basis == "forecast" else "")


def label(line: BeforeAfter) -> str:
    """The quantity's name, and what its mean is where it is not the geometric one."""
    quantity = names.quantity(line.quantity)
    if line.quantity in PER_MODEL:
        return f"{names.heading(line.quantity)} per model"
    if line.quantity in names.DERIVED:  # a share of runs
        return quantity.long
    return names.heading(line.quantity) + (" (arithmetic)" if line.kind == "difference" else "")


def ratio_or_difference(line: BeforeAfter | None) -> "tuple[Cell | Inline, Inline]":
    """-38% (-50% to -22%); of a share in points, of another difference in its unit. The word alone without an interval."""
    if line is None:
        return "", ""
    word = Span(line.word, EMPHASIS[line.word])
    if line.change is None:
        return word, ""
    difference = "points" if names.quantity(line.quantity).form == "percent" else "difference"
    quantity = "change" if line.kind == "ratio" else difference
    return Cell(line.change.mean, quantity, line.change.low, line.change.high), word


def changes(made: Suggestion) -> str:
    """ "batch 64 → 128, rate 0.1 → 0.2"."""
    return ", ".join(f"{names.short(one.parameter)} {numbers.old_and_new(one)}" for one in made.changes)


def taught(made: Suggestion, spent: Spent | None) -> str:
    """What a trial taught and cost, against what was expected of keeping: "+8% time per model: cost 9m 12s"; else empty."""
    if made.decision.kind != "trial" or not spent or spent.keeping is None:
        return ""
    change = f"{numbers.change(spent.ratio)} time per model" if spent.ratio else "no model"
    return f"{change}: {cost_or_saved(spent.keeping)}"


def trials_in_words(spent: Iterable[tuple[Suggestion, Spent | None]]) -> str:
    """What all trials cost, and what was saved with what they taught; empty without a trial."""
    trials, cost, learnt = return_on_trials((made.decision.kind, found) for made, found in spent if found)
    runs = f"{numbers.counted(trials, 'run')} of trials {cost_or_saved(cost)} against keeping"
    return f"{runs}; what was learnt {cost_or_saved(learnt)} against before JPO." if trials else ""


def sac_in_words(decisions: Iterable[DecisionOnRecord]) -> str:
    """How often SAC had a say, how often it decided otherwise than the rule, and what it expected of that; empty without a say.

    Its critics err alike in all decisions, so that the ends of the sum are the sums of the ends.
    """
    had_say = [each for each in decisions if each.runs_saved]
    other = [each.runs_saved for each in had_say if OTHERWISE in codes_of(each.reasons) and each.runs_saved]
    if not had_say:
        return ""
    often = numbers.times(len(other)) if other else "never"
    said = f"SAC decided {numbers.times(len(had_say))}, {often} otherwise than the rule"
    mean, low, high = (sum(getattr(saved, end) for saved in other) for end in ("mean", "low", "high"))
    return f"{said}; it expected these to save {mean:.1f} runs ({low:.1f} to {high:.1f})" if other else said


def cost_or_saved(seconds: float) -> str:
    return f"{'cost' if seconds > 0 else 'saved'} {numbers.duration(abs(seconds))}"


def as_json(result: WorkloadChanges) -> dict[str, object]:
    every = {"workloads_on_record": result.every} if len(result.workloads) < result.every else {}
    return {"schema_version": 1, **every, "workloads": [change_document(change) for change in result.workloads]}


def change_document(change: WorkloadChange) -> dict[str, object]:
    counted = ("first_change", "last_change", "before", "after", "left_out", "failed_starts")
    return {
        "workload": change.identity.labels,
        **{name: getattr(change, name) for name in counted},
        "since_first_change": [published(line) for line in change.lines],
        "since_last_change": [published(line) for line in change.since_last],
    }


def published(line: BeforeAfter) -> dict[str, object]:
    shown = ("quantity", "kind", "before", "after", "runs_before", "runs_after", "word", "basis")
    return {**{name: getattr(line, name) for name in shown}, "change": asdict(line.change) if line.change else None}


def as_csv(result: WorkloadChanges) -> str:
    """One row per workload, side and quantity; empty cells where nothing is known."""
    rows = [
        (
            *(change.identity.dataset, change.identity.model, change.identity.framework, since),
            *(line.quantity, line.before, line.after, line.runs_before, line.runs_after),
            *((line.change.mean, line.change.low, line.change.high) if line.change else (None, None, None)),
            *(line.kind, line.word, change.identity.hardware, line.basis),
        )
        for change in result.workloads
        for since, lines in (("first change", change.lines), ("last change", change.since_last))
        for line in lines
    ]
    return "".join(map(csv_line, (HEAD, *rows)))
