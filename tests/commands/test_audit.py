"""`jpo audit` as people, pipelines and other programs use it."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
import subprocess
import time
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from jpo.agent.policy import shipped_policy
from jpo.commands import suggest as story
from jpo.commands.audit import since_when
from jpo.errors import NothingAdmissible
from jpo.learning.job import DOMAINS
from jpo.learning.release import SITUATIONS
from jpo.optimizer.suggestion import decider

if TYPE_CHECKING:
    from user_project import Project


def records(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]


def suggest(project: Project, *options: str) -> int:
    return project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn", *options).code


def tamper(project: Project, *statements: str) -> None:
    connection = sqlite3.connect(project.folder / ".jpo/jpo.db")
    with connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


# --- what is on record


def test_the_suggestion_and_the_writing_name_the_file_before_and_after(project: Project) -> None:
    before = hashlib.sha256(project.config.read_bytes()).hexdigest()
    assert suggest(project) == 0
    intention, deed = records(project)[-2:]
    assert (intention["kind"], deed["kind"]) == ("suggested", "written")
    assert intention["data"]["source_digest"] == deed["data"]["source_digest"] == before
    assert deed["data"]["written_digest"] == hashlib.sha256(project.config.read_bytes()).hexdigest()
    assert intention["data"]["current"]["batch_size"] == 16
    assert intention["data"]["suggested"]["batch_size"] == 64
    assert intention["data"]["evidence"]["runs_used"] == 7


def test_which_policy_decided_is_on_record(project: Project) -> None:
    suggest(project)
    data = records(project)[-2]["data"]
    shipped = shipped_policy()
    assert shipped is not None
    expected = {"sac": shipped.digest, "belief": "belief rule"}
    assert data["policy"] == expected[data["decided_by"]]
    assert decider(shipped, "sac") == shipped.digest
    assert decider(shipped, "waiting") is None


def test_every_record_says_who_where_and_with_which_versions(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_ACTOR", "octocat")
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    suggest(project)
    project.jpo("observe", "r1", "--metric", "val_loss=0.3")
    makers = [record["data"]["by"] for record in records(project)]
    assert {(by["where"], by["user"]) for by in makers} == {("github", "octocat")}
    assert all(by["jpo"] and by["python"] for by in makers)
    assert b"hunter2" not in (project.folder / ".jpo/jpo.db").read_bytes()


def test_a_refusal_is_on_record_with_what_was_wanted_and_why_not(project: Project) -> None:
    assert suggest(project, "--set", "batch_size=100000") == 3
    refused = records(project)[-1]
    assert (refused["kind"], refused["data"]["code"]) == ("refused", "JPO-E401")
    assert (refused["data"]["current"]["batch_size"], refused["data"]["suggested"]["batch_size"]) == (16, 100000)
    assert "too far from today's 16" in refused["data"]["violations"][0]
    assert refused["data"]["keys"]["batch_size"] == "training.batch_size"


def test_that_the_team_s_checker_refused_is_on_record_with_its_evidence(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[check]\ncommand = ["sh", "-c", "echo not on Fridays; exit 1", "{config}"]\n')
    assert suggest(project) == 3
    data = records(project)[-1]["data"]
    assert "not on Fridays" in data["violations"][0]
    assert (data["guard"]["approved"], data["evidence"]["runs_used"], data["suggested"]["batch_size"]) == (False, 7, 64)


def test_that_nothing_was_admissible_is_on_record(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[sla]\ntime_max = "1s"\n')
    assert suggest(project) == 3
    refused = records(project)[-1]
    assert (refused["kind"], refused["data"]["code"]) == ("refused", "JPO-E402")
    assert (refused["data"]["evidence"]["runs_used"], refused["data"]["suggested"]) == (7, {})
    assert "whatever could be suggested: [sla] time_max" in project.jpo("audit", "show", "--limit", "1").out


def test_a_dry_run_leaves_no_record(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.jpo("observe")

    def nothing(*_: object, **__: object) -> None:
        raise NothingAdmissible("[sla]", "nothing", code="JPO-E402")

    monkeypatch.setattr(story, "advise", nothing)
    assert suggest(project, "--dry-run") == 3
    assert {record["kind"] for record in records(project)} == {"observed"}


@pytest.mark.slow
def test_learning_is_on_record_step_by_step(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RELEASE_JOBS", 4 * len(DOMAINS)), ("MOST_JOBS", 3)):
        monkeypatch.setattr(f"jpo.learning.release.{name}", value)
    project.jpo("observe")
    project.jpo("learn", "config.ini", "--budget", "10m")
    steps, tested = [each for each in records(project) if each["kind"] == "learnt"], records(project)[-1]
    assert sum(step["data"]["runs"] for step in steps) == 6  # in one step, or in more where the machine is busy
    assert not any(step["data"]["rebuilt"] for step in steps)
    assert tested["kind"] == "tested"
    results = set(tested["data"]["results"])
    assert results >= {"pooled", "on", "installation host-memory"}
    assert results <= {"pooled", *SITUATIONS}, "each situation that was played twice, until it was clear how the test ends"
    assert {"jobs", "ratio", "standard_error", "harm", "rule_harm"} == set(tested["data"]["results"]["pooled"])
    assert len(tested["data"]["policy"]) == 64


# --- show


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for every record in a line, as for grep."""
    monkeypatch.setenv("COLUMNS", "2000")


def test_show_gives_each_record_a_line(project: Project) -> None:
    suggest(project)
    lines = project.jpo("audit", "show").out.splitlines()
    assert len(lines) == 9
    assert "training.batch_size 16 → 64" in lines[-2]
    assert "written      digits/cnn/pytorch  config.ini has the values of" in lines[-1]


def test_show_folds_below_its_words_in_a_pipe_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    suggest(project)
    monkeypatch.setenv("COLUMNS", "80")
    lines = project.jpo("audit", "show", "--limit", "99999999999999999999").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith(" " * 43) for line in lines)


def test_show_makes_a_page_of_the_newest_records(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    suggest(project)
    page = project.jpo("audit", "show", "-o", "markdown").out
    assert page.startswith("### Audit log\n\n| record | time (UTC) | kind | workload | what | by |\n")
    assert (page.count("`digits/cnn/pytorch`"), "Note" in page) == (9, False)
    monkeypatch.setattr("jpo.commands.audit.MOST_ROWS", 2)
    short = project.jpo("audit", "show", "-o", "html").out
    assert short.count("<code>digits/cnn/pytorch</code>") == 2
    assert "newest 2 only, older ones are left out" in short
    assert project.jpo("audit", "show", "-o", "html", "--limit", "3").out.count("<code>digits") == 3


@pytest.mark.parametrize("at", ["1e300", "-1e300", "3e11"])
def test_a_time_that_no_calendar_knows_is_shown_and_exported(project: Project, at: str) -> None:
    project.jpo("observe")
    tamper(project, f"UPDATE audit SET at = {at} WHERE number = 3")  # noqa: S608
    assert len(project.jpo("audit", "show").out.splitlines()) == 7
    lines = project.jpo("audit", "export").out.splitlines()
    assert "time" not in json.loads(lines[2])
    assert len(project.jpo("audit", "export", "-o", "csv").out.splitlines()) == 8


def test_a_record_cannot_steer_the_terminal(project: Project) -> None:
    project.jpo("observe")
    tamper(project, "UPDATE audit SET kind = 'x' || char(27) || '[31m' || char(10), model = char(8238) || 'm' WHERE number = 3")
    out = project.jpo("audit", "show").out
    assert len(out.splitlines()) == 7
    assert not any(one in out for one in ("\x1b", "\u202e"))


# --- verify and its anchor


def test_an_anchor_is_one_line_and_is_accepted_back(project: Project) -> None:
    project.jpo("observe")
    anchor = project.jpo("audit", "verify", "--anchor").out
    assert anchor.startswith("JPO-Audit-Head: 7 ")
    suggest(project)
    for noted in (anchor, anchor.split(": ")[1], anchor.split()[-1], anchor.split()[-1].upper(), f"a title\n\n{anchor}"):
        answer = project.jpo("audit", "verify", "--head", noted)
        assert (answer.code, "9 records, chain intact" in answer.out) == (0, True), noted
        assert "2 of them after the head that was noted" in answer.out


def test_an_anchor_survives_git_as_a_trailer_and_as_a_note(project: Project) -> None:
    project.jpo("observe")
    anchor = project.jpo("audit", "verify", "--anchor").out.strip()
    git = ["git", "-C", str(project.folder), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]

    def run(*words: str) -> str:
        return subprocess.run([*git, *words], check=True, capture_output=True, text=True).stdout

    run("init", "-q")
    run("add", "config.ini")
    run("commit", "-q", "-m", "tune", "--trailer", anchor)
    run("notes", "--ref=jpo", "append", "-m", anchor)
    for noted in (run("log", "-1", "--format=%(trailers:key=JPO-Audit-Head)"), run("notes", "--ref=jpo", "show")):
        assert project.jpo("audit", "verify", "--head", noted).code == 0


def test_records_that_are_missing_at_the_end_show_against_the_anchor(project: Project) -> None:
    project.jpo("observe")
    anchor = project.jpo("audit", "verify", "--anchor").out
    tamper(project, "DELETE FROM audit WHERE number = 7")
    assert project.jpo("audit", "verify").code == 0
    answer = project.jpo("audit", "verify", "--head", anchor)
    assert answer.code == 5
    assert "not in the log" in answer.err


def test_an_anchor_whose_number_was_altered_is_not_accepted(project: Project) -> None:
    project.jpo("observe")
    answer = project.jpo("audit", "verify", "--head", project.jpo("audit", "verify", "--anchor").out.replace(" 7 ", " 6 "))
    assert answer.code == 5
    assert "noted as record 6 is that of record 7" in answer.err


@pytest.mark.parametrize("text", ["", "abc", "x" * 64, "JPO-Audit-Head:", "7 8 " + "a" * 64, "a" * 63, "a" * 65])
def test_what_is_no_anchor_is_a_usage_error(project: Project, text: str) -> None:
    answer = project.jpo("audit", "verify", "--head", text)
    assert (answer.code, "JPO-E520" in answer.err) == (2, True)


def test_a_broken_chain_gives_no_anchor(project: Project) -> None:
    project.jpo("observe")
    tamper(project, "UPDATE audit SET kind = 'x' WHERE number = 3")
    answer = project.jpo("audit", "verify", "--anchor")
    assert (answer.code, answer.out) == (5, "")


# --- export


def test_export_gives_a_cloud_event_per_record(project: Project) -> None:
    suggest(project)
    events = [json.loads(line) for line in project.jpo("audit", "export").out.splitlines()]
    assert [event["id"] for event in events] == [str(n) for n in range(1, 10)]
    assert [event["type"] for event in events[-2:]] == ["io.jpo.suggested", "io.jpo.written"]
    assert {event["source"] for event in events} == {f"sqlite:///{project.folder}/.jpo/jpo.db"}
    assert all(after["previous"] == before["hash"] for before, after in pairwise(events))


def test_export_as_csv_has_the_same_records_and_no_formula(project: Project) -> None:
    text = project.config.read_text().replace("dataset = digits", "dataset = =HYPERLINK(1)")
    project.config.write_text(text)
    project.jpo("observe", "@r1", "--metric", "val_loss=0.3")
    (row,) = csv.DictReader(StringIO(project.jpo("audit", "export", "-o", "csv").out))
    assert (row["number"], row["kind"], row["dataset"]) == ("1", "observed", "'=HYPERLINK(1)")
    assert json.loads(row["data"])["run_id"] == "@r1"


@pytest.mark.parametrize(
    ("since", "count"), [("1000d", 1), ("2026-01-01", 1), ("2026-01-01T00:00+01:00", 1), ("2100-01-01T00:00Z", 0), ("1s", 0)]
)
def test_export_since_a_date_a_time_or_a_duration(project: Project, since: str, count: int) -> None:
    project.jpo("observe")
    tamper(project, "UPDATE audit SET at = 1", "UPDATE audit SET at = 1790000000 WHERE number = 4")
    assert len(project.jpo("audit", "export", "--since", since).out.splitlines()) == count


def test_a_date_means_utc_in_every_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert since_when("2026-11-21", 0.0) == 1_795_219_200
        assert since_when("2026-11-21T01:00+01:00", 0.0) == 1_795_219_200
    finally:
        monkeypatch.undo()
        time.tzset()


def test_export_since_nonsense_is_a_usage_error(project: Project) -> None:
    answer = project.jpo("audit", "export", "--since", "yesterday")
    assert (answer.code, "JPO-E521" in answer.err) == (2, True)


def test_export_stops_at_a_damaged_record_and_says_so(project: Project) -> None:
    project.jpo("observe")
    for damage in ("'{'", "'[1]'", "'5'", """'{"x": NaN}'""", """'{"x": 1e999}'"""):
        tamper(project, f"UPDATE audit SET data = {damage} WHERE number = 3")  # noqa: S608
        answer = project.jpo("audit", "export")
        assert answer.code == 5
        assert "record 3 is damaged" in answer.err


def test_audit_shows_the_suggestion_before_the_writing_and_verifies(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    assert kinds == ["observed"] * 7 + ["suggested", "written"]
    assert "9 records, chain intact" in project.jpo("audit", "verify").out


def test_audit_verify_does_not_approve_a_log_that_is_gone(empty: Project) -> None:
    answer = empty.jpo("audit", "verify")
    assert answer.code == 5
    assert "contains no audit log" in answer.err


def test_audit_verify_misses_a_head_that_was_noted(project: Project) -> None:
    project.jpo("observe")
    answer = project.jpo("audit", "verify", "--head", "ab" * 32)
    assert answer.code == 5
    assert "records are missing at its end, or it was rewritten" in answer.err
