"""The figures of many runs on a terminal: whatever its width, every number is there."""

from __future__ import annotations

import pytest

from jpo.history.figures import figures
from jpo.records import Identity, Outcome, Run, RunStatus
from jpo.report.log_tables import as_text


def run(number: int, batch_size: float) -> Run:
    outcome = Outcome(duration_seconds=123.4 * number, throughput_samples_per_second=237.5 + number, val_loss=0.1547 * number)
    parameters = {"batch_size": batch_size, "learning_rate": 0.017 / number}
    return Run(f"run-{number}", Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, 1000.0 + number, outcome, "csv")


@pytest.mark.parametrize("width", [30, 60, 80])
def test_a_narrow_terminal_wraps_numbers_and_cuts_none(width: int) -> None:
    found = figures([run(1, 16), run(2, 4096)], lambda _: None)
    wide, narrow = (as_text(found, (), width=columns, colour=False) for columns in (200, width))
    assert sorted("".join(narrow.split())) == sorted("".join(wide.split()))
    assert max(map(len, narrow.split("\n")[1:])) <= width
