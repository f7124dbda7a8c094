"""Why GPUs were idle: each cause from what speaks for it, and no cause where nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import a_run

from jpo.inventory.idle_gpus import IDLE, diagnose
from jpo.records import Outcome, Run, RunStatus, Series


def on_gpus(gpus: float = 4, run_id: str = "r1", **measured: float) -> Run:
    """A run of an hour on GPUs and 8 CPUs."""
    parameters = {"batch_size": 64.0, "gpus": float(gpus), "cpus": 8.0}
    return a_run(run_id, parameters=parameters, outcome=Outcome(duration_seconds=3600.0, **measured))


def course(values: Sequence[float], run_id: str = "r1") -> Series:
    return Series(run_id, "gpu_utilisation", tuple(60.0 * n for n in range(len(values))), tuple(values))


@pytest.mark.parametrize(
    "run",
    [
        on_gpus(gpu_memory_gib=0.0),
        on_gpus(gpu_utilisation=0.5, gpu_memory_gib=0.0),
        on_gpus(gpu_utilisation=IDLE, gpu_memory_gib=0.0),
        on_gpus(0, gpu_utilisation=0.0, gpu_memory_gib=0.0),
        a_run(outcome=Outcome(gpu_utilisation=0.0)),
        replace(on_gpus(gpu_utilisation=0.0), status=RunStatus.FAILED),
        replace(on_gpus(), outcome=Outcome(duration_seconds=60.0, gpu_utilisation=0.0)),
    ],
    ids=["not measured", "busy", "just busy", "no GPU", "GPUs not told", "failed", "too short"],
)
def test_where_it_is_not_known_to_be_idle_there_is_no_diagnosis(run: Run) -> None:
    assert diagnose(run) is None


def test_memory_that_nobody_took_means_that_no_process_touched_a_gpu() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.0, gpu_memory_gib=0.004))
    assert found is not None
    assert found.code == "JPO-W863"
    assert found.finding == "4 GPUs of run r1: never touched: at most 0.004 GiB of one was in use"


def test_busy_cpus_next_to_untouched_gpus_are_named() -> None:
    found = diagnose(on_gpus(1, gpu_utilisation=0.01, gpu_memory_gib=0.0, cpu_utilisation=0.97))
    assert found is not None
    assert (found.code, found.finding.endswith("and the CPUs were 97% busy")) == ("JPO-W863", True)


def test_gpus_that_worked_a_little_were_touched_however_little_memory_was_seen() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.03, gpu_memory_gib=0.02))
    assert found is not None
    assert (found.code, "never touched" in found.finding) == ("JPO-W868", False)


def test_memory_in_use_and_busy_cpus_mean_waiting_for_data() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.02, gpu_memory_gib=9.5, cpu_utilisation=0.93))
    assert found is not None
    assert found.code == "JPO-W864"
    assert found.finding == "4 GPUs of run r1: idle with 9.5 GiB of one in use while the CPUs were 93% busy: they wait for data"


def test_one_busy_core_of_several_means_that_one_process_does_everything() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.02, gpu_memory_gib=9.5, cpu_utilisation=0.13, cpu_cores_mean=1.04))
    assert found is not None
    assert (found.code, "1 of 8 CPUs were busy" in found.finding, "num_workers" in found.remedy) == ("JPO-W864", True, True)


def test_gpus_that_add_nothing_to_fewer_ones_are_found_above_the_threshold_too() -> None:
    one = on_gpus(1, "before", gpu_utilisation=0.92, throughput_samples_per_second=410.0)
    found = diagnose(on_gpus(gpu_utilisation=0.23, throughput_samples_per_second=402.0), others=[one])
    assert found is not None
    assert found.code == "JPO-W865"
    assert "23% busy on average, which is the work of 0.92; 402 samples/s, where run before did 410 on 1" in found.finding


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (on_gpus(gpu_utilisation=0.8, throughput_samples_per_second=1500.0), {}),
        (on_gpus(gpu_utilisation=0.23, throughput_samples_per_second=402.0, cpu_utilisation=0.95), {}),
        (on_gpus(gpu_utilisation=0.4, throughput_samples_per_second=402.0), {}),
        (on_gpus(gpu_utilisation=0.23, throughput_samples_per_second=402.0), {"gpus": 4.0}),
        (on_gpus(gpu_utilisation=0.23, throughput_samples_per_second=402.0), {"batch_size": 32.0}),
        (on_gpus(gpu_utilisation=0.23), {}),
    ],
    ids=["faster", "CPUs at their limit", "more at work", "not fewer", "another job", "speed unknown"],
)
def test_more_gpus_that_do_something_or_cannot_be_compared_are_not_called_idle(now: Run, before: dict[str, float]) -> None:
    one = on_gpus(1, "before", gpu_utilisation=0.92, throughput_samples_per_second=410.0)
    assert diagnose(now, others=[replace(one, parameters={**one.parameters, **before}), now]) is None


def test_short_waves_of_work_mean_waiting_in_between() -> None:
    waves = ([0.0] * 29 + [0.9]) * 4
    found = diagnose(on_gpus(gpu_utilisation=0.03, gpu_memory_gib=9.5), [course(waves)])
    assert found is not None
    assert found.code == "JPO-W866"
    assert "at work in 4 waves, 3% of the time" in found.finding


def test_one_stretch_of_work_is_a_phase_and_no_wave() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.04, gpu_memory_gib=9.5), [course([0.0] * 95 + [0.9] * 5)])
    assert found is not None
    assert (found.code, "for 5% of the run, beginning after 95% of it" in found.finding) == ("JPO-W867", True)


def test_the_course_of_another_run_says_nothing() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.03), [course([0.0, 0.9] * 9, run_id="r0")])
    assert found is not None
    assert found.code == "JPO-W868"


def test_what_was_not_measured_is_named_where_no_cause_is_known() -> None:
    found = diagnose(on_gpus(gpu_utilisation=0.002))
    assert found is not None
    assert found.code == "JPO-W868"
    assert "less than 1% busy, the reason is unknown (not measured: GPU memory, CPU, its time series)" in found.finding
    found = diagnose(on_gpus(gpu_utilisation=0.0, gpu_memory_gib=3.0, cpu_utilisation=0.4), [course([0.0] * 9)])
    assert found is not None
    assert found.finding == "4 GPUs of run r1: 0% busy, the reason is unknown"


measured = st.none() | st.floats(0, 1)
amounts = st.none() | st.floats(0, 1e9)


@given(
    gpus=st.floats(-1, 1e300),
    utilisation=measured,
    cpu=measured,
    memory=amounts,
    speed=amounts,
    values=st.lists(st.floats(-1, 2), max_size=9),
    status=st.sampled_from(RunStatus),
)
def test_every_diagnosis_rests_on_a_measured_utilisation(
    gpus: float,
    utilisation: float | None,
    cpu: float | None,
    memory: float | None,
    speed: float | None,
    values: list[float],
    status: RunStatus,
) -> None:
    outcome = Outcome(
        gpu_utilisation=utilisation, cpu_utilisation=cpu, gpu_memory_gib=memory, throughput_samples_per_second=speed
    )
    run = a_run(parameters={"gpus": gpus}, outcome=outcome, status=status)
    found = diagnose(run, [course(values)], [run, on_gpus(1, "r0", gpu_utilisation=0.9, throughput_samples_per_second=100.0)])
    if found:
        assert utilisation is not None
        assert "\n" not in str(found)
