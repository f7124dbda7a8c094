"""The benchmark that changes each number of the decision: that it finds them, changes them, and sees which matter."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from apparatus.decision_numbers import numbers, rules, scaled  # noqa: E402

QUICK = ("--jobs", "fixed_epochs", "--nights", "3", "--decisions", "2")
MATTERS, DOES_NOT = "agent/action.py: FACTORS", "agent/safety/promise.py: TRIED"


def ablated(*arguments: str) -> list[list[str]]:
    command = [sys.executable, str(BENCHMARKS / "ablation.py"), *arguments, *QUICK, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_number_that_matters_is_told_from_one_that_does_not_and_is_measured() -> None:
    head, *rows = ablated(MATTERS, DOES_NOT, "rule: undo")
    assert head == ["change", "nights", "last nights"]
    played = {change: figures for change, *figures in rows}
    assert played[f"{DOES_NOT} x 2"] == played[f"{DOES_NOT} x 0.5"] == played["rule: undo"] == ["nothing in 2 decisions", ""]
    assert "±" in played[f"{MATTERS} x 2"][0]


def test_every_number_and_every_rule_has_a_name_of_its_own() -> None:
    places = [number.place for number in numbers()]
    assert {MATTERS, DOES_NOT} <= set(places)
    assert len(set(places)) == len(places)
    assert {"rule: JPO-I620", "rule: settled", "rule: undo"} <= set(rules())
    assert "rule: decide" not in rules()


@pytest.mark.parametrize(
    ("value", "twice"),
    [(3, 6), (0.25, 0.5), (0.9, 0.95), (True, True), ((1, 2.0), (2, 4.0)), ({"gpus": 2}, {"gpus": 4})],
)
def test_numbers_are_doubled_and_shares_above_a_half_come_nearer_to_one(value: object, twice: object) -> None:
    assert scaled(2.0, value) == pytest.approx(twice)


def test_what_holds_no_numbers_is_not_scaled() -> None:
    assert scaled(0.5, np.array([2.0, 4.0])).tolist() == [1.0, 2.0]
    assert scaled(0.5, 1) == 1
    with pytest.raises(TypeError, match="PosixPath is not scaled"):
        scaled(2.0, Path("weights"))


def test_the_page_names_no_number_that_there_is_not() -> None:
    page = (BENCHMARKS.parent / "docs/ablation.md").read_text("utf-8")
    listed = re.findall(r"^\| (\w+/[\w/]+\.py) \| (.*) \|$", page, re.MULTILINE)
    places = {f"{file}: {name.partition(' (')[0]}" for file, names in listed for name in names.split("; ")}
    assert places
    assert places <= {number.place for number in numbers()}
