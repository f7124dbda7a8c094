"""The benchmark of parameters of the team's own: it plays the real command line, and its truth is what the text says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "own_parameters.py"
OWN = runpy.run_path(str(SCRIPT))


def test_the_best_is_the_best_of_everything_that_may_be_written():
    known, least = OWN["best"]()
    assert known == {"batch_size": 256, "learning_rate": 0.005, "optimizer": "adam", "dropout": 0.25, "weight_decay": 0.001}
    assert OWN["seconds"](OWN["FIRST"]) / least > 4


def test_each_parameter_matters():
    known, least = OWN["best"]()
    for name, ladder in OWN["LADDERS"].items():
        assert max(OWN["seconds"]({**known, name: value}) for value in ladder) > 1.15 * least


@pytest.mark.slow
def test_two_nights_are_played_by_jpo_and_by_tpe_with_the_same_first_night():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--nights", "2", "--seeds", "1", "--json"], capture_output=True, text=True, check=False
    )
    told = json.loads(done.stdout)
    jpo, tpe = told["nights"]["jpo"][0], told["nights"]["tpe"][0]
    assert (len(jpo), len(tpe), jpo[0], tpe[0]) == (2, 2, OWN["FIRST"], OWN["FIRST"])
    assert told["ratios"]["jpo"][0][0] > 4
    assert jpo[1]["optimizer"] in ("adam", "sgd", "rmsprop")
