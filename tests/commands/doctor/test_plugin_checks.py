from __future__ import annotations

import pytest

from jpo import plugin
from jpo.commands.doctor import plugin_checks
from jpo.commands.doctor.case import Case


def test_plugins_of_jpo_alone_are_no_line(case: Case) -> None:
    assert list(plugin_checks.plugins(case)) == []


def test_a_plugin_and_a_check_that_cannot_be_imported_are_warnings(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    half = plugin.Plugin("half", checks={"Store": "jpo.plugins.nowhere:check"})
    monkeypatch.setattr(plugin, "own", lambda: (plugin.Broken("gone", "ImportError: x"), half))
    lines = list(plugin_checks.plugins(case))
    assert [(line.status, line.code) for line in lines] == [("warning", "JPO-W002")] * 2
    assert ["gone" in lines[0].finding, "half" in lines[1].finding] == [True, True]
    assert list(plugin_checks.checks_under("Store")) == []


def test_checks_of_plugins_stand_under_their_topic() -> None:
    assert [check.__name__ for check in plugin_checks.checks_under("Installation")] == ["tokens"]
    assert [check.__name__ for check in plugin_checks.checks_under("Project")] == ["pipeline_file"]
