"""Memory that a process may have: the machine's, less where a group around it has a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo.inventory.memory import memory_here

Tree = Callable[[Mapping[str, str]], Path]
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
