"""CPUs that a process may keep busy: affinity, quotas of both kinds of cgroups, and of the groups around its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo.inventory.cpus import cpus_here

Tree = Callable[[Mapping[str, str]], Path]
EIGHT = {
    "proc/stat": "cpu  1 0 1 9\n" + "".join(f"cpu{n} 1 0 1 9\n" for n in range(8)) + "intr 1\n",
    "proc/self/status": "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n",
}
POD = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0c5.slice"


def cpus(root: Path) -> tuple[float, int, str]:
    return cpus_here(root / "proc", root / "cgroup")


def test_without_limits_all_cpus_count(tree: Tree) -> None:
    assert cpus(tree({**EIGHT, "proc/self/cgroup": "0::/user.slice\n", "cgroup/user.slice/cpu.max": "max 100000\n"})) == (
        8,
        8,
        "",
    )


@pytest.mark.parametrize(("allowed", "count"), [("0-3", 4), ("1", 1), ("0-1,4-5,7", 5)])
def test_affinity_counts(tree: Tree, allowed: str, count: int) -> None:
    assert cpus(tree({**EIGHT, "proc/self/status": f"Cpus_allowed_list:\t{allowed}\n"})) == (count, 8, "affinity")


def test_a_quota_of_cgroup_v2_may_be_a_fraction(tree: Tree) -> None:
    root = tree({**EIGHT, "proc/self/cgroup": "0::/\n", "cgroup/cpu.max": "150000 100000\n"})
    assert cpus(root) == (1.5, 8, "cgroup quota")


def test_the_smallest_quota_of_all_groups_around_counts(tree: Tree) -> None:
    limits = {
        f"cgroup/{POD}/container.scope/cpu.max": "max 100000",
        f"cgroup/{POD}/cpu.max": "250000 100000",
        "cgroup/kubepods.slice/cpu.max": "600000 100000",
    }
    assert cpus(tree({**EIGHT, "proc/self/cgroup": f"0::/{POD}/container.scope\n", **limits})) == (2.5, 8, "cgroup quota")


def test_a_quota_of_cgroup_v1(tree: Tree) -> None:
    quota = {
        "cgroup/cpu,cpuacct/docker/5f/cpu.cfs_quota_us": "50000\n",
        "cgroup/cpu,cpuacct/docker/5f/cpu.cfs_period_us": "100000\n",
    }
    assert cpus(tree({**EIGHT, "proc/self/cgroup": "12:pids:/\n4:cpu,cpuacct:/docker/5f\n", **quota})) == (0.5, 8, "cgroup quota")


def test_minus_one_is_no_quota_of_cgroup_v1(tree: Tree) -> None:
    quota = {"cgroup/cpu/cpu.cfs_quota_us": "-1\n", "cgroup/cpu/cpu.cfs_period_us": "100000\n"}
    assert cpus(tree({**EIGHT, "proc/self/cgroup": "4:cpu,cpuacct:/\n", **quota})) == (8, 8, "")


def test_within_a_container_its_own_group_is_the_topmost_folder(tree: Tree) -> None:
    quota = {"cgroup/cpu/cpu.cfs_quota_us": "200000", "cgroup/cpu/cpu.cfs_period_us": "100000"}
    assert cpus(tree({**EIGHT, "proc/self/cgroup": "4:cpu,cpuacct:/docker/5fe2\n", **quota})) == (2, 8, "cgroup quota")


def test_a_group_outside_of_what_is_seen_is_not_followed(tree: Tree) -> None:
    root = tree(
        {**EIGHT, "proc/self/cgroup": "0::/../secret\n", "secret/cpu.max": "10000 100000", "cgroup/cpu.max": "max 100000"}
    )
    assert cpus(root) == (8, 8, "")


@pytest.mark.parametrize("text", ["", "max", "0 100000", "100000 0", "-5 100000", "ten 100000", "\x00\xff"])
def test_a_quota_that_is_none_limits_nothing(tree: Tree, text: str) -> None:
    assert cpus(tree({**EIGHT, "proc/self/cgroup": "0::/\nnonsense\n::\n", "cgroup/cpu.max": text})) == (8, 8, "")


def test_a_quota_above_the_affinity_limits_nothing(tree: Tree) -> None:
    files = {**EIGHT, "proc/self/status": "Cpus_allowed_list:\t0-3\n", "cgroup/cpu.max": "600000 100000"}
    assert cpus(tree(files)) == (4, 8, "affinity")


def test_where_nothing_is_reported_there_is_at_least_one(tmp_path: Path) -> None:
    count, there, why = cpus_here(tmp_path / "proc", tmp_path / "cgroup")
    assert (count >= 1, count == there, why) == (True, True, "")
