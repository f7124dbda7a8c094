"""A suggestion and what became of it: for people in ten seconds, and the document that pipelines read.

People see first what it is, what that is expected to do and how likely, then what changes, and why. Each thing is said once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jpo.records import AS_THE_RULE, BETTER_QUALITY, OBJECTIVE, RAN_BEFORE, UNTRIED, WIDENED, WORTH, as_stored, in_order, same
from jpo.report import headline as headlines
from jpo.report.answer import Report
from jpo.report.document import Block, Cell, Column, Document, Inline, Row, Span, Table, Verbatim, estimate
from jpo.wording import names, numbers

if TYPE_CHECKING:
    from jpo.records import Change, Note, Suggestion

SCHEMA_VERSION = 1
LEFT_OUT = ("as_run", "committed", "instance", "queue", "runs_saved")  # where there is nothing to say
TOLD = (RAN_BEFORE, UNTRIED, BETTER_QUALITY)
"""Reasons of a change whose numbers the headline and the table have."""
BY_POLICY_AS_THE_RULE = ("JPO-I602", AS_THE_RULE)
"""Reasons that say of a policy what only `jpo explain` shows."""


def document(report: Report) -> Document:
    suggestion = report.suggestion
    diff = Verbatim(report.diff, "diff") if report.diff else ""
    queue = f"Next {headlines.done_by(report.queue)}." if report.queue else ""
    place = (headlines.now_and_next(*report.instances, report.currency), queue)
    track = headlines.track_record(report.track)
    blocks = (*body(suggestion, why(suggestion)), *place, track, *notes(suggestion), diff)
    return Document(headlines.headline(suggestion), blocks, verdict(report), report.currency)


def body(suggestion: "Suggestion", reasons: Iterable[Inline] = ()) -> tuple[Block, ...]:
    """The workload, its values, the reasons that are given, and the forecasts."""
    return (workload(suggestion), *changes(suggestion), *reasons, forecasts(suggestion))


def workload(suggestion: "Suggestion") -> Inline:
    """Which workload, and how much evidence there is."""
    evidence = suggestion.evidence
    runs = f"{numbers.counted(evidence.runs_used, 'finished run')} used"
    if evidence.runs_skipped:
        reasons = "; ".join(sorted({skipped.reason for skipped in evidence.runs_skipped}))
        runs += f", {sum(skipped.count for skipped in evidence.runs_skipped)} skipped ({reasons})"
    server = f"; Prometheus {numbers.duration(evidence.seconds)}" if evidence.requests else ""
    return "Workload ", Span(str(suggestion.identity)), f": {runs}{server}"


def changes(suggestion: "Suggestion") -> tuple[Table, Inline]:
    """Each parameter that changes, and what another value of one that stays would mean; below them what else stays."""
    values, changed = suggestion.values, {change.parameter: change for change in suggestion.changes}
    rows: list[Row] = []
    unchanged = list[str]()
    for name in in_order(values.current):
        if change := changed.get(name):
            old, new = map(numbers.as_in_reports, (change.old_text, change.new_text))
            rows.append((change.key, old, "→", Cell(new, emphasis="strong"), held_back(change)))
        elif (said := why_unchanged(name, suggestion)) or name in suggestion.kept_as_run:
            key = values.keys[name] + (" (as run)" if name in suggestion.kept_as_run else "")
            now, then = (as_kept(name, at[name], suggestion) for at in (values.current, values.suggested))
            rows.append((key, now, "", then, said))
        else:
            unchanged.append(f"{names.short(name)} {as_kept(name, values.current[name], suggestion)}")
    columns = (Column("key", "key"), Column("now"), Column(""), Column("next"), Column("why", "prose"))
    return Table(columns, tuple(rows), "changes"), f"unchanged: {', '.join(unchanged)}" if unchanged else ""


def as_kept(name: str, value: float, suggestion: "Suggestion") -> str:
    """A value that stays, with the unit that the file gives it: 32G is 29.8 GiB, and who wrote 32G looks for that."""
    text = suggestion.text_kept(name) or ""
    return text if text[-1:].isalpha() else numbers.written(name, value)


def held_back(change: "Change") -> str:
    """What the runs say about a value, and what held it back."""
    return change.reason + (f"; capped by {change.capped_by}" if change.capped_by else "")


def why_unchanged(name: str, suggestion: "Suggestion") -> str:
    """What another value of this parameter alone would have meant, where an alternative says so: "4: time -11%  cost +38%"."""
    for other in suggestion.prospects.alternatives:
        differs = [p for p, value in other.parameters.items() if not same({p: value}, suggestion.values.suggested)]
        if differs == [name]:
            return f"{numbers.plain(other.parameters[name])}: {other.why_not}"
    return ""


def why(suggestion: "Suggestion") -> Iterator[Inline]:
    """The reasons that come first, and how many more there are; widened intervals have a note."""
    first, told = first_reasons(suggestion), said_above(suggestion)
    undone = suggestion.decision.decided_by == "rollback"  # its first sentence is the reason; the others say what was undone
    yield from (reason.text if undone and at else f"because {reason.text}" for at, reason in enumerate(first))
    others = (reason for reason in suggestion.decision.reasons if reason not in (*told, *first))
    if more := sum(reason.code not in WIDENED for reason in others):
        yield (Span(f"{numbers.counted(more, 'more reason')}: jpo explain, or -o json", "dim"),)


def first_reasons(suggestion: "Suggestion") -> "tuple[Note, ...]":
    """The reason that counts most and is not in the headline, and whether a trade-off is acceptable; all of a rollback's, which
    say what is undone.
    """
    reasons = suggestion.decision.reasons
    if suggestion.decision.decided_by == "rollback":
        return tuple(reason for reason in reasons if reason not in said_above(suggestion))
    first = tuple(reason for reason in reasons[:1] if reason not in said_above(suggestion))
    return (*first, *(reason for reason in reasons[1:] if reason.code == WORTH))


def said_above(suggestion: "Suggestion") -> "Sequence[Note]":
    """The reasons that the headline says."""
    return suggestion.having(*TOLD) if suggestion.changes else suggestion.decision.reasons[:1]


def forecasts(suggestion: "Suggestion") -> Table:
    """The expected difference from today, where values stay what is expected of a run; and what was promised."""
    checks = {check.name: check for check in suggestion.prospects.sla}
    rows: list[Row] = []
    for quantity in quantities(suggestion):
        asked = next((name for name in checks if names.target(name).quantity == quantity), "")
        next_run = estimate(suggestion.next.of(quantity), quantity)
        expected = difference(suggestion, quantity) if suggestion.changes else next_run
        rows.append((names.heading(quantity), expected, *headlines.promise(checks.pop(asked, None))))
    if weighed(suggestion):
        rows.append((names.heading(OBJECTIVE), difference(suggestion, OBJECTIVE), "", ""))
    rows += [(check.name, "", *headlines.promise(check)) for check in checks.values()]
    value = "change (90% interval)" if suggestion.changes else "next (90% interval)"
    return Table((Column("expected"), Column(value), Column("SLA"), Column("")), tuple(rows), "forecasts")


def difference(suggestion: "Suggestion", quantity: str) -> Cell:
    """What is expected of a quantity against today, with its interval where simulated jobs have it in pairs."""
    mean, form = headlines.difference(suggestion, quantity)
    told = suggestion.prospects.difference.get(quantity)
    if told is None or told.low == told.high:
        return Cell(mean, form)
    return Cell(mean, form, told.low, told.high)


def weighed(suggestion: "Suggestion") -> bool:
    """Whether what the chance is about is none of the quantities, but several as they are weighed."""
    told = suggestion.prospects.difference
    return OBJECTIVE in told and told[OBJECTIVE] not in [told.get(name) for name in (*names.OBJECTIVES, "energy_joules")]


def quantities(suggestion: "Suggestion") -> Iterator[str]:
    """What is worth a row: the objectives, known or not, and what was promised."""
    known = {**suggestion.now.known, **suggestion.next.known}
    wanted = [names.target(check.name).quantity for check in suggestion.prospects.sla]
    wanted += ["energy_joules"] if suggestion.decision.preference.energy else []
    yield from dict.fromkeys((*names.objectives(known), *(name for name in wanted if suggestion.next.of(name))))


def notes(suggestion: "Suggestion") -> "tuple[Note, ...]":
    """What could not be read, intervals that are widened, and limits that today's values break."""
    widened = (reason for reason in suggestion.having(*WIDENED) if reason not in first_reasons(suggestion))
    return (*widened, *suggestion.evidence.notes, *suggestion.guard.notices)


def verdict(report: Report) -> str:
    suggestion, done = report.suggestion, headlines.what_was_done(report.suggestion, written=report.written)
    policy = suggestion.decision.policy_reason
    otherwise = f"; {policy.text}" if policy and policy.code not in BY_POLICY_AS_THE_RULE else ""
    return f"{report.path}: {done}{otherwise}. Suggestion {suggestion.suggestion_id}"


def as_json(report: Report) -> dict[str, object]:
    made = {**as_stored(report.suggestion), "queue": report.queue, "committed": report.suggestion.committed}
    made["evidence"]["prometheus"] = {name: made["evidence"].pop(name) for name in ("requests", "seconds")}
    made |= {
        "schema_version": SCHEMA_VERSION,
        "config": str(report.path),
        "workload": report.suggestion.identity.labels,
        "written": report.written,
        "forecast": report.suggestion.forecasts,
        "track_record": [asdict(past) for past in report.track],
        "reason_codes": made["codes"],
        "diff": report.diff,
        "instance": dict(zip(("now", "next"), report.instances, strict=True)) if any(report.instances) else None,
    }
    from jpo.report.suggestion_schema import SuggestionDocument  # 9 ms with its models, and people read no JSON

    known = {n: made[n] for n in SuggestionDocument.model_fields if n in made and (made[n] or n not in LEFT_OUT)}
    return SuggestionDocument.model_validate(known).model_dump(exclude_unset=True)


def schema() -> dict[str, Any]:
    from jpo.report.suggestion_schema import SuggestionDocument

    return SuggestionDocument.model_json_schema()
