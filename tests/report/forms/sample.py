"""One document with all that a report can hold, and one in which every text is an attack."""

from __future__ import annotations

from jpo.records import Currency, Interval, Note
from jpo.report.document import Cell, Column, Document, Items, Section, Span, Table, Verbatim, estimate

CHANGES = Table(
    (Column("key", "key"), Column("now", "figure"), Column("next", "figure"), Column("why", "prose")),
    (
        ("training.batch_size", 32, Cell(64, emphasis="strong"), "64 took less time"),
        ("resources.gpus", 1, 1, ""),
    ),
    name="changes",
)
FORECASTS = Table(
    (Column("forecast"), Column("now"), Column("next (90% interval)"), Column("SLA"), Column("")),
    (
        (
            "duration",
            Cell(3578.0, "duration_seconds"),
            estimate(Interval(2790.0, 2400.0, 3700.0), "duration_seconds"),
            Cell(7200.0, "time_max", prefix="≤ "),
            Cell("ok", emphasis="good"),
        ),
        ("cost", Cell(7.1, "cost_usd"), estimate(Interval(5.2, 4.1, 7.0), "cost_usd"), "", ""),
        ("val loss", estimate(None), Cell(0.25, "val_loss", error=0.0123), "", Cell("at risk", emphasis="warning")),
    ),
    name="forecasts",
    caption="Forecast",
)
RUNS = Table(
    (Column("run", "key"), Column("time", "figure", "duration_seconds"), Column("change", "figure", "change")),
    (("r1", 12.5, 0.78), ("r2", None, 1.0)),
    name="runs",
)
SAMPLE = Document(
    ("Workload ", Span("digits/cnn/torch"), ": 3 runs"),
    (
        CHANGES,
        Items(("because 64 was faster",)),
        FORECASTS,
        "Last 3 forecasts: off by 4%.",
        Note("JPO-W113", "Prometheus did not answer"),
        Verbatim("-batch_size = 32\n+batch_size = 64\n", "diff"),
        Section("Runs", ("two runs", Section("Newest", (RUNS,)), Section("Older", (Items(()),)))),
    ),
    "config.ini: 1 value written",
    Currency("EUR", 0.5),
)

ATTACKS = (
    "\x1b[31mred",
    "\u202eback",
    "<script>alert(1)</script>",
    "a|b",
    "`tick`",
    "two\nlines",
    "=cmd()",
    "[x](javascript:1)",
    "{{ 7 * 7 }}",
    "'\"&amp;",
)


def attacked(text: str) -> Document:
    """The text at every place where one can come from outside."""
    table = Table(
        (Column(text, "key", key=text), Column(text, "prose"), Column(text)), ((text, text, (Span(text), text)),), text, text
    )
    blocks = (text, (Span(text, "bad"), text), Note("", text), Items((text,)), Verbatim(text), table, Section(text, (text,)))
    return Document(text, blocks, text)
