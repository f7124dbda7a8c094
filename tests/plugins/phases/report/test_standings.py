from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jpo.plugins.phases.report.standings import ComparedWays, Promised, as_json, document, requests_csv, save_plot
from jpo.plugins.phases.requests.evaluate import Share, Standings
from jpo.plugins.phases.traces import ExecutionTrace, Traces
from jpo.report.forms import json, text

WAY = Standings(Share(0.97, 0.95, 0.98), Share(0.81234, None, None), Share(0.7, 0.6, 0.8), 12.34, 20.0)
TRACES = Traces(("cpu_cores",), (ExecutionTrace("run", np.arange(51.0), np.ones((51, 1))),) * 4, "t.csv")
COMPARED = ComparedWays(TRACES, {"phases": WAY, "KRR": WAY}, ("unlike training: x",))


def test_people_read_a_row_for_each_way() -> None:
    shown = text.render(document(COMPARED), width=120, colour=False, encoding="utf-8")
    assert "Allocations for 4 executions, 204 samples of t.csv" in shown
    assert "97% (95% to 98%)" in shown
    assert "0.812 " in shown
    assert "12.3" in shown
    assert "unlike training: x" in shown


def test_programs_read_all_digits() -> None:
    assert '"mean": 0.81234' in json.dumps(as_json(COMPARED))


def test_a_request_is_a_line() -> None:
    assert requests_csv([("e", 5.0, 1.23456789, 1e9)]) == "exec_id,t,cpu_alloc,mem_alloc\ne,5,1.234568,1000000000\n"


def test_a_request_of_millionths_of_a_core_is_not_rounded_away() -> None:
    for cores in (3.21e-7, 4.2e-3, 0.0):
        _, line, _ = requests_csv([("e", 5.0, cores, 1.0)]).split("\n")
        assert float(line.split(",")[2]) == pytest.approx(cores, rel=1e-6)


def test_a_picture_has_the_promises_and_each_way(tmp_path: Path) -> None:
    save_plot(replace(COMPARED, promises=(Promised(0.9, WAY), Promised(0.99, WAY))), tmp_path / "met.svg")
    drawn = (tmp_path / "met.svg").read_text()
    for text_of in (
        "phases by --met",
        "KRR",
        "90%",
        "99%",
        "CPU allocated / the run",
        "memory allocated",
        "share of samples met",
    ):
        assert text_of in drawn
