"""The grid: every rule on every scenario, in their order."""

from __future__ import annotations

from jpo.plugins.cluster.grid import Scenario, evaluate_all
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.workload.lublin import draw_jobs
from jpo.records import in_turn


def test_evaluations_come_scenario_by_scenario() -> None:
    scenarios = [Scenario(name, draw_jobs(40, 8, load=0.9, seed=seed), 8, seed) for seed, name in enumerate("ab")]
    rules = [Rule("fcfs"), Rule("saf", "easy")]
    found = evaluate_all(scenarios, rules, spread=in_turn, track=lambda numbers, what: numbers)
    assert [(one.workload, one.rule.name, one.seed) for one in found] == [
        *(("a", "fcfs", 0), ("a", "saf+easy", 0)),
        *(("b", "fcfs", 1), ("b", "saf+easy", 1)),
    ]
