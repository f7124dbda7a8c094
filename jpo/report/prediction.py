"""Prediction: what configurations would take and cost, what they would use, and what that rests on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from jpo.optimizer.prediction import Answer, Expected, Prediction, Row, configuration, label
from jpo.records import Currency, texts_of
from jpo.report import headline
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Span, Table, estimate
from jpo.report.document import Row as DocumentRow
from jpo.wording import names, numbers

USE = ("throughput_samples_per_second", "memory_gib", "gpu_memory_gib", "energy_joules", "gpu_utilisation", "cpu_utilisation")
VERDICTS: Mapping[str, Emphasis] = {"broken": "bad", "at risk": "warning", "unknown": "", "ok": "good"}
"""Of SLA targets, the worst first."""
MOST_NAMED = 4
"""Configurations whose chance of failing is written out."""


def document(prediction: Prediction) -> Document:
    rows, answer = prediction.rows, prediction.answer
    title = ("Workload ", Span(str(prediction.identity)), f": {numbers.counted(prediction.runs, 'finished run')}")
    tables = (outcomes(rows), uses([row for row in rows if not row.spot]))
    blocks: tuple[Block, ...] = (
        *tables,
        *remarks(rows),
        *instances(rows, prediction.currency),
        *ends(rows),
        *prediction.evidence.notes,
        options(answer, rows) if answer else "",
    )
    return Document(title, blocks, answer.words if answer else "", prediction.currency)


def outcomes(rows: Sequence[Row]) -> Table:
    """Time, money and loss; whether it was run, what that rests on, and whether it may be."""
    quantities = names.objectives([name for row in rows for name in row.expected.forecast.known])
    several = len({row.expected.kind for row in rows}) > 1
    columns = (
        *(Column("what if", "prose"), Column("verdict"), *map(headline.column, quantities)),
        *(Column("fails", "figure"), Column("runs", "figure"), Column("rests on")),
    )
    values: list[DocumentRow] = []
    for row in rows:
        ran = (headline.chance(row.failure), row.runs, row.expected.kind if several else "")
        values.append((label(row), verdict(row), *_estimates(row, quantities), *ran))
    return Table(columns, tuple(values), "outcomes")


def _estimates(row: Row, quantities: Iterable[str]) -> Iterator[Cell]:
    return (estimate(row.expected.forecast.of(quantity)) for quantity in quantities)


def uses(rows: Sequence[Row]) -> Table:
    """What runs are expected to use, as far as that is known of any."""
    known = [name for name in USE if any(row.expected.forecast.of(name) for row in rows)]
    values: list[DocumentRow] = [(configuration(row), *_estimates(row, known)) for row in rows if known]
    return Table((Column("it would use", "prose"), *map(headline.column, known)), tuple(values), "uses")


def verdict(row: Row) -> Cell:
    """May it be used, and would it keep to the SLA?"""
    if row.why_not:
        return Cell("not admissible", emphasis="bad")
    verdicts = {check.verdict for check in row.sla}
    worst = next((word for word in VERDICTS if word in verdicts), "")
    return Cell(f"SLA {worst}", emphasis=VERDICTS[worst]) if worst else Cell("")


def remarks(rows: Sequence[Row]) -> list[str]:
    """What the figures rest on, what else there is, and what speaks against a row."""
    sentences = [f"Rests on {row.expected.words}." for row in rows]
    sentences += risks(rows)
    for row in rows:
        for other in row.further:
            seconds = numbers.expected("duration_seconds", other.forecast.duration_seconds, bounds=True)
            sentences.append(f"For {configuration(row)}, by {other.words}, it would take {seconds}.")
        sentences += [f"{configuration(row)} is not admissible: {'; '.join(row.why_not)}"] if row.why_not else []
        broken = [check.name for check in row.sla if check.verdict == "broken"]
        sentences += [f"{label(row)} is expected to break {', '.join(broken)}."] if broken else []
    return list(dict.fromkeys(sentences))


def instances(rows: Sequence[Row], currency: Currency) -> Iterator[str]:
    """On which instances rows would run, those of one instance together."""
    by_instance: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.instance:
            by_instance.setdefault(headline.on_instance(row.instance, currency), {})[configuration(row)] = None
    for instance, some in by_instance.items():
        yield f"Runs on {instance}: {'; '.join([*some][:MOST_NAMED])}{'; ...' if len(some) > MOST_NAMED else ''}."


def ends(rows: Sequence[Row]) -> Iterator[str]:
    """When runs would be done that are submitted now, as far as their engine says."""
    said = [f"{configuration(row)} {headline.done_by(row.queued)}" for row in rows if row.queued]
    if said:
        yield f"Submitted now: {'; '.join(dict.fromkeys(said[:MOST_NAMED]))}{'; ...' if len(said) > MOST_NAMED else ''}."


def risks(rows: Sequence[Row]) -> list[str]:
    """The chances of failing, those of one origin together; the table has them all."""
    by_basis: dict[str, list[str]] = {}
    for row in rows:
        if row.failure:
            by_basis.setdefault(row.failure.basis, []).append(f"{configuration(row)} {headline.chance(row.failure)}")
    return [
        f"Fails: {'; '.join(list(dict.fromkeys(some))[:MOST_NAMED])}{'; ...' if len(some) > MOST_NAMED else ''} ({basis})."
        for basis, some in by_basis.items()
    ]


def options(answer: Answer, rows: Sequence[Row]) -> Table:
    columns = (
        *(Column("faster, but more expensive", "prose"), *map(headline.column, ("duration_seconds", "cost_usd"))),
        *(Column("saves", "figure", "duration_seconds"), Column("costs more", "figure", "cost_usd")),
        Column("per saved hour", "figure", "cost_usd"),
    )
    values: list[DocumentRow] = []
    for option in answer.options:
        row, more = rows[option.row], (option.seconds_saved, option.usd_more, option.usd_per_saved_hour)
        values.append((label(row), *_estimates(row, ("duration_seconds", "cost_usd")), *more))
    return Table(columns, tuple(values), "options")


def as_json(prediction: Prediction) -> dict[str, object]:
    """The numbers of the tables, in USD, seconds and ratios; None where nothing supports one. The answer counts rows from 0."""
    return {
        "schema_version": 1,
        "config": str(prediction.path),
        "workload": prediction.identity.labels,
        "finished_runs": prediction.runs,
        "rows": [_row(row) for row in prediction.rows],
        "answer": asdict(prediction.answer) if prediction.answer else None,
        "notes": list(texts_of(prediction.evidence.notes)),
        "reason_codes": list(dict.fromkeys(prediction.evidence.codes)),
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "parameters": dict(row.parameters),
        "differs": dict(row.differs),
        "spot": row.spot,
        **_expected(row.expected),
        "beside": [_expected(expected) for expected in row.further],
        "measured_runs": row.runs,
        "p_fail": row.failure.probability if row.failure else None,
        "p_fail_basis": row.failure.basis if row.failure else None,
        "admissible": not row.why_not,
        "why_not": list(row.why_not),
        "sla": [asdict(check) for check in row.sla],
        **({"instance": asdict(row.instance)} if row.instance else {}),
        **({"queue": asdict(row.queued)} if row.queued else {}),
    }


def _expected(expected: Expected) -> dict[str, object]:
    return {"basis": {"kind": expected.kind, "words": expected.words}, "forecast": expected.forecast.document}
