"""The table of all checks: complete, and in the order of the report."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from jpo.commands.doctor import agent, history_store, installed, own_files, plugin_checks, runs, this_machine
from jpo.commands.doctor.case import Case
from jpo.commands.doctor.checks import CHECKS
from jpo.report.doctor import Line


def test_every_check_of_every_module_is_made_once() -> None:
    written = [
        function
        for module in (installed, plugin_checks, own_files, this_machine, runs, history_store, agent)
        for function in vars(module).values()
        if inspect.isfunction(function) and inspect.signature(function).return_annotation == "Iterator[Line]"
    ]
    made = [check for checks in CHECKS.values() for check in checks]
    assert len(made) == len(set(made))
    assert set(made) == set(written)


def test_the_topics_go_from_jpo_itself_to_what_is_far_away() -> None:
    assert list(CHECKS) == ["Installation", "Project", "Machine", "Prometheus", "CSV logs", "Store"]


def test_a_check_of_healthy_surroundings_says_something_or_nothing_but_never_a_problem(case: Case) -> None:
    lines: Iterator[Line] = (line for checks in CHECKS.values() for check in checks for line in check(case))
    assert {line.status for line in lines} <= {"ok", "unknown", "warning"}
