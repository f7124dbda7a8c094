"""Schedules with their devices: every job has as many devices as it holds, none has two jobs at once."""

from __future__ import annotations

from hypothesis import given, settings
from queues import MACHINE, traces

from jpo.plugins.cluster.grid import Scenario, Site
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.schedule import assigned, device_schedule, intervals
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable


@settings(max_examples=60)
@given(jobs=traces())
def test_no_device_has_two_jobs_at_once(jobs: JobTable) -> None:
    for site in (None, Site(equal_processors(MACHINE), one_core_each(jobs))):
        found = device_schedule(Scenario("t", jobs, MACHINE, site=site), Rule("saf", "easy"))
        assert [len(devices) for devices in found.devices] == jobs.processors.tolist()
        for one in range(len(jobs)):
            for other in range(one):
                apart = found.ends[one] <= found.starts[other] or found.ends[other] <= found.starts[one]
                assert apart or not set(found.devices[one]) & set(found.devices[other])
        assert len(found.kinds) == MACHINE


def test_numbers_are_written_as_intervals() -> None:
    assert [intervals(numbers) for numbers in ((), (3,), (0, 1, 2, 5, 7, 8))] == ["", "3", "0-2 5 7-8"]
    assert assigned([], [], [], [4]) == ()  # type: ignore[arg-type]
