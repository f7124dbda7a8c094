"""The Case of a project, as `jpo doctor` makes it, for checks that are asked one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jpo.commands.doctor.case import Case
from jpo.inventory.gpus import Gpu
from jpo.inventory.machine import Machine
from jpo.project.load import load

if TYPE_CHECKING:
    from user_project import Project

V100 = Gpu("Tesla V100-SXM2-16GB", "v100", 15.78, 0.97, 10.2)
USUAL = Machine((V100, replace(V100, utilisation=0.0)), "", 3.0, 4, "cgroup quota", 8.0, 16.0)


@pytest.fixture
def case(empty: Project) -> Case:
    """Nothing of it is read yet."""
    return Case(None, lambda: load(None, None, {}, {}), {}, now=1.7e9, offline=True)


@pytest.fixture
def on_machine(case: Case, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Case]:
    """`on_machine(cpus=1.0) -> Case`: the case on a machine with 2 GPUs, 3 of 4 CPUs and 8 of 16 GiB, but for the changes."""

    def made(**changes: object) -> Case:
        monkeypatch.setattr("jpo.commands.doctor.case.machine_here", lambda _environ: replace(USUAL, **changes))
        return case

    return made
