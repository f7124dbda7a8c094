"""`jpo doctor` as a whole, on healthy and on broken surroundings: nothing written, one cause named once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import configure, diagnosis, everything_in

from jpo import plugin
from jpo.commands.doctor import agent, doctor, history_store, installed, own_files, runs, this_machine
from jpo.commands.doctor.case import Case
from jpo.commands.doctor.doctor import CHECKS
from jpo.report.doctor import Line

if TYPE_CHECKING:
    from user_project import Project


def test_healthy_surroundings_are_all_ok_and_nothing_is_written(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    before = everything_in(project.folder)
    code, found = diagnosis(project)
    assert everything_in(project.folder) == before
    assert (code, {check["status"] for check in found.values()}) == (0, {"ok"})
    assert found["logs"]["finding"] == "runs/*.csv: 7 files, 7 finished runs, 7 of this workload"
    assert "7 runs of digits/cnn/pytorch, the newest ended" in found["record"]["finding"]
    assert "9 records, chain intact, head " in found["audit log"]["finding"]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_report_fits_the_terminal_and_sums_up(empty: Project, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr("jpo.cli.output.width", lambda: width)
    lines = empty.jpo("doctor").out.split("\n")
    assert max(map(len, lines)) <= width
    assert lines[0] == "Installation"
    assert lines[-2] == "1 warning, 21 ok"


def test_a_server_that_is_down_ends_with_4_after_all_other_checks(project: Project) -> None:
    project.jpo("observe")
    code, found = diagnosis(project, "--prometheus-url", "http://127.0.0.1:9")
    assert (code, found["server"]["status"], found["server"]["code"]) == (4, "problem", "JPO-E102")
    assert found["logs"]["status"] == found["audit log"]["status"] == "ok"


def test_a_broken_jpo_toml_ends_with_2_and_is_reported_once(project: Project) -> None:
    configure(project, "[parameters]\nbatch_sice = { min = 8 }\n")
    code, found = diagnosis(project)
    assert (code, found["settings"]["code"], found["settings"]["status"]) == (2, "JPO-E302", "problem")
    assert [name for name, one in found.items() if one["status"] == "problem"] == ["settings"]
    assert found["packages"]["status"] == "ok"
    assert found["csv logs"]["status"] == "unknown"


def test_a_missing_config_ini_ends_with_2_and_the_store_is_still_checked(project: Project) -> None:
    project.jpo("observe")
    project.config.unlink()
    code, found = diagnosis(project)
    assert (code, found["config.ini"]["code"]) == (2, "JPO-E201")
    assert found["record"]["finding"].startswith("opens; 7 runs, the newest ended")


def test_names_from_files_cannot_steer_the_terminal(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["\\u001b[31mgone[/bold]/*.csv"]\n')
    out = empty.jpo("doctor").out
    assert "\x1b" not in out
    assert "[31mgone[/bold]/*.csv matches no file" in out


def test_every_check_of_every_module_is_made_once() -> None:
    written = [
        function
        for module in (doctor, installed, own_files, this_machine, runs, history_store, agent)
        for name, function in vars(module).items()
        if name != "made" and inspect.isfunction(function)
        if inspect.signature(function).return_annotation in (Iterator[Line], "Iterator[Line]")
    ]
    made = [check for checks in CHECKS.values() for check in checks]
    assert len(made) == len(set(made))
    assert set(made) == set(written)


def test_the_topics_go_from_jpo_itself_to_what_is_far_away() -> None:
    assert list(CHECKS) == ["Installation", "Project", "Machine", "Prometheus", "CSV logs", "Store", "Claims"]


def test_a_check_of_healthy_surroundings_says_something_or_nothing_but_never_a_problem(case: Case) -> None:
    lines: Iterator[Line] = (line for checks in CHECKS.values() for check in checks for line in check(case))
    assert {line.status for line in lines} <= {"ok", "unknown", "warning"}


def test_plugins_of_jpo_alone_are_no_line(case: Case) -> None:
    assert list(doctor.plugins(case)) == []


def test_a_plugin_and_a_check_that_cannot_be_imported_are_warnings(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    half = plugin.Plugin("half", checks={"Store": "jpo.plugins.nowhere:check"})
    monkeypatch.setattr(plugin, "own", lambda: (plugin.Broken("gone", "ImportError: x"), half))
    lines = list(doctor.plugins(case))
    assert [(line.status, line.code) for line in lines] == [("warning", "JPO-W002")] * 2
    assert ["gone" in lines[0].finding, "half" in lines[1].finding] == [True, True]
    assert list(doctor.checks_of_plugins("Store")) == []


def test_checks_of_plugins_stand_under_their_topic() -> None:
    assert [check.__name__ for check in doctor.checks_of_plugins("Installation")] == ["tokens"]
    assert [check.__name__ for check in doctor.checks_of_plugins("Project")] == ["pipeline_file"]
