"""The history: runs and suggestions on record, and the ledger of the last forecasts, workload by workload.

A further column stands in _runs and _run (people; the page has its own), run_document (JSON), HEAD and row_of, or DECISION and
decision_of (CSV; docs/runs.md); what no Run has is a field of PastRun, filled in commands/history.py. `jpo explain`, the page and
`jpo lab logs --extended` have these documents and columns, too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import TYPE_CHECKING

from jpo.records import PARAMETERS, Outcome, in_order, plain, plain_values, uncoded
from jpo.report import headline
from jpo.report.before_after import changes, only_last, sac_in_words, taught, trials_in_words
from jpo.report.document import Block, Column, Document, Items, Row, Section, Span, Table, estimate
from jpo.report.forms.csv import Raw, csv_line
from jpo.wording import names, numbers

if TYPE_CHECKING:
    from jpo.history import RecordedRun
    from jpo.optimizer.before_and_after import Spent
    from jpo.records import Identity, Interval, Parameters, Run, RunEvent, Suggestion, TrackRecord

MOST_NAMED = 3
"""Runs that a sentence names; JSON says it of each."""
LATER = ("val_accuracy", "metrics")
"""Columns that came after the others were published, and stand behind them."""
MEASURES = tuple(field.name for field in fields(Outcome) if field.name not in LATER)
HEAD = (
    *("run_id", "dataset", "model", "framework", "status", "started_at", "ended_at", "suggestion_id"),
    *PARAMETERS,
    *(f"used_{name}" if name in PARAMETERS else name for name in MEASURES),
    *("hardware", *LATER),
)
"""The columns of a run as CSV."""
DECISION = ("decided_by", "preference", "sla", "kind")
"""Further columns, last of all: who made the suggestion that the run followed, under which preference; whether the run kept what
[sla] promises; what the suggestion was: kept, improvement, trial or return."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Accuracy of the last forecasts of a workload, quantity by quantity, whichever of its runs are shown.

    Attributes:
        coverage: the share inside the intervals, with its own interval.
        followed, failed: of the newest runs those that followed a suggestion, and those of them that did not end well.
        widened: the newest suggestion's sentence about intervals that had to be widened; None where they had not.
    """

    track: "Sequence[TrackRecord]"
    coverage: "Mapping[str, Interval]"
    followed: int
    failed: int
    widened: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """A duration next to its forecast: their ratio, and whether it is inside the interval."""

    ratio: float
    inside: bool


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run on record, how it ended in words, and the suggestion that it followed, if that is on record.

    `compared`: with the duration that its suggestion expected; None without one, and for a run that did not end well. `sla`: ok,
    broken or unknown; empty where nothing is promised.
    """

    recorded: "RecordedRun"
    ending: str
    compared: Compared | None
    suggestion: "Suggestion | None" = None
    sla: str = ""


@dataclass(frozen=True, slots=True)
class Follower:
    """A run that followed a suggestion, and by quantity whether it ended inside the forecast's interval."""

    run: "Run"
    inside: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class History:
    """Runs and suggestions, oldest first, the runs that followed each of these, and each workload's ledger.

    Attributes:
        unsettled: of changes whose writing is not on record, what config.ini says, in sentences.
        contradictions: runs that report other values than they were given, in sentences.
        events: what else happened to these runs, e.g. decisions while they went on.
        spent: by suggestion, of those that runs followed; empty where not every run was read; `effective`: as made.
        limited: whether the user said how many; else a terminal has fewer.
        newest: of how many runs and suggestions these are the newest, since there are more than a table has room for; None: all.
        workloads: how many are on record, where the ledgers are only of those that ran last; 0: there is one of each.
    """

    runs: Sequence[PastRun]
    suggestions: "Sequence[Suggestion]"
    followers: Mapping[str, Sequence[Follower]]
    ledgers: "Mapping[Identity, Ledger]"
    unsettled: Sequence[str] = ()
    newest: int | None = None
    workloads: int = 0
    limited: bool = False
    contradictions: Sequence[str] = ()
    events: "Sequence[RunEvent]" = ()
    spent: "Mapping[str, Spent]" = field(default_factory=dict)
    effective: "Mapping[Identity, Sequence[Suggestion]]" = field(default_factory=dict)

    def all_with(self, rows: int) -> str:
        """How people see all rows of a list; empty where they said how many."""
        return "" if self.limited else ", and others before them: --limit N shows N" if self.newest else f": --limit {rows}"


def document(history: History) -> Document:
    sections = [
        Section(("Workload ", Span(str(identity))), tuple(_blocks(history, identity, ledger)))
        for identity, ledger in history.ledgers.items()
    ]
    if not sections:
        return Document("History", ("nothing on record yet; start with `jpo suggest config.ini`",))
    older = f"newest {history.newest} only, older ones are left out: --limit N shows N, --format csv the newest 5,000"
    decided = Items(tuple(f"{event.run_id}: {event.sentence}" for event in history.events))
    left_out = ([older] if history.newest else []) + ([more] if (more := only_last(len(sections), history.workloads)) else [])
    notes = uncoded((*history.contradictions, *history.unsettled, *left_out))
    decisions = (Section("Decisions during runs", (decided,)),) if history.events else ()
    return Document("History", (*sections, *decisions, *notes), bare=True)


def _blocks(history: History, identity: "Identity", ledger: Ledger) -> Iterator[Block]:
    runs = [past for past in history.runs if past.recorded.run.identity == identity]
    suggestions = [suggestion for suggestion in history.suggestions if suggestion.identity == identity]
    recorded = [past.recorded.run for past in runs]
    differing, same = differing_and_shared(recorded)
    yield _runs(runs, differing, history.all_with(len(runs)))
    yield f"The same in all runs: {same}." if same else ""
    yield assumed_in(recorded)
    yield _suggestions(suggestions, history)
    yield trials_in_words((made, history.spent.get(made.suggestion_id)) for made in suggestions)
    yield f"{said}." if (said := sac_in_words(made.decision for made in suggestions)) else ""
    yield from ledger_blocks(ledger)


def differing_and_shared(runs: "Sequence[Run]") -> tuple[list[str], str]:
    """The parameters in which runs differ, and in words the values that are the same in all of them."""
    named = in_order(name for run in runs for name in run.parameters)
    values = {name: {run.parameters.get(name) for run in runs} for name in named}
    same = [(name, value) for name in named if len(values[name]) == 1 for value in values[name] if value is not None]
    words = ", ".join(f"{names.short(name)} {numbers.written(name, value)}" for name, value in same)
    return [name for name in named if len(values[name]) > 1], words


def assumed_in(runs: "Sequence[Run]") -> str:
    """Which runs did not report which parameters, whose values are those of the suggestion then in force; empty without any."""
    by_names: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        if run.assumed:
            by_names.setdefault(run.assumed, []).append(run.run_id)
    named = {some: ", ".join(ids[:MOST_NAMED]) + (" and others" if ids[MOST_NAMED:] else "") for some, ids in by_names.items()}
    where = [f"{', '.join(map(names.short, some))} of {ids}" for some, ids in named.items()]
    return f"Not reported, but taken from the suggestion then in force: {'; '.join(where)}." if where else ""


def _runs(runs: Sequence[PastRun], differing: Sequence[str], all_with: str) -> Table:
    """The runs, with the parameters in which they differ, and what was measured of their models."""
    of_model = names.objectives([name for past in runs for name in past.recorded.run.outcome.known])[2:]
    columns = (
        *(Column("run", "key"), Column("status"), Column("duration", "figure", "duration_seconds")),
        *(Column(names.short(name), "figure", name) for name in differing),
        *(*map(headline.column, of_model), Column("ended (UTC)", quantity="moment")),
        *(Column("forecast"), Column("suggestion", "key")),
    )
    return Table(columns, tuple(_run(past, differing, of_model) for past in runs), "runs", all_with=all_with)


def _run(past: PastRun, differing: Sequence[str], of_model: Sequence[str]) -> Row:
    run, outcome = past.recorded.run, past.recorded.run.outcome
    return (
        *(run.run_id, past.ending.replace("_", " "), or_empty(outcome.duration_seconds)),
        *(or_empty(run.parameters.get(name)) for name in differing),
        *(*(or_empty(outcome.of(name)) for name in of_model), run.ended_at),
        *(against(past.compared), past.recorded.suggestion_id or ""),
    )


def or_empty(value: float | None) -> float | str:
    """A value of a run; a table of them would be full of the word unknown."""
    return "" if value is None else value


def against(compared: Compared | None) -> str:
    """A duration next to its forecast: "-12% inside"; empty without a forecast."""
    return "" if compared is None else f"{numbers.change(compared.ratio)} {'inside' if compared.inside else 'outside'}"


def _suggestions(suggestions: "Sequence[Suggestion]", history: History) -> Table:
    """One row per suggestion; those in turn that kept the values are one, since nothing happened."""
    columns = (
        *(Column("suggestion", "key"), Column("kind"), Column("changes", "prose")),
        *(Column("expected duration", quantity="duration_seconds"), Column("trial", "prose")),
        *(Column("decided by"), Column("made (UTC)", quantity="moment")),
    )
    rows = (
        (
            *(made.suggestion_id, kind_of(made, len(some)), changes(made), estimate(made.next.duration_seconds)),
            *(taught(made, history.spent.get(made.suggestion_id)), made.decision.decided_by, made.created_at),
        )
        for *some, made in (list(some) for _, some in groupby(suggestions, lambda made: not made.changes or made.suggestion_id))
    )
    return Table(columns, tuple(rows), "suggestions", all_with=history.all_with(len(suggestions)))


def kind_of(made: "Suggestion", before: int) -> str:
    """What a suggestion is, and how often in turn with those `before` it: "kept 12 times"."""
    return f"{made.decision.kind}{f' {before + 1} times' if before else ''}"


def accuracy(track: "Iterable[TrackRecord]", coverage: "Mapping[str, Interval]") -> Table:
    """How the last forecasts turned out."""
    columns = (
        *(Column("last forecasts"), Column("runs", "figure"), Column("off by (median)", "figure", "share")),
        *(Column("inside", "figure"), Column("in the long run (90% interval)", quantity="share")),
    )
    rows = tuple(
        (names.heading(one.quantity), one.forecasts, one.median_error, one.inside, estimate(coverage.get(one.quantity)))
        for one in track
    )
    return Table(columns, rows, "ledger")


def ledger_blocks(ledger: Ledger) -> Iterator[Block]:
    """How right the forecasts were; nothing before the first one could be compared."""
    yield accuracy((past for past in ledger.track if past.quantity in names.objectives([past.quantity])), ledger.coverage)
    if ledger.track and ledger.failed:
        yield f"{ledger.failed} of {ledger.followed} runs that followed a suggestion did not end well."
    if ledger.track and ledger.widened:
        yield f"The newest suggestion says: {ledger.widened}."


def as_json(history: History) -> dict[str, object]:
    """`{"schema_version", "runs": [...], "suggestions": [...], "workloads": [...]}`; what was not measured is null.

    A suggestion's `outcome` are the runs that followed it, and by quantity whether each ended inside its interval.
    """
    kinds = dict.fromkeys(event.kind for event in history.events)
    left_out = {"newest": history.newest, "workloads_on_record": history.workloads}
    return {
        "schema_version": 1,
        **{name: number for name, number in left_out.items() if number},
        "runs": [
            {**run_document(recorded.run), "workload": recorded.run.identity.labels, "suggestion_id": recorded.suggestion_id}
            for recorded in (past.recorded for past in history.runs)
        ],
        "suggestions": [
            suggestion_document(suggestion, history.followers.get(suggestion.suggestion_id, ()))
            for suggestion in history.suggestions
        ],
        "workloads": [
            {
                "workload": identity.labels,
                "track_record": [{**asdict(past), "coverage": asdict(ledger.coverage[past.quantity])} for past in ledger.track],
                **{name: getattr(ledger, name) for name in ("followed", "failed", "widened")},
            }
            for identity, ledger in history.ledgers.items()
        ],
        "unsettled": list(history.unsettled),
        **({"contradictions": list(history.contradictions)} if history.contradictions else {}),
        **{kind: [event.document for event in history.events if event.kind == kind] for kind in kinds},
    }


def run_document(run: "Run") -> dict[str, object]:
    return {
        "run_id": run.run_id,
        "status": run.status.value,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "parameters": plain_values(run.parameters),
        "outcome": asdict(run.outcome),
        **({"assumed": list(run.assumed)} if run.assumed else {}),
    }


def suggestion_document(suggestion: "Suggestion", followers: Sequence[Follower]) -> dict[str, object]:
    return {
        "suggestion_id": suggestion.suggestion_id,
        "workload": suggestion.identity.labels,
        "created_at": suggestion.created_at,
        "status": suggestion.status,
        "current": plain_values(suggestion.values.current),
        "suggested": plain_values(suggestion.values.suggested),
        "forecast": suggestion.next.document,
        "decided_by": suggestion.decision.decided_by,
        "kind": suggestion.decision.kind,
        "outcome": [
            {"run_id": follower.run.run_id, "status": follower.run.status.value, "inside": dict(follower.inside)}
            for follower in followers
        ],
    }


def as_csv(history: History) -> str:
    """One row per run: identity, status, times, parameters, outcome, decision, own parameters; empty where nothing is known."""
    own = own_parameters(past.recorded.run for past in history.runs)
    rows = (
        [
            *row_of(past.recorded.run, past.recorded.suggestion_id),
            *decision_of(past.suggestion, past.sla),
            *own_cells(past.recorded.run.parameters, own),
        ]
        for past in history.runs
    )
    return "".join(map(csv_line, ((*HEAD, *DECISION, *own), *rows)))


def decision_of(suggestion: "Suggestion | None", sla: str) -> list[Raw]:
    """The cells under DECISION; the preference as "time=0.5 cost=0.5"."""
    weights = asdict(suggestion.decision.preference).items() if suggestion else ()
    preference = " ".join(f"{name}={weight:g}" for name, weight in weights if weight)
    decision = suggestion.decision if suggestion else None
    return [decision.decided_by if decision else None, preference or None, sla or None, decision.kind if decision else None]


def own_parameters(runs: "Iterable[Run]") -> tuple[str, ...]:
    """Parameters of runs that JPO gives no meaning: their columns come last."""
    return tuple(name for name in in_order(name for run in runs for name in run.parameters) if name not in PARAMETERS)


def own_cells(values: "Parameters", own: Sequence[str]) -> list[Raw]:
    """The cells of parameters, e.g. of the team's own; a word as its text."""
    return [plain(values[name]) if name in values else None for name in own]


def row_of(run: "Run", suggestion_id: str | None) -> list[Raw]:
    """The cells of one run under HEAD."""
    identity, outcome = run.identity, run.outcome
    metrics = " ".join(f"{name}={value!r}" for name, value in outcome.metrics.items())
    return [
        *(run.run_id, identity.dataset, identity.model, identity.framework, run.status.value, run.started_at, run.ended_at),
        *(suggestion_id, *(run.parameters.get(name) for name in PARAMETERS), *(getattr(outcome, name) for name in MEASURES)),
        *(identity.hardware, outcome.val_accuracy, metrics or None),
    ]
