"""Control groups, up to the root, and the numbers in their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo.inventory.cgroup import cpus_here, groups, memory_here, number, read

Tree = Callable[[Mapping[str, str]], Path]


def test_a_group_of_v2_and_all_above_it_may_hold_limits(tree: Tree) -> None:
    root = tree({"proc/self/cgroup": "0::/kubepods/pod1\n"})
    found = [path.relative_to(root / "fs") for path in groups(root / "proc", root / "fs", "cpu")]
    assert [str(path) for path in found if "unified" not in path.parts] == [".", "cpu", "kubepods/pod1", "kubepods", "."]


def test_of_v1_only_the_groups_of_the_controller_count(tree: Tree) -> None:
    root = tree({"proc/self/cgroup": "4:memory:/a\n3:cpu,cpuacct:/b\n"})
    found = {str(path.relative_to(root / "fs")) for path in groups(root / "proc", root / "fs", "cpu")}
    assert {"cpu,cpuacct/b", "cpu/b"} < found
    assert not any(path.endswith("/a") for path in found)


@pytest.mark.parametrize(
    ("text", "value"), [("150000", 150000.0), ("max", None), ("-1", None), ("0", None), ("", None), (None, None)]
)
def test_only_a_number_above_zero_is_a_limit(text: str | None, value: float | None) -> None:
    assert number(text) == value


def test_a_file_that_is_not_there_has_no_text(tmp_path: Path) -> None:
    assert read(tmp_path / "cpu.max") is None


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


SIXTY_FOUR = {"proc/meminfo": "MemTotal:       67108864 kB\nMemFree:        1048576 kB\n"}


def memory(root: Path) -> tuple[float | None, float | None]:
    return memory_here(root / "proc", root / "cgroup")


def test_without_limits_all_of_it_counts(tree: Tree) -> None:
    assert memory(tree({**SIXTY_FOUR, "proc/self/cgroup": "0::/\n", "cgroup/memory.max": "max\n"})) == (64.0, 64.0)


def test_the_smallest_limit_of_all_groups_around_counts(tree: Tree) -> None:
    limits = {"cgroup/a/memory.max": f"{8 * 2**30}\n", "cgroup/a/b/memory.max": f"{16 * 2**30}\n"}
    assert memory(tree({**SIXTY_FOUR, "proc/self/cgroup": "0::/a/b\n", **limits})) == (8.0, 64.0)


def test_a_limit_of_cgroup_v1(tree: Tree) -> None:
    limit = {
        "cgroup/memory/docker/5f/memory.limit_in_bytes": f"{3 * 2**29}\n",
        "cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    }
    assert memory(tree({**SIXTY_FOUR, "proc/self/cgroup": "9:memory:/docker/5f\n0::/\n", **limit})) == (1.5, 64.0)


@pytest.mark.parametrize("text", ["9223372036854771712", "0", "-1", "much", ""])
def test_a_limit_that_is_none_leaves_all(tree: Tree, text: str) -> None:
    assert memory(tree({**SIXTY_FOUR, "cgroup/memory/memory.limit_in_bytes": text})) == (64.0, 64.0)


def test_where_nothing_is_reported_it_is_unknown(tree: Tree) -> None:
    assert memory(tree({"cgroup/memory.max": "1073741824"})) == (None, None)
    assert memory(tree({"proc/meminfo": "MemTotal: lots\n"})) == (None, None)
