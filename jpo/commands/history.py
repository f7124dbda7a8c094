"""`jpo history`: runs and suggestions on record, and how right the last forecasts were, as a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import StringIO
from typing import Any

from rich.console import Console
from rich.table import Table

from jpo.cost import Prices
from jpo.forecast.track_record import inside, share_interval
from jpo.history import RecordedRun, Store
from jpo.history.audit_export import moment
from jpo.project.collect import LEDGER_RUNS, past_forecasts
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.project.project import open_history
from jpo.records import PARAMETERS, Forecast, Identity, Interval, Run, Suggestion, TrackRecord
from jpo.report.explanation import run_json
from jpo.report.run_rows import HEAD, row_of
from jpo.report.spreadsheet import csv_line
from jpo.report.suggestion import track_record
from jpo.wording import numbers
from jpo.wording.names import SHORT
from jpo.wording.printable import printable

MOST_ROWS = 1000
"""Runs, and suggestions, in tables where nobody said how many: laying out 100,000 takes a minute, and nobody reads them."""
FOLDED = ("changes", "decided by")
"""Columns that may break in a narrow terminal; half a number or half an id is none."""
ROOM_FOR_IDS = 110
"""Columns of a terminal in which each run's suggestion has a place; in narrower ones the table below has the ids."""
WIDENED = "JPO-W616"


@dataclass(frozen=True, slots=True)
class Ledger:
    """How the last forecasts of a workload turned out, whatever is shown of its runs.

    Attributes:
        track: quantity by quantity.
        coverage: per quantity the share inside the intervals, with its own interval.
        followed, failed: of the newest runs those that followed a suggestion, and those of them that did not end well.
        widened: the newest suggestion's sentence about intervals that had to be widened; None where they had not.
    """

    track: tuple[TrackRecord, ...]
    coverage: Mapping[str, Interval]
    followed: int
    failed: int
    widened: str | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What is shown: runs and suggestions, oldest first, the runs that followed each of these, and each workload's ledger."""

    runs: Sequence[RecordedRun]
    suggestions: Sequence[Suggestion]
    followers: Mapping[str, Sequence[Run]]
    ledgers: Mapping[Identity, Ledger]

    def newest(self, most: int) -> Seen:
        return replace(self, runs=self.runs[-most:], suggestions=self.suggestions[-most:])


def history(settings: LoadedSettings, *, form: str, limit: int | None, width: int, colour: bool) -> str:
    """The last `limit` runs and suggestions of the store, oldest first; `form` is table, json or csv (runs only).

    Without a limit it is all of them, but a table says so where it leaves out those before the newest MOST_ROWS. The ledgers are
    of the newest runs on record, whatever the limit.
    """
    most = MOST_ROWS if form == "table" and limit is None else None
    prices = prices_of(settings)
    with open_history(settings, read_only=True) as store:
        seen = look(store, prices, most + 1 if most else limit, ledgers=form != "csv")
    if form == "json":
        return as_json(seen)
    if form == "csv":
        return as_csv(seen.runs)
    if most is None or max(len(seen.runs), len(seen.suggestions)) <= most:
        return as_tables(seen, width, colour)
    older = f"the newest {most}; older ones are left out; --limit N shows so many, --format csv all runs\n"
    return as_tables(seen.newest(most), width, colour) + older


def look(store: Store, prices: Prices, limit: int | None, *, ledgers: bool) -> Seen:
    """Read what is shown."""
    runs, suggestions = store.recorded_runs(limit=limit), store.suggestions_of(limit=limit)
    followers: dict[str, list[Run]] = {}
    if ledgers and limit is None:
        for known in runs:
            followers.setdefault(known.suggestion_id or "", []).append(known.run)
    elif ledgers:
        followers = {one.suggestion_id: [*store.runs_following(one.suggestion_id)] for one in suggestions}
    identities = dict.fromkeys([*(known.run.identity for known in runs), *(one.identity for one in suggestions)])
    return Seen(runs, suggestions, followers, {one: ledger_of(store, one, prices) for one in identities if ledgers})


def ledger_of(store: Store, identity: Identity, prices: Prices) -> Ledger:
    """The ledger of a workload, from its newest LEDGER_RUNS runs."""
    recorded = store.recorded_runs(identity, limit=LEDGER_RUNS)
    track = past_forecasts(store, recorded, prices)
    followers = [one.run for one in recorded if one.suggestion_id]
    return Ledger(
        track,
        {past.quantity: share_interval(past.inside, past.forecasts) for past in track},
        len(followers),
        sum(not run.ended_well for run in followers),
        next((widened(one) for one in store.suggestions_of(identity, limit=1)), None),
    )


def widened(suggestion: Suggestion) -> str | None:
    """What a suggestion says of its intervals, if they were widened."""
    if WIDENED not in suggestion.codes:
        return None
    return next((reason for reason in suggestion.reasons if "widened" in reason), "intervals are widened")


def as_json(seen: Seen) -> str:
    """`{"schema_version", "runs": [...], "suggestions": [...], "workloads": [...]}`; what was not measured is null.

    A suggestion's `outcome` are the runs that followed it, and by quantity whether each ended inside its interval.
    """
    document: dict[str, Any] = {
        "schema_version": 1,
        "runs": [
            {**run_json(known.run), "workload": asdict(known.run.identity), "suggestion_id": known.suggestion_id}
            for known in seen.runs
        ],
        "suggestions": [
            {
                "suggestion_id": one.suggestion_id,
                "workload": asdict(one.identity),
                "created_at": one.created_at,
                "status": one.status,
                "current": dict(one.current),
                "suggested": dict(one.suggested),
                "forecast": asdict(one.next),
                "decided_by": one.decided_by,
                "outcome": [
                    {"run_id": run.run_id, "status": run.status.value, "inside": inside(one.next, run.outcome)}
                    for run in seen.followers.get(one.suggestion_id, ())
                ],
            }
            for one in seen.suggestions
        ],
        "workloads": [
            {
                "workload": asdict(identity),
                "track_record": [{**asdict(past), "coverage": asdict(one.coverage[past.quantity])} for past in one.track],
                **{name: getattr(one, name) for name in ("followed", "failed", "widened")},
            }
            for identity, one in seen.ledgers.items()
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_csv(runs: Sequence[RecordedRun]) -> str:
    """One row per run: identity, status, times, parameters, outcome; empty cells where nothing is known."""
    return "".join(map(csv_line, (HEAD, *(row_of(known.run, known.suggestion_id) for known in runs))))


def as_tables(seen: Seen, width: int, colour: bool) -> str:
    """Per workload a table of runs, one of suggestions and the ledger, for people."""
    text = StringIO()
    console = Console(
        file=text, width=width, force_terminal=colour, no_color=not colour, highlight=False, markup=False, emoji=False
    )
    forecasts = {one.suggestion_id: one.next for one in seen.suggestions}
    for identity, ledger in seen.ledgers.items():
        console.print(f"Workload {printable(str(identity))}\n", style="bold")
        ran = [known for known in seen.runs if known.run.identity == identity]
        made = [one for one in seen.suggestions if one.identity == identity]
        differing = [name for name in PARAMETERS if len({known.run.parameters.get(name) for known in ran}) > 1]
        for table in (_runs(ran, differing, forecasts, ids=width >= ROOM_FOR_IDS), _suggestions(made)):
            if table.row_count:
                console.print(table, "")
        if same := _same(ran, differing):
            console.print(same, "", sep="\n")
        for line in lines_of(ledger):
            console.print(line, "")
    if not seen.runs and not seen.suggestions:
        console.print("nothing on record yet; start with `jpo suggest config.ini`")
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def lines_of(ledger: Ledger) -> list[str]:
    """The ledger in sentences; none before the first forecast could be compared."""
    if not ledger.track:
        return []
    failed = f"{ledger.failed} of {ledger.followed} runs that followed a suggestion did not end well." if ledger.failed else ""
    said = f"The newest suggestion says: {printable(ledger.widened)}." if ledger.widened else ""
    return [" ".join(filter(None, (track_record(ledger.track, ledger.coverage), failed, said)))]


def _same(runs: Sequence[RecordedRun], differing: Sequence[str]) -> str:
    """The parameters in which runs do not differ, which need no column."""
    shared = {name: value for name, value in runs[-1].run.parameters.items() if name not in differing} if runs else {}
    told = [f"{SHORT[name]} {numbers.plain(shared[name])}" for name in PARAMETERS if name in shared]
    return f"The same in all runs above: {', '.join(told)}." if told else ""


def _runs(runs: Sequence[RecordedRun], names: Sequence[str], forecasts: Mapping[str, Forecast], *, ids: bool) -> Table:
    met = {known.run.run_id: against(known, forecasts) for known in runs}
    compared = ["forecast"] if any(met.values()) else []
    table = _table(
        "run",
        "ended (UTC)",
        "status",
        *(SHORT[name] for name in names),
        "duration",
        *compared,
        "val loss",
        *(["suggestion"] if ids else []),
    )
    for known in runs:
        run, outcome = known.run, known.run.outcome
        values = [numbers.plain(run.parameters[name]) if name in run.parameters else "" for name in names]
        took = "" if outcome.duration_seconds is None else numbers.duration(outcome.duration_seconds)
        loss = "" if outcome.val_loss is None else numbers.plain(outcome.val_loss)
        name, ended = printable(run.run_id), _time(run.ended_at)
        beside = [met[run.run_id]] if compared else []
        table.add_row(name, ended, _status(known), *values, took, *beside, loss, *([known.suggestion_id or ""] if ids else []))
    return table


def against(known: RecordedRun, forecasts: Mapping[str, Forecast]) -> str:
    """A run that ended well beside the duration that its suggestion expected: "-12% inside"; empty where it had none."""
    forecast, took = forecasts.get(known.suggestion_id or ""), known.run.outcome.duration_seconds
    expected = forecast.duration_seconds if forecast else None
    if expected is None or not took or not known.run.ended_well:
        return ""
    where = "inside" if expected.low <= took <= expected.high else "outside"
    return f"{100 * (took / expected.mean - 1):+.0f}% {where}"


def _status(known: RecordedRun) -> str:
    return "target missed" if known.run.outcome.converged is False else known.run.status.value


def _suggestions(suggestions: Sequence[Suggestion]) -> Table:
    table = _table("suggestion", "made (UTC)", "changes", "expected duration", "decided by")
    for one in suggestions:
        changes = (
            ", ".join(f"{SHORT[change.parameter]} {change.old_text} → {change.new_text}" for change in one.changes) or "kept"
        )
        expected = numbers.expected("duration_seconds", one.next.duration_seconds, bounds=True)
        table.add_row(one.suggestion_id, _time(one.created_at), changes, expected, one.decided_by)
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name not in FOLDED)
    return table


def _time(at: float) -> str:
    """Day and time in UTC; a number where no calendar reaches."""
    found = moment(at)
    return found.strftime("%m-%d %H:%M") if found else f"{at:g}"
