"""A suggestion retold in full, for a person who must know why: the report, and below it what it rested on and what came of it.

One list of sections, written for a terminal or as Markdown. What an older suggestion does not hold has no section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.records import PARAMETERS, Forecast, Interval, Run, RunStatus
from jpo.report import markdown, terminal
from jpo.report.page import blank_page, text_of
from jpo.report.report import Report
from jpo.wording import numbers
from jpo.wording.names import SHORT
from jpo.wording.printable import printable

Row = tuple[str, ...]

BROUGHT = tuple(terminal.LABELS[name] for name in terminal.ALWAYS)
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
        standing: where it stands now, a sentence each.
    """

    report: Report
    evidence: tuple[Run, ...]
    followers: tuple[Run, ...]
    coverage: Mapping[str, Interval]
    standing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with sentences and a table; either may be empty."""

    title: str
    lines: tuple[str, ...] = ()
    head: Row = ()
    rows: tuple[Row, ...] = ()


def sections(told: Explanation) -> list[Section]:
    """What stands below the report, in the order in which it is asked for; without what has nothing to tell."""
    found = (
        Section("Where it stands now", told.standing),
        came_of_it(told),
        Section("Who decided", tuple(who(told))),
        limits(told),
        alternatives(told),
        Section("What would change the answer", told.report.suggestion.would_change),
        runs("The runs that tell most", told.evidence, told),
        saw(told),
        track_record(told),
    )
    return [one for one in found if one.lines or one.rows]


def came_of_it(told: Explanation) -> Section:
    """What was expected beside what each run that followed brought."""
    expected = told.report.suggestion.next
    rows: list[Row] = []
    for run in told.followers[-MOST_FOLLOWERS:]:
        where = ended(run)
        for name in (f.name for f in fields(Forecast)):
            interval, actual = getattr(expected, name), getattr(run.outcome, name)
            if interval and actual is not None:
                inside = "inside" if interval.low <= actual <= interval.high else "outside"
                rows.append((where, terminal.LABELS[name], _amount(told, name, interval), _written(told, name, actual), inside))
                where = ""
        if where:
            rows.append((where, "nothing to compare", "", "", ""))
    many = len(told.followers)
    lines = (f"the newest {MOST_FOLLOWERS} of {many} runs; -o json has all",) if many > MOST_FOLLOWERS else ()
    head = ("run", "", "expected (90% interval)", "measured", "")
    return Section("What was expected, and what came", lines, head, tuple(rows))


def ended(run: Run) -> str:
    how = "target missed" if run.status is RunStatus.SUCCEEDED and not run.ended_well else run.status.value.replace("_", " ")
    return f"{run.run_id}: {how}"


def who(told: Explanation) -> Iterator[str]:
    """Who decided, under which preference, and what the guard said."""
    suggestion = told.report.suggestion
    digest = suggestion.policy
    policy = "" if digest in (None, BELIEF_RULE) else f" (policy {str(digest)[:DIGEST]})"
    yield f"{terminal.DECIDERS.get(suggestion.decided_by, suggestion.decided_by)}{policy}"
    weights = ", ".join(f"{name} {weight:g}" for name, weight in asdict(suggestion.preference).items() if weight)
    yield f"preference: {weights}; seed {suggestion.seed}"
    verdict = "approved" if suggestion.guard.approved else "rejected: " + "; ".join(suggestion.guard.violations)
    yield f"guard: {verdict}"
    if suggestion.pinned_until is not None:
        yield f"pinned until {time_of(suggestion.pinned_until)} UTC"
    yield f"reason codes (docs/codes.md): {', '.join(suggestion.codes) or 'none'}"


def limits(told: Explanation) -> Section:
    """Which rule held which value, and what of today's breaks one."""
    suggestion = told.report.suggestion
    held = [f"{one.key} = {one.new_text} is capped by {one.capped_by}" for one in suggestion.changes if one.capped_by]
    skipped = [f"skipped {one.run_id}: {one.reason}" for one in suggestion.evidence.runs_skipped]
    return Section("What held it back", (*held, *suggestion.guard.notices, *skipped))


def alternatives(told: Explanation) -> Section:
    """What was not suggested."""
    suggestion, currency = told.report.suggestion, told.report.currency
    rows = []
    for one in suggestion.alternatives:
        changed = [
            f"{name} {one.parameters[name]:g}"
            for name in PARAMETERS
            if one.parameters.get(name) != suggestion.current.get(name) and name in one.parameters
        ]
        expected = [
            numbers.expected(name, getattr(one.forecast, name), bounds=False, currency=currency) for name in terminal.ALWAYS
        ]
        rows.append((", ".join(changed) or "today's values", *expected, one.why_not))
    return Section("What else there was", (), ("alternative", *BROUGHT, "beside the suggestion"), tuple(rows))


def runs(title: str, some: Sequence[Run], told: Explanation) -> Section:
    """Runs with the parameters in which they differ, and what they brought."""
    tuned = [name for name in SHORT if len({run.parameters.get(name) for run in some}) > 1]
    rows = tuple(
        (
            run.run_id,
            time_of(run.ended_at),
            ended(run).rpartition(": ")[2],
            *(numbers.plain(run.parameters[name]) if name in run.parameters else "" for name in tuned),
            *(_written(told, name, getattr(run.outcome, name)) for name in terminal.ALWAYS),
        )
        for run in some
    )
    head = ("run", "ended (UTC)", "status", *(SHORT[name] for name in tuned), *BROUGHT)
    return Section(title, (), head, rows)


def saw(told: Explanation) -> Section:
    """The numbers behind the decision."""
    rows = tuple((name, numbers.plain(value)) for name, value in told.report.suggestion.seen.items())
    return Section("What the agent saw", (), ("of its choice and of the workload", ""), rows)


def track_record(told: Explanation) -> Section:
    """How the last forecasts of this workload turned out, as of today."""
    rows = tuple(
        (
            terminal.LABELS[past.quantity],
            str(past.forecasts),
            numbers.percent(past.median_error),
            f"{past.inside} of {past.forecasts}",
            share(told.coverage.get(past.quantity)),
        )
        for past in told.report.track
    )
    head = ("forecast", "compared", "off by (median)", "inside the 90% interval", "so the true share lies in")
    return Section("How right the last forecasts were", (), head, rows)


def share(coverage: Interval | None) -> str:
    return "" if coverage is None else f"{round(100 * coverage.low)} to {round(100 * coverage.high)}%"


def time_of(at: float) -> str:
    """Day and time in UTC; a number where no calendar reaches."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at:g}"


def _written(told: Explanation, name: str, value: float | None) -> str:
    return numbers.UNKNOWN if value is None else numbers.written(name, value, told.report.currency)


def _amount(told: Explanation, name: str, interval: Interval) -> str:
    return numbers.expected(name, interval, bounds=True, currency=told.report.currency)


# --- two forms


def as_text(told: Explanation, *, width: int, colour: bool) -> str:
    """The report and its sections for a terminal."""
    console = blank_page(width, colour=colour)
    for section in sections(told):
        console.print(Text(section.title, style="bold"))
        for line in section.lines:
            console.print(Padding(Text(printable(line)), (0, 0, 0, 2)))
        if section.rows:
            console.print(Padding(_table(section), (0, 0, 0, 2)))
        console.print()
    below = text_of(console).rstrip("\n")
    head = terminal.render(replace(told.report, track=()), width=width, colour=colour)  # the track record has a section
    return f"{head}\n{below}\n"


def _table(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in section.head:
        table.add_column(name, overflow="fold")
    for row in section.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def as_markdown(told: Explanation) -> str:
    """The report and its sections as Markdown; texts from files are escaped."""
    lines = [markdown.render(replace(told.report, track=()))]
    for section in sections(told):
        lines += [f"#### {section.title}", ""]
        lines += [f"- {markdown.escape(line)}" for line in section.lines]
        if section.rows:
            lines += [""] if section.lines else []  # a table right below a list would be its last item
            lines += [_line(section.head), _line(["---"] * len(section.head)), *map(_line, section.rows)]
        lines.append("")
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell if cell == '---' else markdown.escape(cell) for cell in cells)} |"
