from __future__ import annotations

from dataclasses import replace

import pytest
from made import a_suggestion, altered

from constraints import Facts
from jpo.config import edits_of
from jpo.errors import ConflictError, NothingAdmissible
from jpo.project.project import open_project
from jpo.project.proposal import checked
from jpo.project.record import carry_out
from jpo.records import Checkout, Guarded, uncoded


def kinds(job):
    return [entry.kind for entry in job.store.audit_records()]


def a_change(job):
    return checked(job, edits_of(job.workload, {**job.workload.current, "batch_size": 64.0}, {}), Facts())


def test_the_suggestion_is_on_record_before_the_file_changes(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        told = altered(a_suggestion(), checkout=Checkout("config.ini"))
        assert carry_out(job, a_suggestion(), a_change(job), dry_run=False) == (told, True)
        assert kinds(job) == ["suggested", "written"]
    assert "batch_size = 64  # of all GPUs" in path.read_text()


def test_a_dry_run_writes_no_file(repository):
    path, settings = repository()
    before = path.read_bytes()
    with open_project(path, settings, now=0.0) as job:
        told = altered(a_suggestion(), checkout=Checkout("config.ini"))
        assert carry_out(job, a_suggestion(), a_change(job), dry_run=True) == (told, False)
    assert path.read_bytes() == before


def test_what_the_guard_refuses_is_on_record_and_nothing_is_written(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        refused = replace(a_change(job), guard=Guarded(False, uncoded(["no"])))
        with pytest.raises(NothingAdmissible, match="no"):
            carry_out(job, a_suggestion(), refused, dry_run=False)
        assert kinds(job) == ["refused"]
    assert "batch_size = 32" in path.read_text()


def test_a_file_that_somebody_changed_meanwhile_stays_and_the_suggestion_is_withdrawn(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        change = a_change(job)
        path.write_text(path.read_text() + "# mine\n")
        with pytest.raises(ConflictError):
            carry_out(job, a_suggestion(), change, dry_run=False)
        assert kinds(job) == ["suggested", "conflict"]
        assert job.store.suggestions_of(job.workload.identity) == ()
    assert path.read_text().endswith("# mine\n")
