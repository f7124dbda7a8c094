from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jpo.inventory.gpus import Gpu
from jpo.inventory.machine import Machine
from jpo.plugins.launch.engines.local import leases
from jpo.plugins.launch.engines.local.capacity import cpu_names, idle, leased_cpus, room_of
from jpo.plugins.launch.job import Needs


def gpu(uuid: str, used_gib: float | None) -> Gpu:
    return Gpu("NVIDIA A100", "a100", 40.0, None, used_gib, uuid)


HERE = Machine((gpu("a", 0.0), gpu("b", 20.0)), "", 64.0, 64, "", 16.0, 16.0)


def test_room_is_what_neither_runs_nor_other_programs_use(tmp_path: Path) -> None:
    folder = tmp_path / "leases"
    room = room_of(HERE, Needs(gpus=1), folder)
    assert (room.gpus, room.free_gpus, room.wait_seconds) == (2.0, 1.0, 0.0)
    held = leases.taken(folder, ["a"], 1)
    room = room_of(HERE, Needs(gpus=1), folder)
    assert (room.free_gpus, room.wait_seconds) == (0.0, None)
    leases.give_back(held.values())
    assert room_of(Machine(None, "no driver", 4.0, 4, "", None, None), Needs(), folder).free_gpus is None


def test_a_gpu_without_an_id_is_named_by_its_number() -> None:
    assert idle(replace(HERE, gpus=(gpu("", 20.0), gpu("", None)))) == ["1"]


def test_a_job_is_bound_to_all_the_cpus_that_it_asks_for_or_to_none(tmp_path: Path) -> None:
    every = len(cpu_names())
    held = leased_cpus(Needs(cpus=every - 0.5), tmp_path / "leases")
    assert len(held) == every
    assert leased_cpus(Needs(cpus=1), tmp_path / "leases") == {}
    leases.give_back(held.values())
    assert leased_cpus(Needs(), tmp_path / "leases") == {}
