"""Runs that are no evidence are named once per cause."""

from __future__ import annotations

from jpo.records import Skipped
from jpo.telemetry.left_out import by_cause


def test_one_run_keeps_its_own_reason() -> None:
    (only,) = by_cause([Skipped("r1", "batch_size = '3_2' is not a usable whole number", "JPO-W121")])
    assert (only.run_id, only.count) == ("r1", 1)
    assert only.reason == "batch_size = '3_2' is not a usable whole number [JPO-W121]"


def test_many_runs_of_a_cause_are_one_sentence() -> None:
    (many,) = by_cause([Skipped(f"r{n}", f"epoch = {-n} cannot be", "JPO-W121") for n in range(20)])
    assert (many.run_id, many.code, many.count) == ("r0, r1, r2 and 17 more", "JPO-W121", 20)
    assert many.reason == "20 runs with values that cannot be, the first: epoch = 0 cannot be [JPO-W121]"


def test_each_cause_has_its_own_and_what_has_none_stays() -> None:
    log = Skipped("a.csv", "is empty")
    found = by_cause([Skipped("r1", "x", "JPO-W123"), log, Skipped("r2", "y", "JPO-W122")])
    assert [run.code for run in found] == ["", "JPO-W122", "JPO-W123"]
    assert found[0] == log
