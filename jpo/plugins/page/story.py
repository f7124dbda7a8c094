"""`jpo report`: what JPO did with each workload of a store and what came of it, for a team lead and for an audit.

The store is read, nothing is asked of a server, and nothing is written but the report. The chain of the audit log is verified
first; where it is broken, the report says so before everything else.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from jpo.cost import Prices, run_cost_usd, usd_per_hour
from jpo.cost.sla import check_run, compliance, measured
from jpo.errors import StoreError
from jpo.history import AuditRecord, Store, verify
from jpo.history.audit import AuditRow, read_row
from jpo.history.canonical import canonical
from jpo.history.events import SETTLED
from jpo.history.figures import spread
from jpo.history.undo import in_effect
from jpo.learning.serving import own_policy
from jpo.optimizer.before_and_after import Sides, as_they_ran, sides_of
from jpo.plugins.page.configurations import measured_front
from jpo.plugins.page.report.record import AuditDigest, Review, ReviewedRun, ReviewedSuggestion, WorkloadReview
from jpo.plugins.page.rewards import reward_components
from jpo.plugins.page.savings import ALWAYS, saved_by_run, savings, together
from jpo.project.load import LoadedSettings
from jpo.project.project import ProjectStore, open_project_store, own_direction, own_metrics, preference_of, targets_of
from jpo.project.workload import read_workload
from jpo.records import Identity, Run, Suggestion, as_stored
from jpo.report.audit import maker
from jpo.report.before_after import WorkloadChange, only_last
from jpo.report.history import History, PastRun
from jpo.version import __version__

KINDS = ("suggested", "kept", "rolled back")
NOTABLE = ("refused", "conflict", "not written", "rolled back", "forgotten")
COMPARED = ("current", "suggested", "decided_by")
"""What the tables and the log both say of a suggestion."""

MOST_RUNS, MOST_OF_EACH = 5000, 1000
"""Runs of one report, of the workloads that ran last, and of each of several: the page has a megabyte for each thousand."""
MOST_SECTIONS = 50
"""Workloads of one report, however few runs they have."""
Past: TypeAlias = Callable[[Store, Prices, int | None, Mapping[str, float], Identity | None], History]
ChangeOf: TypeAlias = Callable[[Identity, Sides, Prices, Mapping[str, bool]], WorkloadChange]
"""What commands/history.py and commands/compare.py answer; commands do not know each other."""


def report(config: Path | None, settings: LoadedSettings, read: Past, change_of: ChangeOf, *, now: float) -> Review:
    """The report of a workload, or (None) of every one on record.

    Raises StoreError: the store cannot be read; a broken chain is in the report instead.
    """
    targets = targets_of(settings)
    only = read_workload(config, settings, now=now).identity if config else None
    with open_project_store(settings) as job:
        of, notes = within_bounds(job.store, only)
        pasts = {identity: read(job.store, job.prices, of[identity], targets, identity) for identity in sorted(of, key=str)}
        pasts = {identity: past for identity, past in pasts.items() if past.ledgers}
        made = [suggestion for past in pasts.values() for suggestion in past.suggestions]
        log = read_log(job.store, {each.suggestion_id for each in made})  # after the tables: what they hold is in it by then
        workloads = [reviewed(identity, past, log, job, settings, change_of) for identity, past in pasts.items()]
        log = replace(log, contradicted=contradicted(made, log) if log.chain.ok else ())
        decides = decider(job.store)
        place, currency = job.place, job.currency
    every = [saved for workload in workloads for saved in workload.saved]
    known = dict.fromkeys((*ALWAYS, *(one.quantity for one in every)))
    saved = {name: together(one for one in every if one.quantity == name) for name in known}
    notes += [note for past in pasts.values() for note in (*past.contradictions, *past.unsettled)]
    return Review(now, place, __version__, workloads, saved, targets, log, decides, notes, currency)


def within_bounds(store: Store, only: Identity | None) -> tuple[dict[Identity, int], list[str]]:
    """How many of the newest runs of which workloads a report rests on, and what is left out of it, in sentences."""
    numbers = store.numbers_of_runs()
    most = MOST_RUNS if only else MOST_OF_EACH
    every = dict.fromkeys([only] if only else (*numbers, *store.workloads()), most)
    so_far = accumulate(min(most, numbers.get(identity, 0)) for identity in every)
    shown = dict([item for item, runs in zip(every.items(), so_far, strict=True) if runs <= MOST_RUNS][:MOST_SECTIONS])
    left_out = [
        f"of {identity} the newest {most:,} of {numbers[identity]:,} runs count here, and no older ones"
        + ("" if only else f": name its CONFIG.INI for up to {MOST_RUNS:,}")
        for identity in shown
        if numbers.get(identity, 0) > most
    ]
    return shown, [*left_out, *([more] if (more := only_last(len(shown), len(every))) else [])]


def refuse_broken(review: Review) -> None:
    """To be called when the report is written: a broken chain is an error all the same.

    Raises StoreError: JPO-E511.
    """
    chain = review.audit.chain
    if not chain.ok:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        raise StoreError(review.place, f"audit log: {chain.reason}", remedy, code="JPO-E511")
    if review.audit.contradicted:
        finding = f"suggestion {review.audit.contradicted[0]} is not what the audit log says of it"
        raise StoreError(review.place, finding, "restore the store from a backup; trust the log alone", code="JPO-E511")


def read_log(store: Store, suggestions: Container[str]) -> AuditDigest:
    """The audit log, read once, as far as its chain holds; of suggestions only the records of these are kept."""
    kinds = Counter[str]()
    kept: dict[str, list[AuditRecord]] = {"notable": [], "learnt": [], "tested": []}
    made: dict[str, AuditRecord] = {}
    became: dict[str, str] = {}

    def note(row: AuditRow) -> None:
        kinds[row.kind] += 1
        if row.kind == "observed":
            return
        record = read_row(row)
        suggestion_id = str(record.data.get("suggestion_id"))
        if row.kind in KINDS and suggestion_id in suggestions:
            made[suggestion_id] = record
        if row.kind in SETTLED and suggestion_id in suggestions:
            became[suggestion_id] = row.kind
        if row.kind in NOTABLE or row.kind in kept:
            kept["notable" if row.kind in NOTABLE else row.kind].append(record)

    chain = verify(store, also=note)
    return AuditDigest(chain, dict(kinds.most_common()), kept["notable"], kept["learnt"], kept["tested"], made, became)


def contradicted(suggestions: Iterable[Suggestion], log: AuditDigest) -> tuple[str, ...]:
    """Suggestions of which the tables say something else than the log, or the log nothing."""
    return tuple(made.suggestion_id for made in suggestions if not _as_logged(made, log.made.get(made.suggestion_id)))


def _as_logged(made: Suggestion, record: AuditRecord | None) -> bool:
    said = {name: record.data[name] for name in COMPARED if name in record.data} if record else {}
    stored = as_stored(made)
    return bool(said) and canonical({name: stored[name] for name in said}) == canonical(said)


def reviewed(
    identity: Identity, past: History, log: AuditDigest, job: ProjectStore, settings: LoadedSettings, change_of: ChangeOf
) -> WorkloadReview:
    targets = targets_of(settings)
    runs = [one for one in past.runs if one.recorded.run.identity == identity]
    made = [one for one in past.suggestions if one.identity == identity]
    recorded = [one.recorded for one in runs]
    effective = past.effective[identity] if identity in past.effective else in_effect(job.store, identity, recorded)
    sides = sides_of(effective, recorded)
    whole = as_they_ran(effective, recorded, made[-1].values.suggested if made else {})
    saved = savings(sides, job.prices)
    return WorkloadReview(
        identity,
        saved,
        change_of(identity, sides, job.prices, own_direction(settings)),
        [reviewed_run(one, run, targets, job.prices) for one, run in zip(runs, whole, strict=True)],
        [decision(one, past, log) for one in made],
        past.ledgers[identity],
        compliance(check_run(targets, run, job.prices) for run in whole),
        measured_front(whole, job.prices, next(iter(own_metrics(settings).values()), None)),
        list(reward_components(whole, targets, job.prices, preference_of(settings))),
        made[-1].values.suggested if made else {},
        {one.quantity: saved_by_run(one, sides, job.prices) for one in saved},
        repository_of(log.made.get(made[-1].suggestion_id)) if made else "",
    )


def reviewed_run(past: PastRun, run: Run, targets: Mapping[str, float], prices: Prices) -> ReviewedRun:
    """A run, with all its parameters, with what it cost, and what it promised."""
    checks = [(check, measured(check.name, run, prices)) for check in check_run(targets, run, prices)]
    return ReviewedRun(past, run_cost_usd(run, prices), usd_per_hour(run.parameters, prices), checks)


def decision(made: Suggestion, past: History, log: AuditDigest) -> ReviewedSuggestion:
    """A suggestion with what came of it."""
    record, followers = log.made.get(made.suggestion_id), past.followers.get(made.suggestion_id, ())
    fate = log.became.get(made.suggestion_id, "unknown") if made.changes else "kept"
    ended = [follower for follower in followers if follower.run.ended_well]  # forecasts are of such runs
    well = [seconds for follower in ended if (seconds := follower.run.outcome.duration_seconds)]
    inside = [follower.inside["duration_seconds"] for follower in ended if "duration_seconds" in follower.inside]
    spent = past.spent.get(made.suggestion_id)
    return ReviewedSuggestion(made, asked_by(record), fate, spread(well), len(followers), len(inside), sum(inside), spent)


def asked_by(record: AuditRecord | None) -> str:
    """Who asked for a suggestion, without the page of the pipeline, which the log has."""
    by = record.data.get("by") if record else None
    return maker({"by": {name: said for name, said in by.items() if name != "url"}}) if isinstance(by, Mapping) else ""


def repository_of(record: AuditRecord | None) -> str:
    """Where the job is at home: its repository, or the folder of its config.ini; empty: nobody knows."""
    data = record.data if record else {}
    by = data.get("by")
    named = by.get("repository") if isinstance(by, Mapping) else None
    return str(named or str(data.get("config", "")).rpartition("/")[0])


def decider(store: Store) -> str:
    """Who decides where no user does, in words."""
    own = own_policy(store)
    if own and own.released:
        return "the agent that learnt here, since it passed its release test"
    return "the policy that came with JPO, or the belief rule where none did; none that learnt here has passed its release test"
