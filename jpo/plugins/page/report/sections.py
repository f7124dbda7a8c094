"""The report for people: what JPO brought, a section per workload, what the agent learnt, and the audit log."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from jpo.plugins.page.report import charts
from jpo.plugins.page.report.answer import SAVED, answer, lost
from jpo.plugins.page.report.record import AuditDigest, Review, ReviewedRun, ReviewedSuggestion, WorkloadReview
from jpo.plugins.page.savings import ALWAYS
from jpo.records import Note, uncoded
from jpo.report import audit, before_after, sla
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Inline, Row, Section, Span, Table, estimate
from jpo.report.history import against, assumed_in, differing_and_shared, kind_of, ledger_blocks, or_empty
from jpo.report.sla import SlaReport
from jpo.wording import names, numbers

T = TypeVar("T")
FATES: Mapping[str, Emphasis] = {"written": "good", "conflict": "bad", "not written": "bad", "unknown": "warning"}
VERDICTS: Mapping[str, Emphasis] = {"ok": "good", "broken": "bad"}
FORECAST = "by forecast "
"""Before a saving that no run from before JPO bears out."""
MOST_WORKLOADS = 10
"""In full, where only the newest rows are shown."""
NOTHING = "nothing on record yet; start with `jpo suggest config.ini`"
NOTHING_OF_IT = "of this workload nothing is on record; `jpo report` without CONFIG.INI shows the others"
UNTRUSTED = "what follows this record cannot be trusted, nor can the figures below; restore the store from a backup"


def document(review: Review) -> Document:
    """The whole report."""
    shown = review.workloads[: review.sections]
    sections = [Section("What JPO brought", tuple(_overview(review))), *(_workload(one, review) for one in shown)]
    more = (
        f"the first {MOST_WORKLOADS} of {len(review.workloads)} workloads: name the CONFIG.INI of another, or --html FILE for all"
    )
    blocks: tuple[Block, ...] = (
        *(sections if review.workloads else [NOTHING_OF_IT if review.audit.chain.records else NOTHING]),
        Note("", more) if len(shown) < len(review.workloads) else "",
        Section("Learning", tuple(_learning(review)), folded=True),
        Section("Audit log", tuple(_audit(review)), folded=True),
        *uncoded(review.notes),
        f"Made {numbers.moment(review.made_at)} UTC by JPO {review.version}; store: {review.place}",
    )
    return Document("JPO report", blocks, currency=review.currency, alarm=alarm(review.audit), interactive=True)


def alarm(log: AuditDigest) -> str:
    """What is wrong with the log, loud; empty where it holds."""
    if not log.chain.ok:
        return f"THE AUDIT CHAIN IS BROKEN: {log.chain.reason}. {UNTRUSTED[0].upper()}{UNTRUSTED[1:]}."
    if log.contradicted:
        ids = ", ".join(log.contradicted[:3]) + (" and others" if log.contradicted[3:] else "")
        return (
            f"THE STORE CONTRADICTS ITS AUDIT LOG: of {ids} it says something else. Its tables were altered: trust the log alone."
        )
    return ""


def _overview(review: Review) -> Iterator[Block]:
    """The answer in a sentence, a line per workload, those of a repository together and losses first, and what adds up."""
    if not review.workloads:
        return
    yield answer(review)
    columns = (
        *(Column("repository"), Column("workload", "key"), Column("state")),
        *(Column(SAVED[name].lower(), "figure", name) for name in ALWAYS),
        *(Column("time per model", "figure"), Column("models", "figure"), Column("SLA kept", "figure", "share")),
    )
    losing = {one.repository for one in review.workloads if lost(one)}
    in_turn = sorted(review.workloads, key=lambda one: (one.repository not in losing, one.repository, not lost(one)))
    yield Table(columns, tuple(map(_line, in_turn)), "workloads")
    yield from (charts.saved_over_time(review, name) for name in ALWAYS)
    yield (
        "Saved is what as many models would have taken as before the first change, less what all runs since took, failed and "
        "stopped ones included; with its 90% interval. Where too few runs are from before, the forecast for one is used instead. "
        "It takes the job for the same: where the data grew, it says too little. Money is what runs reported, else their time by "
        "today's [prices]."
    )


def _line(workload: WorkloadReview) -> Row:
    time = next((line for line in workload.change.lines if line.quantity == "duration_seconds"), None)
    kept = workload.compliance.runs.share
    models = sum(one.past.recorded.run.ended_well for one in workload.runs)
    saved = (
        replace(estimate(one.saved, one.quantity), prefix=FORECAST if one.basis == "forecast" else "")
        for one in workload.saved
        if one.quantity in ALWAYS
    )
    newest = workload.decisions[-1].suggestion.decision.kind if workload.decisions else ""
    return (
        *(workload.repository, str(workload.identity), Span("worse", "bad") if lost(workload) else newest, *saved),
        *(before_after.ratio_or_difference(time)[0], f"{models} of {len(workload.runs)}"),
        estimate(kept, "share") if kept else "",
    )


def _workload(workload: WorkloadReview, review: Review) -> Section:
    """Everything about one workload, in the order in which one asks."""
    promised = SlaReport(workload.identity, review.targets, (), workload.compliance, len(workload.runs), currency=review.currency)
    account = sla.document(promised).blocks if review.targets and workload.runs else ()
    trials = before_after.trials_in_words((made.suggestion, made.spent) for made in workload.decisions)
    sac = before_after.sac_in_words(made.suggestion.decision for made in workload.decisions)
    parts: tuple[Block, ...] = (
        charts.over_time(workload),
        *charts.parameters(workload),
        Section("Before and after", before_after.blocks_of(workload.change)),
        Section("Suggestions", (trials, f"{sac}." if sac else "", _decisions(workload, review.newest))),
        Section("Forecast against actual", tuple(ledger_blocks(workload.ledger)), folded=True),
        Section("Trade-off", (charts.trade_off(workload),), folded=True),
        Section("Runs", tuple(_runs(workload, review.newest)), folded=True),
        Section("Service levels", account, folded=True),
    )
    return Section(("Workload ", Span(str(workload.identity))), parts, folded=len(review.workloads) > 1)


def decider(decided_by: str) -> str:
    """Who decided, for a reader who may be another one than the user."""
    return "a user" if decided_by == "user" else names.DECIDERS.get(decided_by, decided_by)


def latest(some: Sequence[T], newest: int | None) -> Sequence[T]:
    """The newest ones, newest first."""
    return some[::-1][:newest]


def left_out(some: Sequence[object], newest: int | None) -> str:
    """That there are more; empty where there are not."""
    return "" if newest is None or len(some) <= newest else f"The newest {newest} of {len(some)}; --html FILE shows up to 1000."


def _decisions(workload: WorkloadReview, newest: int | None) -> Table:
    columns = (
        *(Column("made (UTC)", quantity="moment"), Column("kind"), Column("changes", "prose")),
        *(Column("time saved", "figure", "duration_seconds"), Column("result"), Column("suggestion", "key")),
        *(Column("forecast", "figure", "duration_seconds"), Column("actual (median)", "figure", "duration_seconds")),
        *(Column("trial"), Column("inside"), Column("runs", "figure"), Column("decided by", "prose"), Column("asked by")),
    )
    folded = [list(some) for _, some in groupby(workload.decisions, lambda made: not made.suggestion.changes or made)]
    rows = tuple(map(_decision, latest(folded, newest)))
    return Table(columns, rows, "suggestions", left_out(folded, newest))


def _decision(some: Sequence[ReviewedSuggestion]) -> Row:
    """A suggestion, or several in turn that kept the values: one line, since nothing happened."""
    newest, several = some[-1], some[1:]
    suggestion = newest.suggestion
    compared, spent = sum(made.compared for made in some), [made.spent.before for made in some if made.spent]
    return (
        *(suggestion.created_at, kind_of(suggestion, len(several)), before_after.changes(suggestion)),
        Cell(-sum(spent), "duration_seconds", emphasis="bad" if sum(spent) > 0 else "") if spent else "",
        *("" if several else Span(newest.fate, FATES.get(newest.fate, "")), suggestion.suggestion_id),
        *(("", "") if several else (estimate(suggestion.next.duration_seconds), or_empty(newest.actual.median))),
        before_after.taught(suggestion, newest.spent),
        *(f"{sum(made.inside for made in some)} of {compared}" if compared else "", sum(made.runs for made in some) or ""),
        ", ".join(dict.fromkeys(decider(made.suggestion.decision.decided_by) for made in some)),
        ", ".join(dict.fromkeys(made.asked_by for made in some if made.asked_by)),
    )


def _runs(workload: WorkloadReview, newest: int | None) -> Iterator[Block]:
    runs = [reviewed.past.recorded.run for reviewed in workload.runs]
    differing, same = differing_and_shared(runs)
    of_model = names.objectives([name for run in runs for name in run.outcome.known])[2:]
    columns = (
        *(Column("ended (UTC)", quantity="moment"), Column("run", "key"), Column("status")),
        *(Column("duration", "figure", "duration_seconds"), Column("cost", "figure", "cost_usd")),
        *(Column(names.short(name), "figure", name) for name in differing),
        *(*(Column(names.heading(name), "figure", name) for name in of_model), Column("SLA")),
        *(Column("forecast"), Column("decided by"), Column("suggestion", "key")),
    )
    rows = tuple(_run(reviewed, differing, of_model) for reviewed in latest(workload.runs, newest))
    yield Table(columns, rows, "runs", left_out(workload.runs, newest))
    yield f"The same in all runs: {same}." if same else ""
    yield assumed_in(runs)


def _run(reviewed: ReviewedRun, differing: Sequence[str], of_model: Sequence[str]) -> Row:
    past = reviewed.past
    run, outcome = past.recorded.run, past.recorded.run.outcome
    ending: Inline = past.ending.replace("_", " ")
    decided = past.suggestion.decision.decided_by if past.suggestion else ""
    return (
        *(run.ended_at, run.run_id, ending if run.ended_well else Span(str(ending), "bad")),
        *(or_empty(outcome.duration_seconds), or_empty(reviewed.cost_usd)),
        *(or_empty(run.parameters.get(name)) for name in differing),
        *(or_empty(outcome.of(name)) for name in of_model),
        Span(past.sla, VERDICTS.get(past.sla, "dim")) if past.sla else "",
        *(against(past.compared), decider(decided), past.recorded.suggestion_id or ""),
    )


def _learning(review: Review) -> Iterator[Block]:
    """Who decides, what the agent took in, and how its tests ended."""
    log = review.audit
    yield f"Where no user decides: {review.decides}."
    if not log.learnt:
        yield "The agent has learnt nothing from these runs: `jpo learn` was never run here, or torch was missing."
    yield audit.table(latest(log.learnt, review.newest), "learnt", "What it took in, newest first")
    yield audit.table(latest(log.tested, review.newest), "tests", "Its release tests, newest first")


def _audit(review: Review) -> Iterator[Block]:
    """Whether the chain holds, its anchor, and what happened out of the ordinary."""
    log = review.audit
    chain = log.chain
    if not chain.ok:
        yield (Span("The chain is broken: ", "bad"), chain.reason or "", f". {chain.records} records before it are good.")
    elif not chain.records:
        yield "The store contains no audit log yet."
    else:
        yield (
            Span("The chain is intact", "good"),
            f": {numbers.counted(chain.records, 'record')}, each sealed by the hash of the one before.",
        )
        yield (
            "The chain alone does not show that records are missing at its end, or that all of it was rewritten. Compare it "
            "with an anchor noted elsewhere: `jpo audit verify --head ANCHOR`. Today's is:"
        )
        yield Table((Column("record", "figure"), Column("anchor", "key")), ((chain.records, chain.head),), "anchor")
    counts = tuple((kind, count) for kind, count in log.kinds.items())
    yield Table((Column("kind"), Column("records", "figure")), counts, "kinds", "Records")
    if "forgotten" in log.kinds:
        yield Note("", "old runs or their time series were deleted, as [store] says: all figures are of what is still on record")
    yield audit.table(latest(log.notable, review.newest), "notable", "Refusals, conflicts, rollbacks and deletions, newest first")
