"""A suggestion in full, for a person who must know why: the report, and below it what it rested on and what came of it.

What an older suggestion does not hold has no section.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from jpo.forecast.calibration import inside
from jpo.history.figures import ending
from jpo.records import Interval, Run, Running, Seen, Suggestion, in_order, texts_of
from jpo.report import headline
from jpo.report import suggestion as report
from jpo.report.answer import Report
from jpo.report.document import Cell, Column, Document, Items, Row, Section, Table, estimate
from jpo.report.history import accuracy, assumed_in, differing_and_shared, run_document
from jpo.wording import going_on, names, numbers

BELIEF_RULE = "belief rule"
MOST_FOLLOWERS = 5
"""Newest runs that are held against the forecast one by one; JSON has all."""
DIGEST = 12
"""Characters of a policy's digest that tell it from others."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of a suggestion.

    Attributes:
        evidence: the runs it names that are still on record.
        followers: the runs that followed it, oldest first; the costs of both as far as prices are known.
        coverage: per quantity of the track record, the share inside with its interval.
        standing: what became of it so far, a sentence each.
        going_on: the runs of its job that go on now, each with whether it began after the suggestion, with its values; none of
            them is evidence.
        unasked: why that is not known; empty where it is, or nobody is to be asked.
    """

    report: Report
    evidence: tuple[Run, ...]
    followers: tuple[Run, ...]
    coverage: Mapping[str, Interval]
    standing: tuple[str, ...]
    going_on: Sequence[tuple[Running, bool]] = ()
    unasked: str = ""


def document(explained: Explanation) -> Document:
    """The report, then a section for each question that it leaves."""
    suggestion = explained.report.suggestion
    blocks = (*report.body(suggestion), *report.notes(suggestion), *sections(explained))
    return Document(headline.headline(suggestion), blocks, report.verdict(explained.report), explained.report.currency)


def _seen(name: str, suggestion: Suggestion) -> str:
    """What people call what the agent saw; the record calls every quality of a model its loss."""
    if name == Seen.LOSS_KEPT and (quality := headline.judged(suggestion)) != "loss":
        return f"chance that it keeps the {quality}"
    return "chance of more than 10% worse than today" if name == Seen.WORSE else name


def sections(explained: Explanation) -> tuple[Section, ...]:
    suggestion = explained.report.suggestion
    reasons = texts_of(suggestion.decision.reasons)
    seen = tuple((_seen(name, suggestion), value) for name, value in suggestion.prospects.seen.items())
    its, others = "with the values of this suggestion", "not with the values of this suggestion"
    now = (f"{going_on.sentence(run)}; {its if with_its_values else others}" for run, with_its_values in explained.going_on)
    return (
        Section("Status", (Items(explained.standing),)),
        Section("Running now", (Items((*now, *filter(None, (explained.unasked,)))),)),
        Section("Why", (Items(reasons),)),
        Section("Forecast", (expected(suggestion),)),
        came_of_it(explained),
        Section("Decision", (Items(tuple(who(suggestion))),)),
        Section("Limits that applied", (Items(tuple(limits(suggestion))),)),
        Section("Alternatives", (alternatives(suggestion),)),
        Section("What would change the answer", (Items(suggestion.prospects.would_change),)),
        Section("Most informative runs", (runs(explained.evidence), assumed_in(explained.evidence))),
        Section("What the agent saw", (Table((Column("of its choice and of the workload"), Column("")), seen, "seen"),)),
        Section("Forecast accuracy", (accuracy(explained.report.track, explained.coverage),)),
    )


def expected(suggestion: Suggestion) -> Table:
    rows: list[Row] = []
    for quantity in dict.fromkeys((*suggestion.now.known, *suggestion.next.known)):
        now, then = (estimate(forecast.of(quantity), quantity) for forecast in (suggestion.now, suggestion.next))
        rows.append((names.heading(quantity), now, then))
    return Table(tuple(map(Column, ("of a run", "now (90% interval)", "next (90% interval)"))), tuple(rows), "expected")


def came_of_it(explained: Explanation) -> Section:
    expected, many = explained.report.suggestion.next, len(explained.followers)
    rows: list[Row] = []
    for run in explained.followers[-MOST_FOLLOWERS:]:
        where = f"{run.run_id}: {ended(run)}"
        for name, within in inside(expected, run.outcome).items():
            word = Cell("inside", emphasis="good") if within else Cell("outside", emphasis="warning")
            interval, came = expected.of(name), run.outcome.of(name)
            rows.append((where, names.heading(name), estimate(interval, name), Cell(came, name), word))
            where = ""
        if where:
            rows.append((where, "nothing to compare", "", "", ""))
    columns = tuple(map(Column, ("run", "", "expected (90% interval)", "measured", "")))
    few = f"the newest {MOST_FOLLOWERS} of {many} runs; -o json has all" if many > MOST_FOLLOWERS else ""
    return Section("Forecast and outcome", (few, Table(columns, tuple(rows), "followers")))


def ended(run: Run) -> str:
    return ending(run).replace("_", " ")


def who(suggestion: Suggestion) -> Iterator[str]:
    """Who decided, under which preference, and what the guard said."""
    digest = suggestion.decision.policy
    policy = "" if digest in (None, BELIEF_RULE) else f" (policy {str(digest)[:DIGEST]})"
    yield f"{names.DECIDERS.get(suggestion.decision.decided_by, suggestion.decision.decided_by)}{policy}"
    if suggestion.decision.kind == "kept" and (sure := headline.how_likely(suggestion)):
        yield sure
    weights = ", ".join(f"{name} {weight:g}" for name, weight in asdict(suggestion.decision.preference).items() if weight)
    yield f"preference: {weights}; seed {suggestion.decision.seed}"
    guard = suggestion.guard
    yield "guard: approved" if guard.approved else f"guard: rejected: {'; '.join(texts_of(guard.violations))}"
    if suggestion.decision.pinned_until is not None:
        yield f"pinned until {numbers.moment(suggestion.decision.pinned_until)} UTC"
    yield f"reason codes (docs/codes.md): {', '.join(suggestion.codes) or 'none'}"


def limits(suggestion: Suggestion) -> Iterator[str]:
    """Which rule held which value, what of today's breaks one, and which runs did not count."""
    capped = (change for change in suggestion.changes if change.capped_by)
    yield from (f"{change.key} = {numbers.as_in_reports(change.new_text)} is capped by {change.capped_by}" for change in capped)
    yield from texts_of(suggestion.guard.notices)
    yield from (f"skipped {skipped.run_id}: {skipped.reason}" for skipped in suggestion.evidence.runs_skipped)


def alternatives(suggestion: Suggestion) -> Table:
    rows: list[Row] = []
    quantities = names.objectives([name for other in suggestion.prospects.alternatives for name in other.forecast.known])
    for other in suggestion.prospects.alternatives:
        now = suggestion.values.current
        changed = [name for name in in_order(other.parameters) if other.parameters[name] != now.get(name)]
        values = ", ".join(f"{name} {numbers.plain(other.parameters[name])}" for name in changed) or "today's values"
        expected = (other.forecast.of(name) for name in quantities)
        rows.append((values, *(interval.mean if interval else None for interval in expected), other.why_not))
    columns = (Column("alternative", "prose"), *_columns(quantities), Column("compared with the suggestion", "prose"))
    return Table(columns, tuple(rows), "alternatives")


def runs(some: Sequence[Run]) -> Table:
    """Runs with the parameters in which they differ, and what they brought."""
    tuned, _ = differing_and_shared(some)
    quantities = names.objectives([name for run in some for name in run.outcome.known])
    rows: list[Row] = []
    for run in some:
        values = (run.parameters.get(name, "") for name in tuned)
        rows.append((run.run_id, run.ended_at, ended(run), *values, *map(run.outcome.of, quantities)))
    first = (Column("run", "key"), Column("ended (UTC)", quantity="moment"), Column("status"))
    set_by = (Column(names.short(name), quantity=name) for name in tuned)
    return Table((*first, *set_by, *_columns(quantities)), tuple(rows), "runs")


def _columns(quantities: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(names.heading(name), quantity=name) for name in quantities)


def as_json(explained: Explanation) -> dict[str, object]:
    expected = explained.report.suggestion.next
    going = [
        {**asdict(run), "identity": run.identity.labels, "with_its_values": with_its_values}
        for run, with_its_values in explained.going_on
    ]
    return {
        "schema_version": 1,
        "suggestion": report.as_json(explained.report),
        "standing": list(explained.standing),
        **({"going_on": going} if going else {}),
        **({"unasked": explained.unasked} if explained.unasked else {}),
        "evidence_runs": [run_document(run) for run in explained.evidence],
        "followed_by": [{**run_document(run), "inside": inside(expected, run.outcome)} for run in explained.followers],
        "coverage": {quantity: asdict(interval) for quantity, interval in explained.coverage.items()},
    }
