"""The report of an evaluation: sections by workload, the best of a column strong."""

from __future__ import annotations

from jpo.plugins.cluster.grid import Scenario, evaluate
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.evaluation import Evaluated, as_json, document
from jpo.plugins.cluster.workload.lublin import draw_jobs
from jpo.report.document import Cell, Section, Table


def test_each_workload_has_a_section_and_the_best_is_strong() -> None:
    jobs = draw_jobs(300, 16, load=1.2, seed=0)
    found = [evaluate(Scenario(name, jobs, 16), Rule(rule)) for name in "ab" for rule in ("fcfs", "sjf")]
    sections = [block for block in document(Evaluated(tuple(found))).blocks if isinstance(block, Section)]
    assert [section.title for section in sections] == ["a: 300 jobs on 16 processors", "b: 300 jobs on 16 processors"]
    (table,) = sections[0].blocks
    assert isinstance(table, Table)
    strong = [[isinstance(cell, Cell) and cell.emphasis == "strong" for cell in row][4] for row in table.rows]
    assert strong == [False, True]  # sjf has the smaller slowdown


def test_only_a_single_evaluation_has_figures_at_the_top() -> None:
    one = evaluate(Scenario("a", draw_jobs(10, 4, load=0.5, seed=0), 4), Rule("fcfs"))
    assert "avg_wait_seconds" in as_json(Evaluated((one,)))
    assert "avg_wait_seconds" not in as_json(Evaluated((one, one)))
