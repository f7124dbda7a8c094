"""The whole machine: what is unknown limits nothing, and none is not unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from jpo.inventory.machine import Machine, machine_here

Tree = Callable[[Mapping[str, str]], Path]
FILES = {
    "proc/meminfo": "MemTotal:       8388608 kB\n",
    "proc/stat": "cpu  1\ncpu0 1\ncpu1 1\n",
    "proc/self/cgroup": "0::/\n",
    "cgroup/cpu.max": "50000 100000",
    "dev/null": "",
}


def machine(root: Path) -> Machine:
    return machine_here({"PATH": str(root)}, proc=root / "proc", cgroup=root / "cgroup", dev=root / "dev")


def test_all_of_it_is_one_record(tree: Tree) -> None:
    found = machine(tree(FILES))
    assert found == Machine((), "no GPU device", 0.5, 2, "cgroup quota", 8.0, 8.0)
    assert found.most == {"gpus": 0.0, "cpus": 0.5, "memory_gib": 8.0}


def test_what_is_unknown_is_missing_in_what_there_is_at_most(tree: Tree) -> None:
    assert machine(tree({**FILES, "dev/nvidia0": "", "proc/meminfo": ""})).most == {"cpus": 0.5}


def test_this_machine_has_a_cpu() -> None:
    assert machine_here({}).cpus > 0
