from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jpo import plugin
from jpo.project.plugins.hooks import NoQueue, events_of, from_plugins, in_context, queue_of
from jpo.project.project import open_history, open_project
from jpo.project.workload import read_workload
from jpo.records import Known, codes_of

if TYPE_CHECKING:
    from opened_repository import Repository

LOST = "jpo.plugins.nowhere:part"
WITH_A_TABLE = "[launch]\ncommand = ['true']\n"


def test_without_a_table_of_its_own_no_queue_is_imported(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path, settings = repository()
    monkeypatch.setattr(plugin, "own", lambda: (plugin.Plugin("mine", settings={"launch": LOST}, queue=LOST),))
    assert queue_of(read_workload(path, settings, now=0.0), settings) == NoQueue()
    assert NoQueue().ends([({}, None)], now=0.0) == (None,)  # type: ignore[list-item]


def test_parts_that_cannot_be_imported_are_notes(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path, settings = repository(WITH_A_TABLE)
    mine = plugin.Plugin("mine", settings={"launch": LOST}, sources=LOST, queue=LOST, events=LOST)
    monkeypatch.setattr(plugin, "own", lambda: (mine,))
    with open_history(settings) as store:
        assert codes_of(from_plugins(settings, store, now=0.0, keep=False).doubts) == ("JPO-W002",)
    assert codes_of(queue_of(read_workload(path, settings, now=0.0), settings).notes) == ("JPO-W002",)
    assert events_of(settings, ["run-1"]) == ()


def test_a_context_that_cannot_be_imported_is_a_note(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path, settings = repository(WITH_A_TABLE)
    mine = plugin.Plugin("mine", settings={"launch": LOST}, context=LOST, past_context=LOST)
    monkeypatch.setattr(plugin, "own", lambda: (mine,))
    with open_project(path, settings, now=0.0, read_only=True) as job:
        for kind in ("context", "past_context"):
            assert [note.code for note in in_context(Known(()), job, kind).evidence.notes] == ["JPO-W002"]
