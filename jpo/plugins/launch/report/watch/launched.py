"""Runs that were launched here, and those that Prometheus shows running: one line each."""

from dataclasses import dataclass

from jpo.records import Identity, uncoded
from jpo.report.document import Column, Document, Table


@dataclass(frozen=True, slots=True)
class LaunchedRun:
    """A run of the list. None: unknown.

    Attributes:
        source: engine, or "prometheus".
        state: as its engine said last; `words`: to that.
        since: unix seconds; when it was launched, or began.
        share_done: 0..1.
        recorded: whether it is in the history.
    """

    run_id: str
    identity: Identity
    source: str
    state: str
    since: float | None
    words: str = ""
    share_done: float | None = None
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class LaunchedRuns:
    """The list; `notes`: what could not be found out."""

    runs: tuple[LaunchedRun, ...]
    notes: tuple[str, ...] = ()


def document(launched: LaunchedRuns) -> Document:
    """A table, the newest last."""
    columns = (
        *(Column("run", "key"), Column("workload", "key"), Column("on"), Column("state")),
        *(Column("since (UTC)", quantity="moment"), Column("done", "figure", "share"), Column("", "prose")),
    )
    rows = tuple(
        (
            *(run.run_id, str(run.identity), run.source, run.state, "" if run.since is None else run.since),
            *("" if run.share_done is None else run.share_done, run.words),
        )
        for run in launched.runs
    )
    nothing = "" if rows else "no run was launched here, and none is known to be running; start one with `jpo run`"
    return Document("Runs", (Table(columns, rows, "runs"), nothing, *uncoded(launched.notes)))


def as_json(launched: LaunchedRuns) -> dict[str, object]:
    """`{"schema_version", "runs": [...], "notes": [...]}`."""
    fields = ("source", "state", "since", "share_done", "words", "recorded")
    runs = [
        {"run_id": run.run_id, "workload": run.identity.labels, **{name: getattr(run, name) for name in fields}}
        for run in launched.runs
    ]
    return {"schema_version": 1, "runs": runs, "notes": list(launched.notes)}
