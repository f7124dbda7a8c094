from __future__ import annotations

import os
import time
from math import inf
from pathlib import Path

import pytest
from followed_runs import FileCgroup, real_cgroup, working
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.following.cgroup import Cgroup
from jpo.plugins.phases.traces import ExecutionTrace

TRACE = made_traces(runs=1)[0].executions[0]


@pytest.fixture
def run(tmp_path: Path) -> FileCgroup:
    folder = tmp_path / "train"
    folder.mkdir()
    return FileCgroup(folder, TRACE)


def v1(root: Path) -> Path:
    """A cgroup of v1 on files; its folder of memory."""
    texts = {
        "cpu": {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"},
        "cpuacct": {"cpuacct.usage": "5000000000"},
        "memory": {
            "memory.usage_in_bytes": "3000",
            "memory.stat": "cache 1\ntotal_inactive_file 1000",
            "memory.soft_limit_in_bytes": "9223372036854771712",
            "memory.limit_in_bytes": "400000",
            "cgroup.procs": "7",
        },
    }
    for controller, files in texts.items():
        (root / controller / "pods" / "a").mkdir(parents=True)
        for name, text in files.items():
            (root / controller / "pods" / "a" / name).write_text(f"{text}\n")
    return root / "memory" / "pods" / "a"


def test_samples_are_rates_and_the_working_set(run: FileCgroup) -> None:
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    assert cgroup.first == (3.5, 4e9)
    assert cgroup.samples() == ()
    run.sleep(1)
    (sample,) = cgroup.samples() or ()
    assert sample.t == TRACE.times[1]
    assert sample[1:] == pytest.approx(TRACE.values[1], rel=1e-4)


def test_limits_follow_and_go_back_as_they_were(run: FileCgroup) -> None:
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    cgroup.give((1.5, 2e9))
    assert (run.folder / "cpu.max").read_text() == "150000 100000"
    assert (run.folder / "memory.high").read_text() == "2000000000"
    assert (run.folder / "memory.max").read_text() == "4000000000\n"
    assert cgroup.held() == (1.5, 2e9)
    cgroup.give((0.0001, 4e9))
    assert (run.folder / "cpu.max").read_text() == "1000 100000"
    cgroup.give(cgroup.first)
    assert (run.folder / "cpu.max").read_text() == "350000 100000\n"
    assert (run.folder / "memory.high").read_text() == "max\n"


def test_version_1_has_a_folder_per_controller(tmp_path: Path) -> None:
    folder = v1(tmp_path)
    cgroup = Cgroup(folder, lambda: 1.0, apply=True)
    assert cgroup.first == (inf, 400000.0)
    cgroup.give((0.25, 5000.0))
    assert (tmp_path / "cpu/pods/a/cpu.cfs_quota_us").read_text() == "25000"
    assert (folder / "memory.soft_limit_in_bytes").read_text() == "5000"
    cgroup.give(cgroup.first)
    assert (tmp_path / "cpu/pods/a/cpu.cfs_quota_us").read_text() == "-1\n"
    assert (folder / "memory.soft_limit_in_bytes").read_text() == "9223372036854771712\n"
    assert Cgroup(tmp_path / "cpu/pods/a", lambda: 1.0, apply=True).first == cgroup.first
    cgroup.samples()
    (folder / "cgroup.procs").write_text("")
    assert cgroup.samples() is None


def test_a_clock_that_stands_still_gives_no_measurement(run: FileCgroup) -> None:
    cgroup = Cgroup(run.folder, lambda: 5.0, apply=False)
    cgroup.samples()
    (sample,) = cgroup.samples() or ()
    assert sample.cores == inf


def test_one_that_has_ended_or_vanished_has_no_samples(run: FileCgroup) -> None:
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    (run.folder / "cgroup.events").write_text("populated 0\n")
    assert cgroup.samples() is None
    for file in run.folder.iterdir():
        file.unlink()
    run.folder.rmdir()
    assert cgroup.samples() is None
    cgroup.give(cgroup.first)  # of what is gone nothing is written, and nothing breaks


@pytest.mark.parametrize("name", ["cpu.max", "memory.high", "memory.current", "cpu.stat"])
def test_what_is_no_cgroup_is_refused(run: FileCgroup, name: str) -> None:
    (run.folder / name).unlink()
    with pytest.raises(UsageError, match=name) as caught:
        Cgroup(run.folder, run.clock, apply=False)
    assert caught.value.code == "JPO-E737"


def test_limits_that_cannot_be_written_are_refused_before_anything_is_done(
    run: FileCgroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "cpu.max")  # the tests may run as root
    with pytest.raises(UsageError, match=r"cpu\.max cannot be written.*Delegate=yes"):
        Cgroup(run.folder, run.clock, apply=True)
    assert Cgroup(run.folder, run.clock, apply=False).first == (3.5, 4e9)


def test_a_limit_that_the_kernel_refuses_is_said(run: FileCgroup) -> None:
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    (run.folder / "cpu.max").unlink()
    (run.folder / "cpu.max").mkdir()
    with pytest.raises(UsageError, match=r"cpu\.max takes no 150000 100000"):
        cgroup.give((1.5, 2e9))


def test_a_real_cgroup_slows_its_process_down_and_does_not_kill_it() -> None:
    """Where this machine lets tests make one; else the files above are all that can be shown."""
    trace = ExecutionTrace("r", TRACE.times[:2] * 0 + [0.0, 60.0], TRACE.values[:2] * 0 + [1.0, 3e7])
    with real_cgroup(f"jpo-test-{os.getpid()}") as found:
        if found is None:
            pytest.skip("no cgroup with CPU and memory can be made here")
        folder, folders = found
        with working(folders, trace, 1.0) as process:
            cgroup = Cgroup(folder, time.time, apply=True)
            cgroup.samples()
            cgroup.give((0.02, 1e6))
            assert cgroup.held()[0] == pytest.approx(0.02)
            until = time.monotonic() + 30
            while time.monotonic() < until:
                time.sleep(0.5)
                (sample,) = cgroup.samples() or ()
                if sample.memory_bytes > 2e6:
                    break
            assert sample.cores < 0.5
            assert process.poll() is None
            cgroup.give(cgroup.first)
            assert cgroup.held() == cgroup.first
