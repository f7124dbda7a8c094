"""The grid: every rule on every scenario, in their order; without joblib one process is all there is."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.grid import Scenario, evaluate_all, need
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.workload.lublin import draw_jobs


def test_evaluations_come_scenario_by_scenario() -> None:
    scenarios = [Scenario(name, draw_jobs(40, 8, load=0.9, seed=seed), 8, seed) for seed, name in enumerate("ab")]
    rules = [Rule("fcfs"), Rule("saf", "easy")]
    found = evaluate_all(scenarios, rules, processes=1, backend="loky", track=lambda numbers, what: numbers)
    assert [(one.workload, one.rule.name, one.seed) for one in found] == [
        *(("a", "fcfs", 0), ("a", "saf+easy", 0)),
        *(("b", "fcfs", 1), ("b", "saf+easy", 1)),
    ]


def test_a_missing_package_is_named_with_its_remedy() -> None:
    with pytest.raises(UsageError, match="is not installed; pip install"):
        need("--jobs", "no_such_package")
