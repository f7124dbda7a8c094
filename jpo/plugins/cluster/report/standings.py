"""Standings of an agent beside rules: means, and its difference to each rule with an interval."""

from dataclasses import dataclass
from math import isinf

from jpo.plugins.cluster.agents.contest import SequenceScores
from jpo.plugins.cluster.fail_condition import LARGER_IS_BETTER
from jpo.report.document import Cell, Column, Document, Row, Span, Table
from jpo.wording.numbers import counted


@dataclass(frozen=True, slots=True)
class ContestResult:
    """A contest and what it was about: so many sequences of so many jobs of these workloads.

    `margin`: of an anchored agent, see agents/anchor.py; infinite: it stayed the rule. None: it is not anchored.
    """

    standings: SequenceScores
    agent: str
    sequences: int
    length: int
    workloads: tuple[str, ...]
    margin: float | None = None


def document(judged: ContestResult) -> Document:
    found = judged.standings
    rows: list[Row] = []
    for name in found.values:
        mean, low, high = found.difference(judged.agent, name)
        gap = Cell("", "") if name == judged.agent else Cell(mean, low=low, high=high)
        rows.append((name, found.mean(name), gap))
    heading = f"agent less it ({found.objective}, 95% interval)"
    columns = (Column("policy", "key"), Column(found.objective, "figure"), Column(heading, "figure"))
    size = f"{counted(judged.sequences, 'sequence')} of {counted(judged.length, 'job')}"
    title = f"{judged.agent} on {size}: {', '.join(judged.workloads)}"
    verdicts = tuple(Span(verdict(judged, name), "") for name in found.values if name != judged.agent)
    table = Table(columns, tuple(rows), "standings")
    if judged.margin is None:
        return Document(title, (table, *verdicts))
    said = f"left the rule where a score was above by more than {judged.margin:g}, as paid before."
    if isinf(judged.margin):
        said = "stayed the rule that it began with: nothing else paid on the first part."
    return Document(title, (table, *verdicts, Span(f"{judged.agent} {said}", "")))


def verdict(judged: ContestResult, rule: str) -> str:
    found = judged.standings
    _, low, high = found.difference(judged.agent, rule)
    sign = found.objective in LARGER_IS_BETTER
    better, worse = (low > 0, high < 0) if sign else (high < 0, low > 0)
    said = "better than" if better else "worse than" if worse else "not told apart from"
    return f"{judged.agent} is {said} {rule}."


def as_json(judged: ContestResult) -> dict[str, object]:
    found = judged.standings
    others = [name for name in found.values if name != judged.agent]
    gaps = {name: dict(zip(("mean", "low", "high"), found.difference(judged.agent, name), strict=True)) for name in others}
    return {
        "schema_version": 1,
        "agent": judged.agent,
        "objective": found.objective,
        "sequences": judged.sequences,
        "length": judged.length,
        "workloads": list(judged.workloads),
        "means": {name: found.mean(name) for name in found.values},
        "agent_less": gaps,
        "verdicts": {name: verdict(judged, name) for name in others},
        **({} if judged.margin is None else {"margin": None if isinf(judged.margin) else judged.margin}),
        "values": {name: values.tolist() for name, values in found.values.items()},
    }
