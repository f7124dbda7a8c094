"""`jpo suggest config.ini`: the CI step, and the whole story of JPO.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from jpo.learning.kept_residuals import residuals_here
from jpo.learning.serving import LEARNING, policy_for, with_learning_noted
from jpo.optimizer import candidates
from jpo.optimizer.advise import advise
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import instances_of, suggestion_of
from jpo.project.collect import collect, with_file_noted, with_notes
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import in_context, in_past_contexts, queue_of
from jpo.project.project import Project, open_project
from jpo.project.proposal import diff_of, propose
from jpo.project.record import CHANGED_MEANWHILE, after_a_lost_race, carry_out, noted, refusals_on_record
from jpo.project.request import approved_by_hand, request_of
from jpo.records import Known, Parameters, PolicyName
from jpo.report.suggestion import Report


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
    policy: PolicyName | None = None
    """Who decides in comparisons; None: who the settings say."""
    seed: int = 0
    chosen: Parameters = field(default_factory=dict)
    """The values of --set."""
    done_by: bool = False
    """The target of time came from --deadline: waiting counts."""
    lasting_targets: Mapping[str, float] | None = None
    """The SLA targets that last, where --deadline and --max-cost set others for this once; None: those of the settings."""


def suggest(path: Path, settings: LoadedSettings, options: SuggestOptions) -> Report:
    """Read, collect, learn, decide, check, record, write; all of it once more where config.ini was changed in between."""
    report, again = after_a_lost_race(
        lambda suggestion_id: suggest_once(path, settings, replace(options, suggestion_id=suggestion_id)), options.suggestion_id
    )
    return replace(report, suggestion=noted(report.suggestion, CHANGED_MEANWHILE)) if again else report


def suggest_once(path: Path, settings: LoadedSettings, options: SuggestOptions) -> Report:
    """Read, collect, learn, decide, check, record, write."""
    with open_project(path, settings, now=options.now, read_only=options.dry_run, by_hand=options.chosen) as job:
        chosen = approved_by_hand(job, options.chosen)
        known = with_file_noted(collect(job, offline=options.offline, strict=options.strict), job)
        known = in_context(known, job)
        request = request_of(job, known, chosen=chosen, policy=options.policy, done_by=options.done_by)
        known = learn_what_is_new(job, request, known, options)
        queue = queue_of(job.workload, settings)
        if known.runs and not options.offline:
            ahead = queue.ahead(
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
        instances = instances_of(suggestion, request.prices, now=options.now)
        asked = () if options.offline else ((suggestion.values.suggested, suggestion.next),)
        end = next(iter(queue.ends(asked, now=options.now)), None)
        return Report(suggestion, path, written, known.track, diff, job.currency, job.workload.content, instances, end)


def learn_what_is_new(job: Project, request: Request, known: Known, options: SuggestOptions) -> Known:
    """Let the agent learn; where it does not, the suggestion is made all the same, with a note in the report."""
    store, identity, seconds = job.store, job.workload.identity, job.learn_budget_seconds
    learning = options.learn and not options.dry_run and seconds > 0
    not_learnt: tuple[str, ...] = ()
    known = replace(known, residuals=residuals_here(store, identity, (*known.others, *known.runs), learn=learning))
    if learning and request.policy in LEARNING:
        from jpo.learning.continual import keep_up  # what only learning needs takes a while to import

        # with the targets of --deadline, which hold for this once, the agent would begin anew
        lasting = request
        if options.lasting_targets is not None:
            lasting = replace(request, wanted=replace(request.wanted, targets=options.lasting_targets))
        new = in_past_contexts(known, job)
        not_learnt = keep_up(store, identity, new, lasting, seconds=seconds, now=job.now, seed=options.seed)
    return with_learning_noted(known, store, request.policy, not_learnt)
