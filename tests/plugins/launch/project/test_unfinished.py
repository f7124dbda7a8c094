"""Suggestions with ids of their own choosing, and those that a killed process has put on record and not written."""

from __future__ import annotations

from pathlib import Path

import pytest
from loops import Lab

from jpo import config
from jpo.plugins.launch.project.unfinished import finish_writing, free_id, made_under
from jpo.project.project import open_project


class Killed(BaseException):
    """Stands for kill -9."""


@pytest.fixture
def cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A project whose suggestion "job-1" is on record, and was not written."""

    def killed(*_: object, **__: object) -> None:
        raise Killed

    lab = Lab(tmp_path, chosen={"batch_size": 128.0})
    task = lab.task()
    with monkeypatch.context() as patch:
        patch.setattr(config, "write", killed)
        with pytest.raises(Killed):
            lab.suggest(task, "job-1", lab.now)
    return lab


def finished(lab: Lab) -> bool:
    with open_project(lab.config(), lab.settings(), now=lab.now, judges=False) as job:
        return finish_writing(job, "job-1")


def test_what_was_planned_is_written_once(cut_off: Lab) -> None:
    assert finished(cut_off)
    assert "batch_size = 128      # images" in cut_off.config().read_text()
    assert not finished(cut_off)
    with cut_off.history() as store:
        assert store.written(cut_off.task().identity) == {"job-1"}
        assert [record.kind for record in store.audit_records()] == ["suggested", "written"]


def test_over_a_file_that_somebody_changed_nothing_is_written(cut_off: Lab) -> None:
    theirs = cut_off.config().read_text().replace("0.01", "0.03")
    cut_off.config().write_text(theirs)
    assert not finished(cut_off)
    assert cut_off.config().read_text() == theirs


def test_a_suggestion_is_found_under_its_id_and_that_of_its_second_try_alone(cut_off: Lab) -> None:
    lab = cut_off
    with lab.history() as store:
        identity = lab.task().identity
        assert [made_under(name, store, identity) is not None for name in ("job-1", "job", "job-12", "job-1-2")] == [
            True,
            False,
            False,
            False,
        ]
        assert (free_id("job-2", store), free_id("job-1", store)) == ("job-2", "job-1-3")
