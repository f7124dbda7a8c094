"""Statements that are put together."""

from __future__ import annotations

from jpo.history.database import insert_into


def test_values_are_named_parameters() -> None:
    assert insert_into("agents", ("name", "state")) == "INSERT INTO agents (name, state) VALUES (:name, :state)"


def test_a_numbered_row_gets_the_next_number() -> None:
    expected = "INSERT INTO runs (number, run_id) VALUES ((SELECT coalesce(max(number), 0) + 1 FROM runs), :run_id)"
    assert insert_into("runs", ("run_id",), numbered=True) == expected
