"""A prediction for people: what configurations would take and cost, what they would use, and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.optimizer.prediction import Answer, Expected, Prediction, Row, configuration, label
from jpo.records import USD, Currency, Interval
from jpo.report.page import blank_page, text_of
from jpo.wording import numbers
from jpo.wording.printable import printable

OUTCOMES = {"duration_seconds": "duration", "cost_usd": "cost", "val_loss": "val loss"}
USE = {
    "throughput_samples_per_second": "samples/s",
    "memory_gib": "memory GiB",
    "gpu_utilisation": "GPU busy",
    "cpu_utilisation": "CPU busy",
}
RATIOS = ("gpu_utilisation", "cpu_utilisation")
COLOURS = {"SLA ok": "green", "SLA at risk": "yellow", "SLA broken": "red", "not admissible": "red"}


def render(prediction: Prediction, *, width: int = 120, colour: bool = False) -> str:
    """The tables, the answer and what must be known to read them."""
    console = blank_page(width, colour=colour)
    told = f"{prediction.runs} finished run{'' if prediction.runs == 1 else 's'}"
    console.print(Text.assemble("Workload ", (printable(str(prediction.identity)), "bold"), f"   {told}\n"))
    rows = prediction.rows
    console.print(Padding(outcomes(rows, prediction.currency), (0, 0, 1, 2)))
    use = [name for name in USE if any(getattr(row.expected.forecast, name) for row in rows)]
    if use:
        console.print(Padding(uses([row for row in rows if not row.spot], use), (0, 0, 1, 2)))
    for line in remarks(rows):
        console.print(Text(printable(line)))
    for note in prediction.notes:
        console.print(Text(printable(f"Note: {note}"), style="yellow"))
    if prediction.answer:
        for part in answered(prediction.answer, prediction):
            console.print(part)
    return text_of(console)


def outcomes(rows: Sequence[Row], currency: Currency) -> Table:
    """Time, money and loss, each with its interval below; whether it was run, and below its name whether it may be."""
    several = len({row.expected.kind for row in rows}) > 1
    table = plain_table("what if", *OUTCOMES.values(), "runs", *(["rests on"] if several else []))
    for row in rows:
        cells = [cell(name, getattr(row.expected.forecast, name), currency) for name in OUTCOMES]
        word = verdict(row)
        name = Text.assemble(label(row), "\n", (word, COLOURS.get(word, ""))) if word else Text(label(row))
        table.add_row(name, *cells, str(row.runs) if row.runs else "none", *([row.expected.kind] if several else []))
    return table


def uses(rows: Sequence[Row], names: Sequence[str]) -> Table:
    """What runs are expected to use."""
    table = plain_table("it would use", *(USE[name] for name in names))
    for row in rows:
        table.add_row(configuration(row), *(cell(name, getattr(row.expected.forecast, name)) for name in names))
    return table


def plain_table(first: str, *others: str) -> Table:
    """Where room is short, the first column gives way: a figure stays on its line."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, no_wrap=True)
    return table


def cell(name: str, interval: Interval | None, currency: Currency = USD) -> Text:
    """The mean, and its 90% interval below."""
    if interval is None:
        return Text(numbers.UNKNOWN, style="dim")
    mean, low, high = (shown(name, value, currency) for value in (interval.mean, interval.low, interval.high))
    number, _, unit = low.rpartition(" ")
    low = number if not unit.isdigit() and high.endswith(f" {unit}") else low  # 1.9 – 5.8 s, but 2h 10m – 3h 10m
    return Text.assemble(mean, "\n", (f"{low} – {high}", "dim"))


def shown(name: str, value: float, currency: Currency = USD) -> str:
    """A value as tables have it."""
    if name in RATIOS:
        return numbers.percent(value)
    return numbers.written(name, value if name in numbers.FORMATS else float(f"{value:.3g}"), currency)


def verdict(row: Row) -> str:
    """May it be used, and would it keep what was promised?"""
    if row.why_not:
        return "not admissible"
    verdicts = {check.verdict for check in row.sla}
    worst = next((one for one in ("broken", "at risk", "unknown", "ok") if one in verdicts), "")
    return f"SLA {worst}" if worst else ""


def remarks(rows: Sequence[Row]) -> list[str]:
    """What the figures rest on, what else there is, and what speaks against a row."""
    told = [f"Rests on {row.expected.words}." for row in rows]
    for row in rows:
        told += [f"For {configuration(row)}, {also(one)}" for one in row.beside]
        told += [f"{configuration(row)} is not admissible: {'; '.join(row.why_not)}"] if row.why_not else []
        broken = [check.name for check in row.sla if check.verdict == "broken"]
        told += [f"{label(row)} is expected to break {', '.join(broken)}"] if broken else []
    return list(dict.fromkeys(told))


def also(one: Expected) -> str:
    """A forecast that does not count, in half a sentence."""
    return f"by {one.words}, it would take {numbers.expected('duration_seconds', one.forecast.duration_seconds, bounds=True)}"


def answered(answer: Answer, prediction: Prediction) -> list[Text | str | Padding]:
    """The answer, and what is faster but dearer."""
    parts: list[Text | str | Padding] = ["", Text(printable(answer.words), style="bold green" if answer.met else "bold red")]
    if answer.options:
        table = plain_table("faster, but dearer", "duration", "cost", "saves", "costs more", "per saved hour")
        for option in answer.options:
            row, money = prediction.rows[option.row], [option.usd_more, option.usd_per_saved_hour]
            forecast = row.expected.forecast
            table.add_row(
                label(row),
                cell("duration_seconds", forecast.duration_seconds),
                cell("cost_usd", forecast.cost_usd, prediction.currency),
                numbers.duration(option.seconds_saved),
                *(numbers.UNKNOWN if usd is None else numbers.money(usd, prediction.currency) for usd in money),
            )
        parts += ["", Padding(table, (0, 0, 0, 2))]
    return parts
