"""Many runs: how those of each workload ended, what they took, and which configurations did best; and two CSVs of all runs.

The extended CSV has one row per run with what JPO makes of it, next to what was measured:

    run_id ... val_loss ...     as `jpo history --format csv`
    suggested_<parameter>       what the suggestion that the run followed had proposed
    reward_time ... _loss       natural logs of ratios to the workload's first run that ended well: 0 = as it, -0.69 = half of it
    reward                      what that is worth under the preference, against the best so far: 0 = the best, -1 = one more run
    sla_<target>                ok, broken or unknown; empty where jpo.toml sets no target
    decided_by, preference, sla who made that suggestion, under which preference; whether the run kept all targets

The CSV of epochs has one row per row of a log (EPOCH), and next to it what the run was given and what its suggestion changed and
expected.

Empty cells are not known. The head is always the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from jpo.cost.sla import kept_all
from jpo.history.figures import QUANTITIES, Configuration, Figures, Spread
from jpo.records import PARAMETERS, USD, Currency, Forecast, Interval, Run, Suggestion, in_order, plain
from jpo.report import history
from jpo.report.document import Block, Cell, Column, Document, Items, Row, Section, Span, Table
from jpo.report.forms.csv import Raw, csv_line
from jpo.report.history import or_empty
from jpo.telemetry.csv.folder import UnusableLog
from jpo.wording import names, numbers

MOST_LISTED = 20
"""Unusable logs that people see; JSON has all of them."""
STATUSES = ("succeeded", "target missed", "failed", "oom_killed", "diverged", "stopped")
OF_RUN = ("run_id", "dataset", "model", "framework", "hardware", "status", "started_at")
EXPECTED = tuple(field.name for field in fields(Forecast) if field.name != "metrics")
"""What a suggestion forecasts of the next run."""
REWARDS = ("time", "cost", "efficiency", "loss")


@dataclass(frozen=True, slots=True)
class LogFigures:
    """The figures of each workload, the logs that could not be used, and the currency of the report."""

    workloads: Sequence[Figures]
    not_usable: Sequence[UnusableLog] = ()
    currency: Currency = USD


@dataclass(frozen=True, slots=True)
class Judged:
    """A run and what JPO makes of it.

    Attributes:
        suggestion_id: of the suggestion that it followed; None without one.
        suggestion: the same; None as well where that is not on record.
        rewards: by name of REWARDS, those that are known.
        reward: the scalar; None where it is not known.
        sla: verdicts by target.
    """

    run: Run
    suggestion_id: str | None
    suggestion: Suggestion | None
    rewards: Mapping[str, float]
    reward: float | None
    sla: Mapping[str, str]


def document(result: LogFigures) -> Document:
    sections = []
    for figures in result.workloads:
        endings = ", ".join(f"{count} {ending.replace('_', ' ')}" for ending, count in figures.by_status.items())
        ran = f"{numbers.counted(figures.runs, 'run')}: {endings}"
        tables = (_quantities(figures, result.currency), _best(figures))
        sections.append(Section(("Workload ", Span(str(figures.identity))), (ran, *tables)))
    return Document("Runs in logs", (*sections, *_not_usable(result.not_usable)), currency=result.currency)


def _quantities(figures: Figures, currency: Currency) -> Table:
    columns = (
        *(Column("of runs that ended well"), Column("runs", "figure"), Column("mean", "figure"), Column("median", "figure")),
        *(Column("middle half"), Column("least", "figure")),
    )
    rows = (_spread(name, figures.spreads[name], currency) for name in figures.spreads if figures.spreads[name].runs)
    return Table(columns, tuple(rows), name="quantities")


def _spread(name: str, spread: Spread, currency: Currency) -> Row:
    half = "" if spread.low is None or spread.high is None else numbers.between(name, spread.low, spread.high, currency)
    mean, median, least = (Cell(value, name) for value in (spread.mean, spread.median, spread.least))
    return names.heading(name), spread.runs, mean, median, half, least


def _best(figures: Figures) -> Table:
    """For each goal the best configuration, with what differs between configurations, and how many runs say so."""
    best = {goal: configuration for goal, configuration in figures.best.items() if configuration}
    parameters = figures.varied or [*in_order(name for configuration in best.values() for name in configuration.parameters)]
    measured = [name for name in figures.spreads if figures.spreads[name].runs]
    columns = (
        Column("best configuration"),
        *(Column(names.short(name), "figure", name) for name in parameters),
        *(Column(names.heading(name), "figure", name) for name in measured),
        *(Column("runs", "figure"), Column("failed", "figure")),
    )
    rows = [
        (
            f"by {goal}",
            *(or_empty(configuration.parameters.get(name)) for name in parameters),
            *(or_empty(configuration.medians.get(name)) for name in measured),
            *(configuration.runs, configuration.failed),
        )
        for goal, configuration in best.items()
    ]
    return Table(columns, tuple(rows), name="best")


def _not_usable(logs: Sequence[UnusableLog]) -> Iterator[Block]:
    if logs:
        yield f"{numbers.counted(len(logs), 'log')} not usable:"
        yield Items(tuple(log.why.cited for log in logs[:MOST_LISTED]))
    if logs[MOST_LISTED:]:
        yield f"and {len(logs[MOST_LISTED:])} more; `-o json` names all"


def as_json(result: LogFigures) -> dict[str, object]:
    """`{"schema_version", "workloads": [...], "not_usable": [...]}`; what was not measured is null."""
    return {
        "schema_version": 1,
        "workloads": [_workload(figures) for figures in result.workloads],
        "not_usable": [{"file": str(log.path), "reason": log.why.text, "code": log.why.code} for log in result.not_usable],
    }


def _workload(figures: Figures) -> dict[str, object]:
    """One workload, always with the same names; metrics of the user's own where there are any."""
    own = {name: asdict(spread) for name, spread in figures.spreads.items() if name not in QUANTITIES}
    return {
        **figures.identity.labels,
        "runs": figures.runs,
        "by_status": {status.replace(" ", "_"): figures.by_status.get(status, 0) for status in STATUSES},
        **{name: asdict(figures.spreads[name]) for name in QUANTITIES},
        **({"metrics": own} if own else {}),
        "best": {goal: _configuration(figures.best[goal] or Configuration({}, 0, 0, {})) for goal in figures.best},
    }


def _configuration(configuration: Configuration) -> dict[str, object]:
    own = {name: median for name, median in configuration.medians.items() if name not in QUANTITIES}
    return {
        "parameters": {name: configuration.parameters.get(name) for name in in_order((*PARAMETERS, *configuration.parameters))},
        "runs": configuration.runs,
        "failed": configuration.failed,
        **{name: configuration.medians.get(name) for name in QUANTITIES},
        **({"metrics": own} if own else {}),
    }


def as_csv(result: LogFigures) -> str:
    """One row per workload: the leaves of its JSON document under dotted names; empty = not measured."""
    rows = [dict(_leaves(_workload(figures))) for figures in result.workloads]
    return "".join(map(csv_line, (*rows[:1], *(row.values() for row in rows))))


def _leaves(document: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, Raw]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            assert value is None or isinstance(value, str | float | int)
            yield f"{prefix}{name}", plain(value) if isinstance(value, float) else value


def extended_head(targets: Iterable[str]) -> tuple[str, ...]:
    """The column names of the extended CSV, with those of all SLA targets that there are."""
    return (
        *history.HEAD,
        *(f"suggested_{name}" for name in PARAMETERS),
        *(f"reward_{name}" for name in REWARDS),
        "reward",
        *(f"sla_{name}" for name in targets),
        *history.DECISION,
    )


def extended_csv(runs: Iterable[Judged], targets: Sequence[str]) -> str:
    runs = [*runs]
    own = history.own_parameters(judged.run for judged in runs)
    rows = (
        (
            *history.row_of(judged.run, judged.suggestion_id),
            *((judged.suggestion.values.suggested if judged.suggestion else {}).get(name) for name in PARAMETERS),
            *(judged.rewards.get(name) for name in REWARDS),
            judged.reward,
            *(judged.sla.get(name) for name in targets),
            *history.decision_of(judged.suggestion, kept_all(judged.sla.values())),
            *history.own_cells(judged.run.parameters, own),
            *history.own_cells(judged.suggestion.values.suggested if judged.suggestion else {}, own),
        )
        for judged in runs
    )
    head = (*extended_head(targets), *own, *(f"suggested_{name}" for name in own))
    return "".join(map(csv_line, (head, *rows)))


def epochs_head(columns: Sequence[str]) -> tuple[str, ...]:
    """The column names of the CSV of epochs, by those of a log."""
    return (
        *OF_RUN,
        *columns,
        *PARAMETERS,
        "suggestion_id",
        *history.DECISION,
        *(f"{when}_{name}" for name in PARAMETERS for when in ("old", "new")),
        *(f"expected_{name}{end}" for name in EXPECTED for end in ("", "_low", "_high")),
    )


def epochs_csv(runs: Iterable[tuple[Judged, Iterable[Mapping[str, float]]]], columns: Sequence[str]) -> Iterator[str]:
    """The CSV of epochs, line by line: of each run the rows of its log."""
    yield csv_line(epochs_head(columns))
    for judged, rows in runs:
        run, identity = judged.run, judged.run.identity
        names_of = (run.run_id, identity.dataset, identity.model, identity.framework, identity.hardware)
        before, after = (*names_of, run.status.value, run.started_at), list(_decision_cells(judged))
        for row in rows:
            yield csv_line((*before, *(row.get(name) for name in columns), *after))


def _decision_cells(judged: Judged) -> Iterator[Raw]:
    made = judged.suggestion
    yield from (judged.run.parameters.get(name) for name in PARAMETERS)
    yield judged.suggestion_id
    yield from history.decision_of(made, kept_all(judged.sla.values()))
    for name in PARAMETERS:
        yield from (made.values.current.get(name), made.values.suggested.get(name)) if made else (None, None)
    for name in EXPECTED:
        expected: Interval | None = getattr(made.next, name) if made else None
        yield from (expected.mean, expected.low, expected.high) if expected else (None, None, None)
