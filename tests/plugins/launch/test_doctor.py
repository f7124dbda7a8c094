from __future__ import annotations

import os
from pathlib import Path

import pytest

from jpo.commands.doctor.case import Case
from jpo.plugins.launch import doctor
from jpo.report.doctor import Line

CASE = Case(None, lambda: pytest.fail("no settings are needed"), {}, now=0.0, offline=True)


@pytest.mark.parametrize(("user", "remedy"), [(0, "`systemd-run --scope -p"), (1000, "`systemd-run --user --scope -p")])
def test_who_keeps_the_limits_of_runs_is_said_and_why(user: int, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(doctor, "delegated", lambda *_: (None, "/x is not delegated"))
    (line,) = doctor.limits_of_runs(CASE)
    assert (line.status, "/x is not delegated" in line.finding) == ("ok", True)
    assert remedy in line.next_step


def test_where_the_kernel_keeps_them_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "delegated", lambda *_: (Path("/x"), ""))
    words = "kept by the kernel, for each run in a cgroup of its own below /x"
    assert list(doctor.limits_of_runs(CASE)) == [Line("limits of runs", "ok", words)]
