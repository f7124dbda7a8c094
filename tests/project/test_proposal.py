from __future__ import annotations

from constraints import Facts
from jpo.config import edits_of
from jpo.project.project import open_project
from jpo.project.proposal import checked, diff_of, executed_with, guarded


def test_only_what_changes_is_edited_and_read_back_as_the_job_reads_it(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        edits = edits_of(job.workload, {**job.workload.current, "learning_rate": 0.25}, {})
        assert [(edit.key, edit.old_text, edit.new_text) for edit in edits] == [("training.learning_rate", "0.1", "0.25")]
        assert executed_with(job.workload, edits) == {**job.workload.current, "learning_rate": 0.25}


def test_a_text_that_was_there_before_comes_back_as_it_was(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        (edit,) = edits_of(job.workload, job.workload.current, {"batch_size": "0032"})
        assert edit.new_text == "0032"


def test_a_proposal_is_the_whole_file_and_its_difference(repository):
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        edits = edits_of(job.workload, {**job.workload.current, "batch_size": 64.0}, {})
        proposal = checked(job, edits, Facts())
        assert proposal.guard.approved
        assert proposal.content == path.read_bytes().replace(b"batch_size = 32", b"batch_size = 64")
        assert "+batch_size = 64  # of all GPUs" in diff_of(proposal).split("\n")


def test_a_refusal_names_the_nearest_values_that_are_allowed(repository):
    path, settings = repository("[parameters.batch_size]\nmax = 64\n")
    with open_project(path, settings, now=0.0) as job:
        guard = guarded(job, {**job.workload.current, "batch_size": 100.0}, Facts())
        assert not guard.approved
        assert guard.violations[-1].text == "allowed would be batch_size = 64"


def test_the_teams_own_checker_has_the_last_word(repository):
    path, settings = repository('[check]\ncommand = ["sh", "-c", "echo too big >&2; exit 1", "{config}"]\n')
    with open_project(path, settings, now=0.0) as job:
        proposal = checked(job, edits_of(job.workload, {**job.workload.current, "batch_size": 64.0}, {}), Facts())
        assert not proposal.guard.approved
        assert "too big" in proposal.guard.violations[0].text
