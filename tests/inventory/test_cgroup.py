"""Control groups, up to the root, and the numbers in their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo.inventory.cgroup import groups, number, read

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
