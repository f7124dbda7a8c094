"""`jpo suggest config.ini`: the CI step, and the whole story of JPO.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from jpo.cost.price import rented
from jpo.learning.backlog import not_learnt
from jpo.learning.kept_residuals import residuals_here
from jpo.learning.serving import LEARNING, policy_for, with_learning_noted
from jpo.optimizer import candidates
from jpo.optimizer.advise import advise
from jpo.optimizer.installation import lesson
from jpo.optimizer.suggestion import suggestion_of
from jpo.project.collect import collect, with_file_noted, with_notes
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import estimates_of, in_context, queue_of
from jpo.project.prices import FRESH_SECONDS, market_of
from jpo.project.project import Project, open_project
from jpo.project.proposal import diff_of, propose
from jpo.project.record import CHANGED_MEANWHILE, after_a_lost_race, carry_out, noted, refusals_on_record
from jpo.project.request import approved_by_hand, learn_seconds_of, request_of
from jpo.records import Known, Parameters, PolicyName
from jpo.report.answer import Report


@dataclass(frozen=True, slots=True)
class SuggestOptions:
    """Options of the command line; see `jpo suggest --help`."""

    suggestion_id: str
    now: float
    dry_run: bool = False
    diff: bool = False
    offline: bool = False
    strict: bool = False
    learn: bool = True
    """Work out what the other jobs here showed, where it is new; who learns from the runs is commands/learn.py, afterwards."""
    policy: PolicyName | None = None
    """Who decides in comparisons; None: who the settings say."""
    seed: int = 0
    chosen: Parameters = field(default_factory=dict)
    """The values of --set."""
    done_by: bool = False
    """The target of time came from --deadline: waiting counts."""


def suggest(path: Path, settings: LoadedSettings, options: SuggestOptions) -> Report:
    """Read, collect, decide, check, record, write; all of it once more where config.ini was changed in between."""
    report, again = after_a_lost_race(
        lambda suggestion_id: suggest_once(path, settings, replace(options, suggestion_id=suggestion_id)), options.suggestion_id
    )
    return replace(report, suggestion=noted(report.suggestion, CHANGED_MEANWHILE)) if again else report


def suggest_once(path: Path, settings: LoadedSettings, options: SuggestOptions) -> Report:
    """Read, collect, decide, check, record, write."""
    asks = not (options.offline or options.dry_run)  # for prices, which are kept
    market = market_of(settings, fresh_seconds=FRESH_SECONDS if asks else None)
    with open_project(path, settings, now=options.now, read_only=options.dry_run, by_hand=options.chosen) as job:
        chosen = approved_by_hand(job, options.chosen)
        known = with_file_noted(collect(job, offline=options.offline, strict=options.strict), job)
        known = with_notes(known, estimates_of(job.workload, settings, known.runs)(job.workload.current).notes)
        known = in_context(with_notes(known, market[1] if market else ()), job)
        request = request_of(job, known, chosen=chosen, policy=options.policy, done_by=options.done_by)
        learns = options.learn and not options.dry_run and learn_seconds_of(settings) > 0
        known = with_learnt(known, job, request.policy, learn=learns)
        queue = queue_of(job.workload, settings)
        if known.runs and not options.offline:
            ahead = queue.waits_for(
                request.current, lambda: candidates.admissible_of(candidates.collect(request, known.runs, known.siblings))
            )
            known, request = with_notes(known, queue.notes), replace(request, queue=ahead)
        policy = policy_for(job.store, request.boldness.explore, request.policy)
        with refusals_on_record(job, request, known, seed=options.seed):
            advice = advise(request, known, policy, seed=options.seed)
        proposal = propose(job, advice, known.runs, request.as_run)
        suggestion = suggestion_of(advice, request, proposal, known, policy, suggestion_id=options.suggestion_id, now=options.now)
        suggestion, written = carry_out(job, suggestion, proposal, dry_run=options.dry_run)  # refuses; or records, then writes
        diff = diff_of(proposal) if options.diff else None
        both, prices = (suggestion.values.current, suggestion.values.suggested), request.prices
        instances = rented(both[0], prices, now=options.now), rented(both[1], prices, now=options.now)
        asked = () if options.offline else ((suggestion.values.suggested, suggestion.next),)
        end = next(iter(queue.ends(asked, now=options.now)), None)
        return Report(suggestion, path, written, known.track, diff, job.currency, job.workload.content, instances, end)


def with_learnt(known: Known, job: Project, name: PolicyName, *, learn: bool) -> Known:
    """Add what the other jobs of this installation showed, in words, too, and why the agent does not learn where it was to."""
    store, identity = job.store, job.workload.identity
    residuals = residuals_here(store, identity, (*known.others, *known.runs), learn=learn)
    known = with_notes(known, [shown] if (shown := lesson(known.others, known.runs)) else [])
    codes = not_learnt(store, identity, known.runs) if learn and name in LEARNING else ()
    return with_learning_noted(replace(known, residuals=residuals), store, name, codes)
