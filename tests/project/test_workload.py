from __future__ import annotations

from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.errors import UsageError
from jpo.project.workload import NOT_FREED, judged_today, limits_of, read_workload, with_pins
from jpo.records import Note


def test_epochs_change_only_where_jpo_toml_names_them(repository):
    path, settings = repository()
    path.write_text(path.read_text().replace("learning_rate = 0.1", "learning_rate = 0.1\nepochs = 5"))
    assert read_workload(path, settings, now=0.0).parameter("epochs").held == NOT_FREED
    _, named = repository("[parameters.epochs]\nmax = 50\n")
    path.write_text(path.read_text().replace("learning_rate = 0.1", "learning_rate = 0.1\nepochs = 5"))
    assert read_workload(path, named, now=0.0).parameter("epochs").held is None


def test_a_pinned_value_is_held_by_the_guard_and_one_that_is_only_not_freed_is_not(repository):
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    held = {"batch_size": Note("", "pinned in config.ini"), "gpus": NOT_FREED}
    pinned = replace(workload, parameters=tuple(replace(p, held=held.get(p.name)) for p in workload.parameters))
    limits = with_pins(limits_of(settings), pinned)
    assert limits != limits_of(settings)
    assert with_pins(limits_of(settings), replace(pinned, parameters=pinned.parameters[2:])) == limits_of(settings)


def test_a_limit_that_cannot_be_is_a_mistake_in_settings(repository):
    path, settings = repository()
    broken = replace(settings, tables={"parameters": {"batch_size": {"min": "few"}}})
    with pytest.raises(UsageError, match=r"jpo\.toml"):
        limits_of(broken)
    judged = judged_today(read_workload(path, settings, now=0.0), limits_of(settings), Prices())
    assert judged.kept == judged.rules > 0


def test_a_value_of_today_beyond_a_limit_is_named(repository):
    path, settings = repository("[parameters.batch_size]\nmax = 16\n")
    judged = judged_today(read_workload(path, settings, now=0.0), limits_of(settings), Prices())
    assert (judged.rules - judged.kept, *judged.broken) == (1, "batch_size = 32 is above 16, the largest value allowed")
