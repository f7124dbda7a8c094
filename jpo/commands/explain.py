"""`jpo explain [ID]`: why this value? What a suggestion rested on, what else there was, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.cost import Prices, run_cost_usd
from jpo.errors import TelemetryError, UsageError
from jpo.history import AuditRecord
from jpo.history.following.contradictions import contradictions
from jpo.history.undo import in_effect
from jpo.history.unsettled import fate, in_words
from jpo.project.collect import LEDGER_RUNS, past_forecasts
from jpo.project.load import LoadedSettings
from jpo.project.project import ProjectStore, open_project_store
from jpo.project.running import running_now
from jpo.project.sources import prometheus_of
from jpo.project.workload import content_now, only_of
from jpo.records import Identity, Run, Running, Suggestion, same, share_interval
from jpo.report.answer import Report
from jpo.report.explanation import Explanation
from jpo.wording import numbers
from jpo.wording.contradictions import STRAYED
from jpo.wording.contradictions import in_words as not_as_given


def explain(
    suggestion_id: str | None, settings: LoadedSettings, config: Path | None = None, *, offline: bool = False
) -> Explanation:
    """All that the store knows of the suggestion with this id, or of the newest one, and which runs of its job go on now.

    `config`: the file whose newest suggestion is meant; None: the newest of all. `offline`: ask no server what goes on.

    Raises UsageError: JPO-E507, nothing is on record under this id, or at all.
    """
    with open_project_store(settings) as job:
        made = _made(job, suggestion_id, settings, config)
        going, unasked = ((), "") if offline else now_going_on(job, made, settings)
        return replace(explained(job, made), going_on=going, unasked=unasked)


def rules(suggestion_id: str | None, settings: LoadedSettings, config: Path | None = None) -> Suggestion:
    """The suggestion, of which `explain` says the same, for its rules.

    Raises UsageError: JPO-E507, nothing is on record under this id, or at all.
    """
    with open_project_store(settings) as job:
        return _made(job, suggestion_id, settings, config)


def _made(job: ProjectStore, suggestion_id: str | None, settings: LoadedSettings, config: Path | None) -> Suggestion:
    return job.store.suggestion(suggestion_id) if suggestion_id else newest(job, only_of(config, settings))


def now_going_on(
    job: ProjectStore, suggestion: Suggestion, settings: LoadedSettings
) -> tuple[Sequence[tuple[Running, bool]], str]:
    """The runs of the suggestion's job that go on, each and whether it began after it with its values; or why none is known."""
    try:
        runs = running_now(prometheus_of(settings), suggestion.identity, settings, job.store)
    except (TelemetryError, UsageError) as error:  # a token that is not here is no reason to explain nothing
        return (), f"what runs now is not known: {error.in_short}"
    changed, made_at, values = {each.parameter for each in suggestion.changes}, suggestion.created_at, suggestion.values.suggested
    later = [run.started_at is not None and run.started_at >= made_at for run in runs]
    with_them = [changed <= run.parameters.keys() and same(run.parameters, values) for run in runs]
    return tuple((run, begun and has) for run, begun, has in zip(runs, later, with_them, strict=True)), ""


def explained(job: ProjectStore, suggestion: Suggestion) -> Explanation:
    """All that the store knows of a suggestion."""
    store, prices, events = job.store, job.prices, job.store.events_about(suggestion)
    identity, followers = suggestion.identity, store.runs_following(suggestion.suggestion_id)
    recorded = store.recorded_runs(identity, limit=LEDGER_RUNS)
    named = [run for run_id in suggestion.evidence.run_ids if (run := store.run(run_id)) and run.identity == identity]
    track = past_forecasts(store, recorded, prices)
    path = next((str(event.data["config"]) for event in events if "config" in event.data), "config.ini")
    unsettled = [event for event in store.unsettled(identity) if event.data["suggestion_id"] == suggestion.suggestion_id]
    written = any(event.kind == "written" for event in events)
    written = written or any(fate(event, content_now(path)) == "written" for event in unsettled)
    strays = [stray for stray in contradictions(store, identity, None).strays if stray.suggestion_id == suggestion.suggestion_id]
    contradicted = [f"{not_as_given(stray)}: not carried out as suggested [{STRAYED}]" for stray in strays]
    standings = standing(suggestion, events, in_effect(store, identity, recorded), followers, unsettled)
    return Explanation(
        Report(suggestion, Path(path), written, track, currency=job.currency),
        evidence=tuple(priced(run, suggestion.values.current, prices) for run in named),
        followers=tuple(priced(run, suggestion.values.suggested, prices) for run in followers),
        coverage={past.quantity: share_interval(past.inside, past.forecasts) for past in track},
        standing=(*standings, *contradicted),
    )


def newest(job: ProjectStore, identity: Identity | None = None) -> Suggestion:
    """The suggestion made last, of one workload or of all."""
    suggestions = job.store.suggestions_of(identity, limit=1)
    if not suggestions:
        finding = f"contains no suggestion{f' for {identity}' if identity else ''}"
        raise UsageError(job.place, finding, "run `jpo suggest config.ini` first", code="JPO-E507")
    return suggestions[0]


def priced(run: Run, usual: Mapping[str, float], prices: Prices) -> Run:
    """The run with its cost, as far as it is known; what it does not report of its parameters had the usual values."""
    return replace(run, outcome=replace(run.outcome, cost_usd=run_cost_usd(run.completed(usual), prices)))


def standing(
    suggestion: Suggestion,
    events: Sequence[AuditRecord],
    effective: Sequence[Suggestion],
    followers: Sequence[Run],
    unsettled: Sequence[AuditRecord] = (),
) -> tuple[str, ...]:
    """What became of it: written or why not, undone, superseded, and by how many runs it was followed.

    `effective`: the suggestions of the workload that reached config.ini, as they went on record; `unsettled`: its record, where
    none says what became of it.
    """
    became = [in_words(event, content_now) for event in unsettled] or _written(suggestion, events)
    badly = sum(not run.ended_well for run in followers)
    followed = f"followed by {numbers.counted(len(followers), 'run')}{f', {badly} did not end well' if badly else ''}"
    return (*became, *_since(suggestion, effective), followed if followers else "no run has finished since")


def _written(suggestion: Suggestion, events: Sequence[AuditRecord]) -> list[str]:
    kinds = {event.kind: event for event in events}
    stopped = kinds.get("conflict") or kinds.get("not written")
    if stopped:
        return [f"not written: {stopped.data.get('reason')}"]
    if "written" in kinds:
        return [f"written into {kinds['written'].data.get('config')} on {numbers.moment(kinds['written'].at)} UTC"]
    kept = suggestion.status == "kept"
    return ["nothing to write: today's values were kept" if kept else "there is no record that it was written"]


def _since(suggestion: Suggestion, effective: Sequence[Suggestion]) -> list[str]:
    """What later suggestions did to this one. A rollback supersedes nothing: it brings back what had been superseded."""
    ids = [made.suggestion_id for made in effective]
    if suggestion.suggestion_id not in ids or suggestion.status == "kept":
        return []
    undone = undone_by(effective)
    if suggestion.suggestion_id in undone:
        return [f"undone by rollback {undone[suggestion.suggestion_id]}"]
    later = effective[ids.index(suggestion.suggestion_id) + 1 :]
    changed = (made.suggestion_id for made in reversed(later) if made.changes and not made.decision.undoes)
    newest_change = next((suggestion_id for suggestion_id in changed if suggestion_id not in undone), None)
    return [f"superseded by suggestion {newest_change}" if newest_change else "JPO has changed nothing since"]


def undone_by(made: Sequence[Suggestion]) -> dict[str, str]:
    """Suggestion -> the rollback that undid it, which was not undone itself. A rollback undoes the one it names and all since."""
    ids = [suggestion.suggestion_id for suggestion in made]
    undone: dict[str, str] = {}
    for at in reversed(range(len(made))):
        suggestion = made[at]
        if suggestion.decision.undoes in ids and suggestion.suggestion_id not in undone:
            before = ids[ids.index(suggestion.decision.undoes) : at]
            undone = dict.fromkeys(before, suggestion.suggestion_id) | undone
    return undone
