"""More GPUs for the same batch: from when on each has too little."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from made import a_run

from jpo.inventory.batch_per_gpu import thinned_out
from jpo.records import RunStatus

TODAY = {"batch_size": 64.0, "gpus": 1.0}
RUNS = [
    a_run("a", parameters=TODAY),
    a_run("b", parameters={"batch_size": 64.0, "gpus": 2.0}),
    a_run("c", parameters={"batch_size": 64.0, "gpus": 8.0}, status=RunStatus.FAILED),
]


def test_less_than_half_of_the_smallest_share_that_ran_well_deserves_a_word() -> None:
    told = thinned_out(TODAY, {"batch_size": 64.0, "gpus": 4.0}, RUNS[:1])
    assert told is not None
    assert told.startswith("gpus = 4 leave 16 samples of the batch to each; the smallest share that ran well is 64")


def test_a_run_that_failed_is_no_measure() -> None:
    told = thinned_out(TODAY, {"batch_size": 64.0, "gpus": 8.0}, RUNS)
    assert told is not None
    assert "the smallest share that ran well is 32" in told


def test_a_smaller_batch_on_as_many_gpus_is_not_about_gpus() -> None:
    today = {"batch_size": 64.0, "gpus": 2.0}
    assert thinned_out(today, {**today, "batch_size": 4.0}, RUNS) is None


@pytest.mark.parametrize(
    "proposed",
    [
        {"batch_size": 64.0, "gpus": 4.0},
        {"batch_size": 256.0, "gpus": 8.0},
        {"batch_size": 8.0, "gpus": 1.0},
        {"batch_size": 64.0, "gpus": 0.0},
        {"batch_size": 64.0},
        {"gpus": 64.0},
        {},
    ],
)
def test_what_is_sensible_or_unknown_deserves_none(proposed: Mapping[str, float]) -> None:
    assert thinned_out(TODAY, proposed, RUNS) is None


def test_without_a_run_on_gpus_nothing_is_known() -> None:
    proposed = {"batch_size": 64.0, "gpus": 8.0}
    assert thinned_out(TODAY, proposed, []) is None
    assert thinned_out(TODAY, proposed, [a_run(parameters={"batch_size": 64.0, "gpus": 0.0}), a_run(parameters={})]) is None
