"""Runs held against [sla], and the thresholds that could be promised."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from jpo.cost.sla import Compliance, ComplianceRate
from jpo.cost.thresholds import Threshold
from jpo.records import USD, Currency, Identity, Note, Run, SlaCheck, texts_of
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Row, Section, Span, Table, Verbatim
from jpo.wording import names, numbers
from jpo.wording.printable import printable

WORDS: Mapping[str, tuple[str, Emphasis]] = {
    "ok": ("met", "good"),
    "broken": ("violated", "bad"),
    "unknown": ("unknown", "dim"),
    "at risk": ("at risk", "warning"),
}
"""Verdict -> its word for people, and what it means to them."""
NOTHING = "no SLA targets are set; `jpo sla suggest` shows what runs would meet"


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run and its SLA targets, each with what was measured (None: nothing)."""

    run: Run
    checks: Sequence[tuple[SlaCheck, float | None]]

    def with_verdict(self, verdict: str) -> list[str]:
        return [check.name for check, _ in self.checks if check.verdict == verdict]


@dataclass(frozen=True, slots=True)
class SlaReport:
    """Runs held against [sla].

    `checked`: the runs that were asked for. `compliance`: how often all runs kept it; `runs` says how many these are.
    """

    identity: Identity
    targets: Mapping[str, float]
    checked: Sequence[CheckedRun]
    compliance: Compliance
    runs: int
    notes: Sequence[Note] = ()
    currency: Currency = USD

    @property
    def violated(self) -> bool:
        return any(run.with_verdict("broken") for run in self.checked)


@dataclass(frozen=True, slots=True)
class SlaProposal:
    """Thresholds for [sla].

    `share`: of runs like these that are expected to keep each threshold by itself. `runs`: from how many runs they come; `basis`
    says which these are.
    """

    identity: Identity
    share: float
    runs: int
    basis: str
    thresholds: Sequence[Threshold]
    notes: Sequence[Note] = ()
    currency: Currency = USD
    written: "WrittenLines | None" = None


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """What was done with the lines in jpo.toml, by their names; `kept`: the file has another value, and keeps it."""

    file: str
    put: Sequence[str]
    kept: Sequence[str]
    notes: Sequence[Note] = ()


def document(result: SlaReport | SlaProposal) -> Document:
    """A table for each checked run and one over all runs; or lines for jpo.toml."""
    if isinstance(result, SlaProposal):
        lines = Verbatim("\n".join(map(printable, _toml(result))), "toml")
        done = _done(result.written) if result.written else ""
        notes = result.written.notes if result.written else ()
        return Document("Thresholds for jpo.toml", (lines, *notes), done, result.currency, bare=True)
    runs = (*map(_run, result.checked), *([_compliance(result)] if result.runs else [])) if result.targets else ()
    said = f"{verdict(result.checked)}{often(result)}" if result.targets else NOTHING
    return Document(("Workload ", Span(str(result.identity))), (*runs, *result.notes), said, result.currency)


def often(result: SlaReport) -> str:
    """How often the targets that were not always kept were: one run alone may be luck."""
    rates = ((name, result.compliance.of(name)) for name in result.targets)
    missed = ((name, rate) for name, rate in rates if rate.kept < rate.known)
    kept = [f"{name} met by {rate.kept} of {numbers.counted(rate.known, 'run')}" for name, rate in missed]
    return f"; {', '.join(kept)}" if kept else ""


def verdict(checked: Sequence[CheckedRun]) -> str:
    if not checked:
        return "no run on record: whether the SLA is met is unknown"
    broken = [f"{run.run.run_id} ({', '.join(names)})" for run in checked if (names := run.with_verdict("broken"))]
    if broken:
        return printable(f"violated by {', '.join(broken)}")
    unknown = sum(len(run.with_verdict("unknown")) for run in checked)
    targets = sum(len(run.checks) for run in checked)
    if unknown == targets:
        return "unknown: no run measured what the targets limit"
    return "all targets met" if not unknown else f"no target missed; {unknown} of {targets} unknown"


def _run(checked: CheckedRun) -> Block:
    run = checked.run
    title = ("Run ", Span(run.run_id), f": {run.status.value.replace('_', ' ')}, {numbers.moment(run.ended_at)} UTC")
    columns = (Column("target"), Column("limit", "figure"), Column("measured", "figure"), Column(""))
    return Section(title, (Table(columns, tuple(_check(check, value) for check, value in checked.checks)),))


def _check(check: SlaCheck, measured: float | None) -> Row:
    word, emphasis = WORDS[check.verdict]
    limit = Cell(check.limit, check.name, prefix=f"{names.target(check.name).sign} ")
    return check.name, limit, Cell(measured, check.name), Span(word, emphasis)


def _compliance(result: SlaReport) -> Table:
    """How often each target was kept, then all of them together."""
    account = result.compliance
    rows = [
        *(_kept(name, kept) for name, kept in account.targets.items()),
        _kept("runs that violated nothing", account.runs),
        _kept("targets of all runs", account.pairs, interval=False),  # those of a run go together: it would be too narrow
    ]
    columns = (
        *(Column(f"of {numbers.counted(result.runs, 'run')}"), Column("kept", "figure"), Column("known", "figure")),
        Column("share (90% interval)", "prose", "share"),
    )
    return Table(columns, tuple(rows), name="compliance")


def _kept(what: str, kept: ComplianceRate, *, interval: bool = True) -> Row:
    share = kept.share
    if share is None:
        return what, kept.kept, kept.known, None
    return what, kept.kept, kept.known, Cell(share.mean, "share", *((share.low, share.high) if interval else ()))


def _toml(proposal: SlaProposal) -> Iterator[str]:
    """Lines to paste into jpo.toml; what cannot be said is a comment."""
    runs = f"{numbers.counted(proposal.runs, 'run')} that ended well {proposal.basis}"
    share = f"{proposal.share:.1%}".replace(".0%", "%")
    yield f"# {proposal.identity}: {runs}"
    yield f"# each line by itself is expected to be met by {share} of runs like them"
    yield from (f"# {note.text}" for note in proposal.notes)
    yield "[sla]"
    lines = [
        (f"{threshold.name} = {threshold.toml}", seen(threshold, proposal.currency))
        for threshold in proposal.thresholds
        if threshold.toml is not None
    ]
    wide = max((len(line) for line, _ in lines), default=0)
    yield from (f"{line:{wide}}   # {said}" for line, said in lines)
    for threshold in proposal.thresholds:
        if threshold.toml is None:
            said = seen(threshold, proposal.currency)
            yield f"# {threshold.name}: unknown, {threshold.why_not}{f' ({said})' if said else ''}"


def _done(written: WrittenLines) -> str:
    put = f"{', '.join(written.put)} written" if written.put else "nothing to write"
    as_is = "it is" if len(written.kept) == 1 else "they are"
    kept = f"; {', '.join(written.kept)} kept as {as_is}: --replace puts the new ones in" if written.kept else ""
    return printable(f"{written.file}: {put}{kept}")


def seen(threshold: Threshold, currency: Currency) -> str:
    """In how many runs it was measured, and between which values; empty where in none."""
    if threshold.least is None or threshold.most is None:
        return ""
    least, most = (numbers.written(threshold.name, value, currency) for value in (threshold.least, threshold.most))
    limit = ""
    if threshold.limit is not None and threshold.name == "cost_max" and currency != USD:
        limit = f"in USD, which is {numbers.written(threshold.name, threshold.limit, currency)}; "
    return f"{limit}{numbers.counted(threshold.runs, 'run')}, {least}" + (f" to {most}" if most != least else "")


def as_json(result: SlaReport | SlaProposal) -> dict[str, object]:
    """The published documents of `jpo sla check` and `jpo sla suggest`; what is not known is null."""
    if isinstance(result, SlaProposal):
        return {
            "schema_version": 1,
            "workload": result.identity.labels,
            "share": result.share,
            "runs": result.runs,
            "basis": result.basis,
            "thresholds": [{**asdict(threshold), "written": threshold.toml} for threshold in result.thresholds],
            "notes": list(texts_of(result.notes)),
            **({"written": {**asdict(result.written), "notes": texts_of(result.written.notes)}} if result.written else {}),
        }
    return {
        "schema_version": 1,
        "workload": result.identity.labels,
        "promises": dict(result.targets),
        "runs": [
            {
                "run_id": checked.run.run_id,
                "status": checked.run.status.value,
                "ended_at": checked.run.ended_at,
                "checks": [{**asdict(check), "measured": value} for check, value in checked.checks],
            }
            for checked in result.checked
        ],
        "compliance": {
            "runs": _counted(result.compliance.runs),
            "pairs": asdict(result.compliance.pairs),
            "promises": {name: _counted(result.compliance.of(name)) for name in result.targets},
        },
        "notes": list(texts_of(result.notes)),
    }


def _counted(kept: ComplianceRate) -> dict[str, object]:
    return {**asdict(kept), "share": kept.share and asdict(kept.share)}
