"""A launched run: how it was started, and what came of it, beside the run before it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.ledger import Entry
from jpo.records import USD, Currency, Note, Run, plain_values, uncoded
from jpo.report.document import Cell, Column, Document, Span, Table, Verbatim
from jpo.report.forms.json import dumps
from jpo.wording import names

SHOWN = ("duration_seconds", "cost_usd", "val_loss", "val_accuracy", "train_loss", "epochs", "memory_gib", "cpu_utilisation")


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """A run as `jpo run` leaves it.

    Attributes:
        entry: of the ledger; without an engine's id where nothing was started (--dry-run).
        output: where what it prints is.
        run, log: as they went on record; None: it goes on, or nothing is known.
        before: the run of the same workload that ended well before it.
        costs: of both, in USD; None: not known.
        failure: why the command ends with 7.
        facts: what the log says of model and data besides parameters.
        plan: of --dry-run, what the engine would be given, in its own form; None: the command alone.
    """

    entry: Entry
    output: Path
    notes: tuple[Note, ...] = ()
    run: Run | None = None
    before: Run | None = None
    costs: tuple[float | None, ...] = (None, None)
    currency: Currency = USD
    log: Path | None = None
    failure: LaunchError | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    plan: Mapping[str, object] | None = None

    @property
    def state(self) -> str:
        """ "not started", "submitted", or how it ended."""
        end = self.entry.end
        if end is None:
            return "not started" if self.entry.engine_id is None else "submitted"
        status = self.run.status if self.run is not None else end.ended_as
        return "lost" if status is None else status.value


def document(report: LaunchReport) -> Document:
    """Status, what it took beside the last one, notes."""
    job = report.entry.job
    title = ("Run ", Span(job.run_id), f" of {job.identity} on {report.entry.engine}: ", Span(report.state.replace("_", " ")))
    said = uncoded(note.cited for note in report.notes)
    if report.entry.end is None:
        plan = () if report.plan is None else (Verbatim(dumps(report.plan), "json"),)
        goes_on = f"`jpo watch {job.run_id}` follows it" if report.state == "submitted" else ""
        return Document(title, (Note("", f"command: {' '.join(job.command)}"), *plan, *said), goes_on, report.currency)
    columns = (Column("", "words"), Column("this run", "figure"), Column("last run", "figure"))
    rows = tuple(
        (names.heading(name), Cell(this, name), Cell("" if report.before is None else last, name))
        for name in SHOWN
        for this, last in [(_value(report.run, name, report.costs[0]), _value(report.before, name, report.costs[1]))]
        if this is not None
    )
    return Document(title, (Table(columns, rows, "outcome").filled(), *said), f"output in {report.output}", report.currency)


def _value(run: Run | None, name: str, cost_usd: float | None) -> float | None:
    if run is None:
        return None
    return cost_usd if name == "cost_usd" else run.outcome.of(name)


def as_json(report: LaunchReport) -> dict[str, object]:
    """The published document of `jpo run`; what is not known is null."""
    entry, end = report.entry, report.entry.end
    return {
        "schema_version": 1,
        "run_id": entry.job.run_id,
        "workload": entry.job.identity.labels,
        "on": entry.engine,
        "engine_id": entry.engine_id,
        "command": list(entry.job.command),
        "folder": str(entry.job.folder),
        "parameters": plain_values(entry.job.parameters),
        "state": report.state,
        "exit_code": end and end.exit_code,
        "reason": end.reason if end else "",
        **{name: end and getattr(end, name) for name in ("started_at", "ended_at")},
        "outcome": None if report.run is None else {**report.run.outcome.known, "cost_usd": report.costs[0]},
        "last_run": None
        if report.before is None
        else {"run_id": report.before.run_id, **report.before.outcome.known, "cost_usd": report.costs[1]},
        "facts": dict(report.facts),
        "log": None if report.log is None else str(report.log),
        "output": str(report.output),
        "plan": report.plan,
        "notes": [{"text": note.text, "code": note.code} for note in report.notes],
    }
