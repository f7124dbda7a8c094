"""`jpo suggest a/config.ini b/config.ini`: each as if it were alone, in one process."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import jpo.project.project as projects
from jpo.cli.gate import ReaderGone

if TYPE_CHECKING:
    from user_project import Project

JOBS = ("a/config.ini", "b/config.ini")


@pytest.fixture
def two(project: Project) -> Project:
    """Two jobs below one jpo.toml, which share its store; the runs are those of the first."""
    for name in ("a", "b"):
        (project.folder / name).mkdir()
        shutil.copy(project.config, project.folder / name / "config.ini")
    other = project.folder / JOBS[1]
    other.write_text(other.read_text().replace("model", "model", 1).replace("cnn", "mlp"))
    return project


def documents(project: Project, *words: str) -> list[dict[str, Any]]:
    answer = project.jpo("suggest", *words, "--dry-run", "-o", "json")
    found = json.loads(answer.out)
    jobs: list[dict[str, Any]] = found.get("jobs", [found])
    return [{name: value for name, value in job.items() if name not in ("suggestion_id", "created_at")} for job in jobs]


def test_each_is_decided_as_if_it_were_alone(two: Project) -> None:
    alone = [found for name in JOBS for found in documents(two, name)]
    together = documents(two, *JOBS)
    assert [job["config"] for job in together] == [*JOBS]
    assert together == alone
    assert together[0]["suggested"] != together[0]["current"]


def test_people_read_two_lines_for_each_and_how_many_there_are(two: Project) -> None:
    out = two.jpo("suggest", *JOBS, "--no-learn").out
    assert "a/config.ini: 1 value written. Suggestion " in " ".join(out.split())
    assert "KEPT: " in out
    assert out.rstrip().splitlines()[-1].startswith("2 files: ")


def test_an_error_of_one_does_not_stop_the_others(two: Project) -> None:
    (two.folder / "b/config.ini").write_text("[training\n")
    answer = two.jpo("suggest", "nowhere/config.ini", "b/config.ini", "a/config.ini", "--no-learn", "-o", "json")
    assert answer.code == 2
    told = answer.err.splitlines()
    assert [line.split(":")[1] for line in told] == [" nowhere/config.ini", " b/config.ini"]
    missing, broken, done = json.loads(answer.out)["jobs"]
    assert (missing["config"], missing["code"]) == ("nowhere/config.ini", "JPO-E201")
    assert broken["code"] == "JPO-E203"
    assert done["written"] is True


def test_the_exit_code_is_the_highest_of_those_without_an_answer(two: Project) -> None:
    toml = two.folder / "b/jpo.toml"
    toml.write_text('[store]\nurl = "sqlite:///broken.db"\n')
    (two.folder / "b/broken.db").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    answer = two.jpo("suggest", "nowhere/config.ini", *JOBS, "--dry-run")
    assert answer.code == 5
    assert "2 failed" in answer.out


def test_check_says_whether_any_would_change(two: Project) -> None:
    assert two.jpo("suggest", *JOBS, "--check").code == 10
    assert two.jpo("suggest", "b/config.ini", "b/config.ini", "--check").code == 0


@pytest.mark.parametrize("words", [(), ("--no-learn",)])
def test_the_history_is_opened_once(two: Project, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    open_store = projects.open_store

    def counting(url: str, **options: Any) -> Any:
        opened.append(url)
        return open_store(url, **options)

    monkeypatch.setattr(projects, "open_store", counting)
    assert two.jpo("suggest", *JOBS, *words).code == 0
    assert len(opened) == 1


def test_learning_is_bounded_for_the_whole_call_and_begins_elsewhere_each_time(
    two: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[tuple[str, bool, float]] = []

    def learn(config: Path, *_: object, tests: bool, most_seconds: float, **__: object) -> str:
        turns.append((config.parent.name, tests, most_seconds))
        return ""

    monkeypatch.setattr("jpo.commands.learn.learn_after_suggestion", learn)
    for seconds in (100.0, 101.0):
        monkeypatch.setattr("jpo.cli.suggest.time.time", lambda now=seconds: now)
        assert two.jpo("suggest", *JOBS, "nowhere/config.ini").code == 2
    assert [name for name, _, _ in turns] == ["a", "b", "b", "a"]
    assert [tests for _, tests, _ in turns] == [True, False, True, False], "the release test is behind the first"
    assert all(second <= first <= 5.0 for first, second in [(turns[0][2], turns[1][2]), (turns[2][2], turns[3][2])])


def test_a_reader_that_leaves_keeps_none_from_learning(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[str] = []

    def put(_text: str, **_named: str) -> None:
        raise ReaderGone

    def learn(config: Path, *_others: object, **_named: object) -> str:
        learnt.append(config.parent.name)
        return ""

    monkeypatch.setattr("jpo.cli.output.put", put)
    monkeypatch.setattr("jpo.commands.learn.learn_after_suggestion", learn)
    assert two.jpo("suggest", *JOBS).code == 141
    assert sorted(learnt) == ["a", "b"]


def test_a_result_that_would_destroy_what_one_of_them_works_with_stops_all(two: Project) -> None:
    own = two.folder / "b/own.ini"
    own.write_bytes((two.folder / "b/config.ini").read_bytes())
    before = [(two.folder / name).read_bytes() for name in ("a/config.ini", "b/own.ini")]
    answer = two.jpo("suggest", "a/config.ini", "b/own.ini", "--no-learn", "--output-file", "b/own.ini")
    assert (answer.code, "[JPO-E307]" in answer.err) == (2, True)
    assert [(two.folder / name).read_bytes() for name in ("a/config.ini", "b/own.ini")] == before


def test_one_file_of_previous_values_is_of_one_job(two: Project) -> None:
    answer = two.jpo("suggest", *JOBS, "--in-force", "before.ini")
    assert (answer.code, "--in-force: is one file" in answer.err) == (2, True)


@pytest.mark.parametrize("words", [JOBS, (*JOBS, JOBS[0], JOBS[1])], ids=["two", "four"])
def test_a_server_that_does_not_answer_is_asked_once_for_all(two: Project, words: tuple[str, ...]) -> None:
    pytest.importorskip("psycopg", reason='psycopg not found: pip install "jpo[postgres]"')
    asked: list[socket.socket] = []

    def hang_up() -> None:
        while True:
            try:
                asked.append(server.accept()[0])
            except OSError:  # closed: the test is over
                return
            asked[-1].close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=hang_up, daemon=True).start()
        url = f"postgresql://jpo@127.0.0.1:{server.getsockname()[1]}/jpo?sslmode=disable&gssencmode=disable"
        toml = two.folder / "jpo.toml"
        toml.write_text(f'{toml.read_text()}\n[store]\nurl = "{url}"\ntimeout = "1s"\n')
        counts = []
        for files in (words[:1], words):
            asked.clear()
            assert two.jpo("suggest", *files, "--no-learn").code == 5
            counts.append(len(asked))
    assert counts[0] == counts[1] > 0
