"""Which suggestion says what is in force for a file; the stories are in tests/commands/test_values_in_force.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import a_suggestion, altered

from jpo.project.checkout.in_force import checkout_of, last_about, missing_keys, start_of, unlike
from jpo.project.project import open_project
from jpo.records import Checkout, Suggestion

HERE = Checkout("config.ini", "main")


@pytest.fixture
def workload(repository):  # type: ignore[no-untyped-def]
    """Batch size 32, learning rate 0.1, 2 GPUs, 4 CPUs."""
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        return job.workload


def made(old: float, new: float, committed: float | None = None, branch: str | None = "main") -> Suggestion:
    checkout = Checkout("config.ini", branch, None if committed is None else {"batch_size": committed})
    return altered(a_suggestion(), current={"batch_size": old}, suggested={"batch_size": new}, checkout=checkout)


@pytest.mark.parametrize(
    ("applied", "found"),
    [
        ([], None),
        ([made(32, 64)], 0),  # a file that may be kept, and has what the last suggestion replaced
        ([made(32, 64), made(64, 128)], None),  # the same, but the last one replaced something else: set by a person
        ([made(32, 64, 32), made(64, 128, 32)], 1),
        ([made(32, 64, 32), made(64, 64, 32)], 1),  # kept
        ([made(32, 64, 32), made(16, 32, 16, "x")], 0),  # another branch was left with what is committed here
        ([made(32, 64, 32), made(32, 16, 16, "x")], 0),
        ([made(32, 64, 32, "x")], 0),  # another branch with the same file
        ([made(16, 24, 16), made(24, 32, 16)], 1),  # committed by a person as suggested
        ([made(16, 32, 16), made(32, 64, 16)], 1),  # the same, a night late
        ([made(16, 24, 16), made(24, 48, 16)], None),
        ([made(32, 64, 32), made(64, 32, 32)], 1),  # back
        ([made(32, 64, None, None), made(128, 256, None, None)], None),
        ([made(32, 64, 32, None), made(64, 128, None, None), made(128, 256, None, None)], 2),  # gone on with where it was kept
        ([made(32, 64, 32, None), made(16, 8, None, None), made(64, 128, None, None)], 2),
        ([made(32, 64, 32), made(64, 128, 64)], 1),  # a pipeline that keeps its workspace, until it is wiped
    ],
)
def test_the_last_suggestion_that_has_left_or_replaced_these_values_counts(workload, applied, found):  # type: ignore[no-untyped-def]
    assert last_about(workload, applied, HERE) is (None if found is None else applied[found])


def test_a_checkout_is_known_by_its_file_and_in_a_pipeline_by_branch_and_values(repository):  # type: ignore[no-untyped-def]
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        assert checkout_of(job.workload, settings) == Checkout("config.ini")
        there = replace(settings, author={"where": "gitlab", "ref": "main"})
        assert checkout_of(job.workload, there) == Checkout("config.ini", "main", job.workload.current)


def test_a_file_that_nothing_is_on_record_about_counts_as_it_is(repository):  # type: ignore[no-untyped-def]
    path, settings = repository()
    with open_project(path, settings, now=0.0) as job:
        start = start_of(job.workload, job.store, settings, job.limits, now=0.0)
    assert start == (job.workload, ())


def test_a_changed_value_that_has_no_place_any_more_is_named_and_an_unchanged_one_is_not(workload):  # type: ignore[no-untyped-def]
    values = {"current": {"num_layers": 2.0, "epochs": 8.0}, "suggested": {"num_layers": 4.0, "epochs": 8.0}}
    one = altered(a_suggestion(), keys={"num_layers": "model.layers", "epochs": "training.epochs"}, checkout=None, **values)
    assert missing_keys(one, workload) == "model.layers is gone"
    assert missing_keys(made(32, 64), workload) == ""


def test_a_value_that_the_file_cannot_show_is_named(workload):  # type: ignore[no-untyped-def]
    assert unlike(workload, {**workload.current, "cpus": 4.5}) == "cpus = 4.5 cannot be written in the form that the file uses"
    assert unlike(workload, workload.current) == ""
