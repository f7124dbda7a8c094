"""The figures of many runs: on a terminal of any width every number is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jpo.history.figures import figures
from jpo.plugins.lab.report import logs
from jpo.plugins.lab.report.logs import LogFigures
from jpo.records import Identity, Note, Outcome, Run, RunStatus
from jpo.report.forms import html, markdown, text
from jpo.telemetry.csv.folder import UnusableLog


def run(number: int, batch_size: float) -> Run:
    outcome = Outcome(duration_seconds=123.4 * number, throughput_samples_per_second=237.5 + number, val_loss=0.1547 * number)
    parameters = {"batch_size": batch_size, "learning_rate": 0.017 / number}
    return Run(f"run-{number}", Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, 1000.0 + number, outcome, "csv")


@pytest.mark.parametrize(("width", "every"), [(30, False), (60, False), (80, True)])
def test_a_narrow_terminal_cuts_no_number(width: int, every: bool) -> None:
    found = figures([run(1, 16), run(2, 4096)], lambda _: None)
    document = logs.document(LogFigures(found))
    wide, narrow = (text.render(document, width=columns, colour=False) for columns in (200, width))
    whole, shown = ({*numbers_in(one)} - {str(width)} for one in (wide, narrow))
    assert shown == whole if every else shown < whole
    assert max(map(len, narrow.split("\n")[1:])) <= max(width, text.NARROWEST + 2)


def numbers_in(shown: str) -> list[str]:
    return re.findall(r"\d[\d.]*[a-z]*", shown)


def test_markdown_and_html_name_the_workload_and_what_is_not_usable() -> None:
    document = logs.document(
        LogFigures(figures([run(1, 16)], lambda _: None), [UnusableLog(Path("<x>"), "x", Note("JPO-E111", "<x>: is empty"))])
    )
    assert "#### Workload **d/m/f**\n\n1 run: 1 succeeded" in markdown.render(document)
    assert "| duration | 1 | 2m 03s | 2m 03s | 2m 03s |" in markdown.render(document)
    assert "- \\<x\\>: is empty \\[JPO-E111\\]" in markdown.render(document)
    assert "<li>&lt;x&gt;: is empty [JPO-E111]</li>" in html.render(document)


def test_of_many_unusable_logs_the_first_are_listed() -> None:
    unusable = [UnusableLog(Path(f"{n}.csv"), str(n), Note("JPO-E111", f"{n}.csv: is empty")) for n in range(23)]
    shown = text.render(logs.document(LogFigures((), unusable)), width=100, colour=False)
    assert ("19.csv" in shown, "20.csv" in shown) == (True, False)
    assert shown.endswith("and 3 more; `-o json` names all\n")
