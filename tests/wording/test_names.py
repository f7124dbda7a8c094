from __future__ import annotations

from dataclasses import fields

import pytest

from jpo import records
from jpo.wording import names, numbers


def test_every_quantity_of_a_run_has_a_name() -> None:
    assert list(names.OUTCOMES) == [field.name for field in fields(records.Outcome) if field.name != "metrics"]
    assert set(records.FORECAST) <= set(names.OUTCOMES)


def test_every_parameter_has_a_name() -> None:
    assert tuple(names.PARAMETERS) == records.PARAMETERS


def test_every_sla_target_has_a_quantity() -> None:
    assert {target.quantity for target in names.TARGETS.values()} <= set(names.OUTCOMES)
    assert all(("_min" in name) == (target.sign == "≥") for name, target in names.TARGETS.items())


def test_every_format_has_a_function_and_is_used() -> None:
    used = {one.form for table in (names.OUTCOMES, names.PARAMETERS, names.DERIVED) for one in table.values()}
    assert used == set(numbers.FORMATS) | set(numbers.AMOUNTS)


@pytest.mark.parametrize("table", [names.OUTCOMES, names.PARAMETERS])
def test_no_two_quantities_have_the_same_name(table: dict[str, names.Quantity]) -> None:
    for form in ("long", "short"):
        assert len({getattr(one, form) for one in table.values()}) == len(table)


def test_a_target_is_written_like_its_quantity() -> None:
    assert names.quantity("time_max") == names.OUTCOMES["duration_seconds"]


def test_another_name_is_a_number() -> None:
    assert names.quantity("regret") == names.NUMBER


def test_a_metric_of_the_users_own_is_headed_by_its_name() -> None:
    assert [names.heading(name) for name in ("val_accuracy", "f1")] == ["accuracy", "f1"]
