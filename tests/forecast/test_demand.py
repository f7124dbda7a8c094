from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from jpo.forecast.demand import _predict, _student_quantile, demand, power_watts
from jpo.forecast.ensemble import VAGUE
from jpo.forecast.measurements import Measurements
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

FIELDS = ("throughput_samples_per_second", "memory_gib", "gpu_utilisation", "cpu_utilisation")


def grid(*names_and_values: tuple[str, list[float]]) -> Candidates:
    names = tuple(name for name, _ in names_and_values)
    values = np.stack(
        [quantities.ravel() for quantities in np.meshgrid(*(v for _, v in names_and_values), indexing="ij")], axis=1
    )
    return Candidates(names, values, 0, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))


def a_run(at: int, parameters: dict[str, float], *, status: RunStatus = RunStatus.SUCCEEDED, **measured: float) -> Run:
    return Run(str(at), Identity("d", "m", "f"), parameters, status, None, float(at), Outcome(**measured), "csv")


BATCHES = grid(("batch_size", [32.0, 64.0, 128.0, 4096.0]))


def test_nothing_is_expected_of_what_no_run_measured() -> None:
    assert demand(BATCHES, []) == {}
    failed = a_run(0, {"batch_size": 32}, status=RunStatus.OOM_KILLED, memory_gib=8.0)
    assert demand(BATCHES, [failed, a_run(1, {"batch_size": 32}, gpu_utilisation=0.4)]).keys() == {"gpu_utilisation"}


def test_one_run_is_carried_along_the_prior_slope_and_the_interval_grows_with_the_distance() -> None:
    band = demand(BATCHES, [a_run(0, {"batch_size": 32}, throughput_samples_per_second=100.0)])["throughput_samples_per_second"]
    assert band.mean == pytest.approx([100 * math.exp(0.25 * doublings) for doublings in (0, 1, 2, 7)])
    assert (np.diff(np.log(band.high / band.low)) > 0).all()
    assert math.log(band.high[3] / band.low[3]) > 2 * 1.645 * 7 * 0.25  # seven times the sd of the slope


def test_measured_slopes_replace_the_prior_one() -> None:
    runs = [a_run(i, {"batch_size": b}, memory_gib=4.0 * b / 32) for i, b in enumerate((32, 64, 128) * 3)]
    assert demand(BATCHES, runs)["memory_gib"].mean[:3] == pytest.approx([4, 8, 16], rel=0.1)


def test_the_chance_to_need_more_than_there_is_follows_the_forecast() -> None:
    band = demand(BATCHES, [a_run(0, {"batch_size": 32}, memory_gib=4.0)])["memory_gib"]
    assert band.p_above(band.mean) == pytest.approx([0.5] * 4)
    assert band.p_above(band.high) == pytest.approx([0.05] * 4)
    assert band.p_above(np.full(4, math.inf)).tolist() == [0.0] * 4
    chances = band.p_above(np.full(4, 5.0))
    assert (np.diff(chances) > 0).all()
    assert (chances[0] < 0.05, chances[3] > 0.5) == (True, True)


def test_where_nothing_is_forecast_nothing_is_too_much() -> None:
    with_and_without = grid(("gpus", [0.0, 1.0]))
    band = demand(with_and_without, [a_run(0, {"gpus": 1}, memory_gib=4.0)])["memory_gib"]
    assert band.p_above(np.ones(2)) == pytest.approx([0.0, 1.0], abs=1e-3)


def test_workers_that_load_data_take_memory() -> None:
    workers = grid(("num_workers", [1.0, 8.0]))
    mean = demand(workers, [a_run(0, {"num_workers": 1}, memory_gib=4.0)])["memory_gib"].mean
    assert mean == pytest.approx([4.0, 4 * math.exp(0.6)])


def test_noise_between_equal_runs_is_learnt() -> None:
    steady, shaky = (
        demand(BATCHES, [a_run(i, {"batch_size": 32}, memory_gib=8 * math.exp(s * (-1) ** i)) for i in range(20)])["memory_gib"]
        for s in (0.01, 0.5)
    )
    assert math.log(steady.high[0] / steady.low[0]) < 0.15
    assert math.log(shaky.high[0] / shaky.low[0]) > 1


def test_a_ratio_of_0_or_1_that_was_measured_is_within_its_interval() -> None:
    idle, busy = ({"gpu_utilisation": share, "cpu_utilisation": share} for share in (0.0, 1.0))
    candidates = grid(("gpus", [1.0, 8.0]), ("cpus", [1.0, 64.0]))
    for measured in (idle, busy):
        for name, band in demand(candidates, [a_run(0, {"gpus": 1, "cpus": 1}, **measured)]).items():
            assert band.low[0] <= measured[name] <= band.high[0]
            assert band.mean[0] == pytest.approx(measured[name], abs=1e-9)
            assert 0 <= band.low.min() <= band.high.max() <= 1


def test_batch_and_gpus_grown_together_leave_the_batch_of_each_as_it_is() -> None:
    candidates = grid(("batch_size", [32.0, 256.0]), ("gpus", [1.0, 8.0]))
    band = demand(candidates, [a_run(0, {"batch_size": 32, "gpus": 1}, gpu_utilisation=0.5)])["gpu_utilisation"]
    assert math.log(band.mean[3] / (1 - band.mean[3])) == pytest.approx(3 * -0.2, rel=0.02)  # 256 on 8 GPUs
    assert math.log(band.mean[1] / (1 - band.mean[1])) == pytest.approx(3 * -0.2 - 3 * 0.3, rel=0.02)  # 32 on 8 GPUs


def test_workloads_without_any_of_the_parameters_have_a_mean_and_its_noise() -> None:
    band = demand(grid(("learning_rate", [0.1, 0.01])), [a_run(0, {"learning_rate": 0.1}, memory_gib=3.0)])["memory_gib"]
    assert band.mean == pytest.approx([3, 3])


@pytest.mark.parametrize("freedom", [4.0, 7.0, 50.0])
def test_the_quantile_is_students_with_an_error_of_the_fourth_order(freedom: float) -> None:
    assert _student_quantile(freedom) == pytest.approx(student.ppf(0.95, freedom), rel=0.4 / freedom**4)


@pytest.mark.parametrize(
    ("name", "measured", "signs"),
    [
        ("throughput_samples_per_second", 100.0, [1, 1, 1, -1, 0]),
        ("memory_gib", 4.0, [1, 1, 1, 1, 1]),
        ("gpu_utilisation", 0.5, [1, -1, 1, 1, 0]),
        ("cpu_utilisation", 0.5, [1, 1, -1, -1, 0]),
    ],
)
def test_a_doubling_brings_less_than_twice_as_much_in_the_usual_direction_and_is_known_within_a_factor(
    name: str, measured: float, signs: list[float]
) -> None:
    doubled = np.array([[64, 1, 1, 1, 1], [64, 2, 1, 1, 1], [32, 1, 2, 1, 1], [32, 1, 1, 2, 1], [32, 1, 1, 1, 2]])
    names = ("batch_size", "gpus", "cpus", "num_layers", "num_workers")
    values = np.vstack(([[32, 1, 1, 1, 1]], doubled)).astype(np.float64)  # more GPUs with as much for each
    candidates = Candidates(names, values, 0, np.ones(6, dtype=np.bool_), np.zeros(6))
    band = demand(candidates, [a_run(0, dict(zip(names, values[0], strict=True)), **{name: measured})])[name]
    ends = np.stack((band.low, band.mean, band.high))
    logs = np.log(ends / (1 - ends) if measured < 1 else ends)
    assert np.sign((logs[1, 1:] - logs[1, 0]).round(6)).tolist() == signs
    assert (abs(logs[1] - logs[1, 0]) < math.log(2)).all()
    assert (logs[2] - logs[0] < 2 * math.log(5)).all()  # either way
    assert logs[2, 0] - logs[0, 0] < 2 * math.log(1.3 if measured > 1 else 2.5)  # where it was measured


@pytest.mark.parametrize("mean", [[1.0, 1.2, 1.6], [1.0, 4.0, -2.0]])
def test_the_forecast_is_that_of_a_gaussian_process_with_the_prior_of_its_lines(mean: list[float]) -> None:
    rows, count = np.array([0, 2, 3]), np.array([1.0, 2.0, 4.0])
    doublings, slopes = np.array([[0.0, 0], [1, 0], [2, 1], [0, 3]]), np.array([[0.25, 0.3], [-0.1, 0.2]])
    found = _predict(Measurements(rows, np.array(mean), count), doublings, slopes, np.array([1.0, 2.0]), 0.3, 0.1)
    line, x = doublings @ [0.25, -0.1], doublings - doublings[rows].mean(axis=0)
    apart = [[((a - b) ** 2 / [1, 4]).sum() for b in x] for a in x]
    prior = VAGUE**2 + x @ np.diag([0.09, 0.04]) @ x.T + 0.09 * np.exp(-0.5 * np.array(apart))
    inverse = np.linalg.inv(prior[np.ix_(rows, rows)] + np.diag(0.01 / count))
    centre = (mean - line[rows]).mean()
    missing, across = mean - line[rows] - centre, prior[rows]
    worse = max(1, (4 + missing @ inverse @ missing) / (4 + 2))  # as of Student's t with four degrees of freedom before
    variance = prior.diagonal() - (across * (inverse @ across)).sum(axis=0) + 0.01
    assert found[0] == pytest.approx(line + centre + across.T @ inverse @ missing)
    assert found[1] == pytest.approx(np.sqrt(variance * worse))


amounts = st.floats(0, 1e300, allow_subnormal=True)
ratios = st.floats(0, 1)
one_run = st.tuples(st.sampled_from([1.0, 2.0, 1024.0]), st.sampled_from([1.0, 8.0]), amounts, amounts, ratios, ratios)


@given(st.lists(one_run, min_size=1, max_size=12))
def test_forecasts_are_finite_and_in_order_for_any_measurements(rows: list[tuple[float, ...]]) -> None:
    candidates = grid(("batch_size", [1.0, 2.0, 1024.0, 1e9]), ("gpus", [1.0, 8.0, 4096.0]))
    measured = [dict(zip(FIELDS, rest, strict=True)) for _, _, *rest in rows]
    runs = [a_run(i, {"batch_size": rows[i][0], "gpus": rows[i][1]}, **quantities) for i, quantities in enumerate(measured)]
    for name, band in demand(candidates, runs).items():
        assert np.isfinite([band.mean, band.low, band.high]).all()
        assert ((band.low >= 0) & (band.low <= band.mean) & (band.mean <= band.high)).all()
        assert (band.high <= 1 if name.endswith("utilisation") else band.low > 0).all()


def test_without_gpus_no_gpu_is_busy_and_says_nothing_of_those_with() -> None:
    candidates = grid(("gpus", [0.0, 1.0, 2.0]), ("cpus", [4.0, 8.0]))
    both = {"gpu_utilisation": 0.5, "throughput_samples_per_second": 100.0, "memory_gib": 2.0}
    with_one = demand(candidates, [a_run(0, {"gpus": 1, "cpus": 4}, **both)])
    assert np.isnan([band.mean[:2] for band in with_one.values()]).all()
    assert np.isfinite([band.mean[2:] for band in with_one.values()]).all()
    with_none = demand(candidates, [a_run(0, {"gpus": 0, "cpus": 4}, throughput_samples_per_second=9.0)])
    assert np.isfinite(with_none["throughput_samples_per_second"].mean).tolist() == [True, True, False, False, False, False]


def columns_of(**columns: list[float]) -> Candidates:
    values = np.array(list(columns.values())).T
    return Candidates(tuple(columns), values, 0, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))


def metered(joules: float | None, seconds: float | None = 100.0, **parameters: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, energy_joules=joules)
    return Run("r", Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, 0.0, outcome, "csv")


GPUS = columns_of(gpus=[1.0, 2.0, 8.0, 0.0])


def test_a_configuration_uses_what_its_own_runs_did_and_any_other_as_much_per_gpu() -> None:
    runs = [
        metered(20e3, gpus=1),
        metered(40e3, gpus=1),
        metered(80e3, gpus=2),
        metered(None, gpus=2),
        metered(1e9, None, gpus=2),
    ]
    assert power_watts(GPUS, runs) == pytest.approx([300, 800, 8 * 140e3 / 400, 0])


def test_runs_without_gpus_say_nothing_of_those_with_and_what_is_believed_takes_the_place_of_their_count() -> None:
    runs = [metered(20e3, gpus=1), metered(5e3, gpus=0)]
    assert power_watts(GPUS, runs) == pytest.approx([200, 400, 1600, 50])
    assert power_watts(GPUS, runs[:1], np.log([2.0, 3, 4, 1])) == pytest.approx([200, 300, 400, 100])


def test_without_gpus_to_count_by_it_is_the_mean() -> None:
    assert power_watts(columns_of(batch_size=[16.0, 32.0]), [metered(20e3, batch_size=16)]) == pytest.approx([200, 200])
    assert power_watts(columns_of(gpus=[0.0, 1.0]), [metered(20e3, gpus=0)]) == pytest.approx([200, 200])


@pytest.mark.parametrize("runs", [[], [metered(None, gpus=1)], [metered(5.0, 0.0, gpus=1)], [metered(5.0, None, gpus=1)]])
def test_what_no_run_measured_is_unknown(runs: list[Run]) -> None:
    assert np.isnan(power_watts(GPUS, runs)).all()
