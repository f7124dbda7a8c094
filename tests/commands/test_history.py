"""`jpo history` and `jpo explain` of what a store may hold: odd names, odd times, very many runs, a password in its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jpo.commands import history
from jpo.history import open_store
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

if TYPE_CHECKING:
    from conftest import Project


def record(project: Project, *names: str, ended_at: float = 1.7e9) -> None:
    runs = (
        Run(name, Identity(name, "m", "f"), {}, RunStatus.SUCCEEDED, None, ended_at + number, Outcome(), "csv")
        for number, name in enumerate(names)
    )
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        store.record(Finished(tuple(runs)), now=2e9)


@pytest.mark.parametrize("name", ["[/b]", "[red]x", ":smile:", "run [1]"])
def test_a_name_is_shown_as_it_is(empty: Project, name: str) -> None:
    record(empty, name)
    answer = empty.jpo("history")
    assert (answer.code, answer.err) == (0, "")
    assert f"Workload {name}/m/f" in answer.out
    assert f"\n{name} " in answer.out


def test_a_name_cannot_steer_the_terminal(empty: Project) -> None:
    record(empty, "a\x1b[31m\n\u202eb")
    out = empty.jpo("history").out
    assert not any(one in out for one in ("\x1b", "\u202e"))
    assert "Workload a [31m  b/m/f" in out


@pytest.mark.parametrize("ended_at", [1e300, -1e300, 3e11])
def test_a_time_that_no_calendar_knows_is_shown(empty: Project, ended_at: float) -> None:
    record(empty, "r1", ended_at=ended_at)
    answer = empty.jpo("history")
    assert (answer.code, f"{ended_at:g}" in answer.out) == (0, True)


def test_of_very_many_runs_the_table_has_the_newest_and_says_so(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_ROWS", 3)
    record(empty, *(f"run-{n}" for n in range(3)))
    assert "older" not in empty.jpo("history").out
    record(empty, "run-3", ended_at=1.8e9)
    out = empty.jpo("history").out
    assert ("run-0 " not in out, "run-1 " in out, "run-3 " in out) == (True, True, True)
    assert "older ones are left out; --limit N shows so many, --format csv all runs" in out
    assert "run-0 " in empty.jpo("history", "--limit", "4").out
    assert len(empty.jpo("history", "--format", "csv").out.splitlines()) == 5


def test_explain_does_not_show_the_password_of_the_store(empty: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_STORE__URL", postgres.new_database().replace("jpo@", "jpo:hunter2@"))
    answer = empty.jpo("explain")
    assert (answer.code, "holds no suggestion" in answer.err, "hunter2" in answer.err) == (2, True, False)


def test_explain_cannot_steer_the_terminal(project: Project) -> None:
    (project.folder / "runs" / "bad\x1b[31m.csv").write_text("rubbish")
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    out = project.jpo("explain").out
    assert ("\x1b" in out, "skipped" in out) == (False, True)
