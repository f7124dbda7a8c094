from __future__ import annotations

import pytest

from jpo.errors import NothingAdmissible, UsageError
from jpo.project.project import open_project
from jpo.project.request import approved_by_hand, followed_parameters, request_of
from jpo.records import Known


def test_what_is_held_is_not_free_and_the_guard_decides_what_is_admissible(repository):
    path, settings = repository("[parameters]\ncpus = { freeze = true }\nbatch_size = { max = 64 }\n")
    with open_project(path, settings, now=0.0) as job:
        request = request_of(job, Known(()))
        assert set(request.allowed.free) == {"batch_size", "learning_rate", "gpus"}
        assert request.allowed.admissible(request.current, {**request.current, "batch_size": 64.0})
        assert not request.allowed.admissible(request.current, {**request.current, "batch_size": 128.0})


def test_following_a_parameter_that_is_not_there_is_a_mistake_in_settings(repository):
    path, settings = repository('[parameters]\nmemory_gib = { follow = "batch_size:linear" }\n')
    with open_project(path, settings, now=0.0) as job, pytest.raises(UsageError, match="follow needs memory_gib"):
        followed_parameters(job)


@pytest.mark.parametrize(("chosen", "finding"), [({"epochs": 3.0}, "has no parameter"), ({"gpus": 1.5}, "not a whole number")])
def test_a_value_by_hand_must_be_one_that_the_file_can_have_or_no_store_is_made(repository, tmp_path, chosen, finding):
    path, settings = repository()
    with pytest.raises(UsageError, match=finding), open_project(path, settings, now=0.0, by_hand=chosen):
        pass
    assert not (tmp_path / ".jpo").exists()


def test_a_value_by_hand_that_the_guard_refuses_is_refused_on_record(repository):
    path, settings = repository("[parameters.batch_size]\nmax = 64\n")
    with open_project(path, settings, now=0.0) as job:
        with pytest.raises(NothingAdmissible, match="allowed would be batch_size = 64"):
            approved_by_hand(job, {"batch_size": 128.0})
        assert [entry.kind for entry in job.store.audit_records()] == ["refused"]
