"""`jpo history`: runs and suggestions on record, and the ledger: how right the last forecasts were."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.cost import Prices
from jpo.cost.sla import check_run, kept_all
from jpo.forecast.calibration import inside
from jpo.history import RecordedRun, Store
from jpo.history.figures import ending
from jpo.history.following.contradictions import contradictions
from jpo.history.runs import RunKey, key_of
from jpo.history.undo import in_effect
from jpo.history.unsettled import open_ends
from jpo.optimizer.before_and_after import Spent, as_they_ran, spent_of
from jpo.project.collect import LEDGER_RUNS, past_forecasts
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import events_of
from jpo.project.project import open_project_store, targets_of
from jpo.project.workload import content_now, only_of
from jpo.records import Forecast, Identity, Run, Suggestion, share_interval
from jpo.report.before_after import MOST_WORKLOADS
from jpo.report.history import Compared, Follower, History, Ledger, PastRun
from jpo.wording.contradictions import sentences

MOST_ROWS, MOST_FOR_PROGRAMS = 1000, 5000
"""Runs, and suggestions, where no limit was said: laying out 100,000 takes a minute, and nobody reads them."""
LEDGERS_FOR_PROGRAMS = 100
WIDENED = "JPO-W616"


def history(settings: LoadedSettings, config: Path | None = None, *, limit: int | None, all_rows: bool) -> History:
    """The last `limit` runs and suggestions of the store, oldest first; the ledgers are of the newest runs, whatever the limit.

    `config`: the file whose workload alone is shown; None: all. `all_rows`: without a limit, the newest MOST_FOR_PROGRAMS; else
    the newest MOST_ROWS. Where there are more, the history says so.
    """
    identity, most = only_of(config, settings), None if limit else MOST_FOR_PROGRAMS if all_rows else MOST_ROWS
    ledgers = LEDGERS_FOR_PROGRAMS if all_rows else MOST_WORKLOADS
    with open_project_store(settings) as job:
        past = read(job.store, job.prices, limit, targets_of(settings), identity, most=most, ledgers=ledgers)
        past = replace(past, unsettled=open_ends(job.store, content_now, identity), limited=limit is not None)
    return replace(past, events=events_of(settings, {entry.recorded.run.run_id for entry in past.runs}))


def read(
    store: Store,
    prices: Prices,
    limit: int | None,
    targets: Mapping[str, float],
    only: Identity | None = None,
    *,
    most: int | None = None,
    ledgers: int = MOST_WORKLOADS,
) -> History:
    """Runs and suggestions with what came of them.

    Args:
        targets: what every run was to keep.
        only: the workload; None: all.
        most: without a limit, so many at most; if there are more, the history says so.
        ledgers: of how many workloads, those that ran last, it is said how right forecasts were.
    """
    limit = most + 1 if most else limit
    recorded, suggestions = store.recorded_runs(only, limit=limit), store.suggestions_of(only, limit=limit)
    more = most is not None and max(len(recorded), len(suggestions)) > most
    every = limit is None or max(len(recorded), len(suggestions)) < limit
    if most and more:
        recorded, suggestions = recorded[-most:], suggestions[-most:]
    forecasts = {suggestion.suggestion_id: suggestion.next for suggestion in suggestions}
    made_by = {suggestion.suggestion_id: suggestion for suggestion in suggestions}
    seen = dict.fromkeys([*(entry.run.identity for entry in recorded), *(made.identity for made in suggestions)])
    last = [*dict.fromkeys([*(entry.run.identity for entry in reversed(recorded)), *seen])][:ledgers]
    identities = [identity for identity in seen if identity in last]
    whole, spent, effective = whole_and_spent(store, recorded, suggestions, prices) if targets or every else ({}, {}, {})
    by_jpo = store.stopped_by_jpo()
    return History(
        [
            PastRun(
                entry,
                ending(entry.run, by_jpo),
                compared(entry, forecasts),
                made_by.get(entry.suggestion_id or ""),
                kept_all(check.verdict for check in check_run(targets, whole.get(key_of(entry.run), entry.run), prices)),
            )
            for entry in recorded
        ],
        suggestions,
        followers_of(store, suggestions, recorded if every else None),
        {identity: ledger_of(store, identity, prices) for identity in identities},
        newest=most if more else None,
        workloads=len(store.numbers_of_runs()) if len(seen) > ledgers else 0,
        spent=spent if every else {},
        effective=effective,
        contradictions=[note.cited for identity in identities for note in sentences(contradictions(store, identity, None), None)],
    )


def whole_and_spent(
    store: Store, recorded: Sequence[RecordedRun], suggestions: Sequence[Suggestion], prices: Prices
) -> tuple[dict[RunKey, Run], dict[str, Spent], dict[Identity, Sequence[Suggestion]]]:
    """Runs with the parameters that they do not report; what those of each suggestion took; by workload, what took effect."""
    entries, whole, spent = defaultdict[Identity, list[RecordedRun]](list), dict[RunKey, Run](), dict[str, Spent]()
    effective = dict[Identity, Sequence[Suggestion]]()
    newest = {made.identity: made.values.suggested for made in suggestions}
    for entry in recorded:
        entries[entry.run.identity].append(entry)
    written = store.written() if len(entries) > 1 else None
    for identity, some in entries.items():
        made = effective[identity] = in_effect(store, identity, some, written)
        whole |= {key_of(run): run for run in as_they_ran(made, some, newest.get(identity, {}))}
        spent |= spent_of(made, some, prices)
    return whole, spent, effective


def compared(recorded: RecordedRun, forecasts: Mapping[str, Forecast]) -> Compared | None:
    """A run that ended well next to the duration that its suggestion expected."""
    forecast, seconds = forecasts.get(recorded.suggestion_id or ""), recorded.run.outcome.duration_seconds
    expected = forecast.duration_seconds if forecast else None
    if expected is None or not seconds or not recorded.run.ended_well:
        return None
    return Compared(seconds / expected.mean, expected.low <= seconds <= expected.high)


def followers_of(
    store: Store, suggestions: Sequence[Suggestion], every_run: Sequence[RecordedRun] | None
) -> dict[str, list[Follower]]:
    """The runs that followed each suggestion; where every run was read, the store is not asked again."""
    if every_run is None:
        runs = {made.suggestion_id: [*store.runs_following(made.suggestion_id)] for made in suggestions}
    else:
        runs = {made.suggestion_id: [] for made in suggestions}
        for entry in every_run:
            if entry.suggestion_id in runs:
                runs[entry.suggestion_id].append(entry.run)
    return {
        made.suggestion_id: [Follower(run, inside(made.next, run.outcome)) for run in runs[made.suggestion_id]]
        for made in suggestions
    }


def ledger_of(store: Store, identity: Identity, prices: Prices) -> Ledger:
    """The ledger of a workload, from its newest LEDGER_RUNS runs."""
    recorded = store.recorded_runs(identity, limit=LEDGER_RUNS)
    track = past_forecasts(store, recorded, prices)
    followers = [entry.run for entry in recorded if entry.suggestion_id]
    return Ledger(
        track,
        {past.quantity: share_interval(past.inside, past.forecasts) for past in track},
        len(followers),
        sum(not run.ended_well for run in followers),
        next((note.text for newest in store.suggestions_of(identity, limit=1) for note in newest.having(WIDENED)), None),
    )
