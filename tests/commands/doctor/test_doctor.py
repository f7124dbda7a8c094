"""`jpo doctor` as a whole, on healthy and on broken surroundings: nothing written, one cause named once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import configure, diagnosis, everything_in

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
    assert lines[-2] == "1 warning, 19 ok"


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
