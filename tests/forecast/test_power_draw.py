from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.power_draw import power_watts
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus


def candidates(**columns: list[float]) -> Candidates:
    values = np.array(list(columns.values())).T
    return Candidates(tuple(columns), values, 0, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))


def a_run(joules: float | None, seconds: float | None = 100.0, **parameters: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, energy_joules=joules)
    return Run("r", Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, 0.0, outcome, "csv")


GPUS = candidates(gpus=[1.0, 2.0, 8.0, 0.0])


def test_a_configuration_uses_what_its_own_runs_did_and_any_other_as_much_per_gpu() -> None:
    runs = [a_run(20e3, gpus=1), a_run(40e3, gpus=1), a_run(80e3, gpus=2), a_run(None, gpus=2), a_run(1e9, None, gpus=2)]
    assert power_watts(GPUS, runs) == pytest.approx([300, 800, 8 * 140e3 / 400, 0])


def test_without_gpus_to_count_by_it_is_the_mean() -> None:
    assert power_watts(candidates(batch_size=[16.0, 32.0]), [a_run(20e3, batch_size=16)]) == pytest.approx([200, 200])
    assert power_watts(candidates(gpus=[0.0, 1.0]), [a_run(20e3, gpus=0)]) == pytest.approx([200, 200])


@pytest.mark.parametrize("runs", [[], [a_run(None, gpus=1)], [a_run(5.0, 0.0, gpus=1)], [a_run(5.0, None, gpus=1)]])
def test_what_no_run_measured_is_unknown(runs: list[Run]) -> None:
    assert np.isnan(power_watts(GPUS, runs)).all()
