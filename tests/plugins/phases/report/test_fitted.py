from __future__ import annotations

import numpy as np

from jpo.plugins.phases.report.fitted import Phases, as_json, document, samples_csv
from jpo.plugins.phases.table import PhaseFigures, Use
from jpo.plugins.phases.traces import ExecutionTrace, Traces
from jpo.report.forms import csv, json, text

GIB = float(1 << 30)
IDLE = PhaseFigures(0, 0.25, 2, 90.0, {"memory_bytes": Use(GIB, GIB, GIB, GIB, 2 * GIB)}, {1: 1.0})
BUSY = PhaseFigures(1, 0.75, 1, None, {}, {})
TRACES = Traces(
    ("memory_bytes",), tuple(ExecutionTrace(f"run-{at}", np.arange(20.0), np.ones((20, 1))) for at in range(2)), "t.csv"
)
FOUND = Phases("markov", TRACES, (IDLE, BUSY), ("x is constant: left out",), (("run-0", "0011"),))


def test_people_read_the_table_the_phases_and_the_notes() -> None:
    shown = text.render(document(FOUND), width=110, colour=False, encoding="utf-8")
    assert "2 phases by markov in 2 executions, 40 samples of t.csv" in shown
    assert "1m 30s" in shown
    assert "2 GiB" in shown
    assert "run-0      0011" in shown
    assert "x is constant: left out" in shown


def test_programs_read_bytes_and_seconds() -> None:
    shown = json.dumps(as_json(FOUND))
    assert '"dwell_seconds": 90.0' in shown
    assert '"most": 2147483648' in shown
    assert "\nsection,from," in csv.render(document(FOUND))


def test_samples_are_lines_with_times_as_they_were() -> None:
    assert samples_csv([("a,b", 1565962220.0, 3, 0.98765), ("c", 0.5, 0, 1.0)]).split("\n") == [
        "exec_id,t,phase,probability",
        '"a,b",1565962220,3,0.9877',
        "c,0.5,0,1.0",
        "",
    ]
