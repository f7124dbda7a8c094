"""The store: where it is, whether it lasts, and whether what it holds is whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from commands.doctor.diagnosis import SECRET, diagnosis, everything_in

if TYPE_CHECKING:
    from user_project import Project


def test_before_the_first_run_no_store_is_made(empty: Project) -> None:
    code, found = diagnosis(empty)
    assert (code, found["place"]["status"]) == (0, "ok")
    assert not (empty.folder / ".jpo").exists()


def test_an_empty_store_stays_empty(empty: Project) -> None:
    (empty.folder / ".jpo").mkdir()
    (empty.folder / ".jpo" / "jpo.db").touch()
    before = everything_in(empty.folder)
    assert diagnosis(empty)[1]["record"]["finding"] == "opens; no run of digits/cnn/pytorch on record"
    assert everything_in(empty.folder) == before


def test_a_file_that_is_no_store_ends_with_5(empty: Project) -> None:
    (empty.folder / ".jpo").mkdir()
    (empty.folder / ".jpo" / "jpo.db").write_text("not a database, but long enough to be looked at as one" * 100)
    code, found = diagnosis(empty)
    assert (code, found["record"]["code"]) == (5, "JPO-E502")


def test_a_store_that_cannot_be_made_ends_with_5(empty: Project) -> None:
    (empty.folder / ".jpo").write_text("a file where the folder should be")
    code, found = diagnosis(empty)
    assert (code, found["place"]["code"]) == (5, "JPO-E504")
    assert found["place"]["finding"].endswith(".jpo: is not a folder")
    assert empty.jpo("suggest").code == 5


def test_a_store_on_postgresql_is_checked_and_its_password_shown_nowhere(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPO_STORE__URL", postgres.new_database().replace("jpo@", f"jpo:{SECRET}@"))
    before = diagnosis(project)[1]["record"]["finding"]
    project.jpo("observe")
    code, found = diagnosis(project)
    assert (code, before) == (0, "opens; no run of digits/cnn/pytorch on record")
    assert found["place"]["finding"].startswith("postgresql://")
    assert found["record"]["finding"].startswith("opens; 7 runs of digits/cnn/pytorch")
    assert "chain intact" in found["audit log"]["finding"]
    assert SECRET not in str(found)


def test_a_store_server_that_is_down_ends_with_5(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_STORE__URL", f"postgresql://jpo:{SECRET}@127.0.0.1:9/jpo")
    monkeypatch.setenv("JPO_STORE__TIMEOUT", "1s")
    code, found = diagnosis(project)
    assert (code, found["record"]["status"]) == (5, "problem")
    assert SECRET not in str(found)


def test_a_changed_audit_record_ends_with_5_and_is_named(project: Project) -> None:
    project.jpo("observe")
    with closing(sqlite3.connect(project.folder / ".jpo" / "jpo.db")) as database:
        database.execute("DROP TRIGGER audit_is_never_changed")
        database.execute("UPDATE audit SET at = at + 1 WHERE number = 3")
        database.commit()
    code, found = diagnosis(project)
    assert (code, found["audit log"]["code"]) == (5, "JPO-E511")
    assert "record 3 was changed" in found["audit log"]["finding"]


def test_a_store_in_a_pipeline_s_workspace_does_not_last(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_PROJECT_PATH", "acme/train")
    monkeypatch.setenv("CI_PROJECT_DIR", str(empty.folder))
    found = diagnosis(empty)[1]
    assert found["pipeline"]["finding"] == "gitlab: acme/train"
    assert found["lasting"]["next_step"] == "State lives in PostgreSQL or an object the team owns; CI caches are for trying out"
    monkeypatch.setenv("JPO_STORE__URL", f"sqlite:///{empty.folder.parent}/elsewhere/jpo.db")
    assert "lasting" not in diagnosis(empty)[1]
