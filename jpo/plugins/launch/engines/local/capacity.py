"""Capacity of this machine: what runs could have, what is free of it, and what is refused.

Other runs of JPO count by their leases, other programs by the memory of GPUs that they use.
"""

import math
import os
from functools import partial
from pathlib import Path

from jpo.errors import LaunchError
from jpo.inventory.machine import Machine
from jpo.plugins.launch.engines.local import leases
from jpo.plugins.launch.job import LaunchJob, Needs, Room

BUSY_GIB = 1.0
"""Memory of a GPU in use from which on somebody works on it; a driver and a desktop take less."""
MOST_NAMED = 4
"""GPUs that a message names."""
CPU = "cpu-"
_refused = partial(LaunchError, code="JPO-E755")


def room_of(here: Machine, needs: Needs, folder: Path) -> Room:
    """What is free now of what there is, by the leases in a folder; a run that fits starts at once."""
    free_cpus = min(here.cpus, float(len(leases.free(folder, cpu_names()))))
    free_gpus = None if here.gpus is None else float(len(leases.free(folder, idle(here))))
    fits = needs.gpus <= (free_gpus or 0) and (needs.cpus or 0) <= free_cpus
    return Room(
        gpus=None if here.gpus is None else float(len(here.gpus)),
        cpus=here.cpus,
        memory_gib=here.memory_gib,
        free_gpus=free_gpus,
        free_cpus=free_cpus,
        wait_seconds=0.0 if fits else None,
    )


def refuse_needs(here: Machine, job: LaunchJob, folder: Path) -> None:
    """LaunchError JPO-E755 for what is not here, or in use; other CPUs than GPUs may be shared."""
    needs, run = job.needs, f"run {job.run_id}"
    if needs.nodes > 1:
        raise _refused(run, f"asks for {needs.nodes} nodes, and this machine is one", "name an engine with --on")
    memory = (needs.memory_gib, here.memory_gib, ".4g", "GiB of memory")
    for wanted, there, form, unit in ((needs.cpus, here.cpus, "g", "CPUs"), memory):
        if wanted is not None and there is not None and wanted > there:
            finding = f"asks for {wanted:{form}} {unit}, and {there:{form}} can be used here"
            raise _refused(run, finding, f"ask for at most {there:{form}}")
    if not needs.gpus:
        return
    if here.gpus is None:
        finding = f"asks for {needs.gpus} GPUs, and nobody knows whether there are any: {here.why_gpus}"
        raise _refused(run, finding, "install the driver's nvidia-smi, or set gpus = 0")
    if needs.gpus > len(here.gpus):
        why = f" ({here.why_gpus})" if here.why_gpus else ""
        finding = f"asks for {needs.gpus} GPUs, and {len(here.gpus)} can be used here{why}"
        raise _refused(run, finding, f"ask for at most {len(here.gpus)}, or name an engine with --on")
    unused = leases.free(folder, idle(here))
    if needs.gpus > len(unused):
        used = [(number, gib) for number, (name, gib) in enumerate(_gpus(here)) if name not in unused][:MOST_NAMED]
        by = ", ".join(f"GPU {n} has {f'{gib:.2g} GiB in use' if gib >= BUSY_GIB else 'a run of JPO'}" for n, gib in used)
        finding = f"asks for {needs.gpus} GPUs, and {len(unused)} of {len(here.gpus)} are free: {by}"
        raise _refused(run, finding, "wait until they are, or ask for fewer")


def idle(here: Machine) -> list[str]:
    """The GPUs that no other program uses, as CUDA_VISIBLE_DEVICES names them."""
    return [name for name, used_gib in _gpus(here) if used_gib < BUSY_GIB]


def leased_gpus(here: Machine, job: LaunchJob, folder: Path) -> dict[str, int]:
    """Leases of as many GPUs as a job asks for: name -> descriptor; LaunchError JPO-E755 where fewer are free now."""
    held = leases.taken(folder, idle(here), job.needs.gpus)
    if not held:
        finding = f"asks for {job.needs.gpus} GPUs, and other runs have just taken some"
        raise _refused(f"run {job.run_id}", finding, "wait until they are free")
    return held


def leased_cpus(needs: Needs, folder: Path) -> dict[str, int]:
    """Leases of as many CPUs as a job asks for; none where fewer are free: then it shares all of them with the others."""
    return leases.taken(folder, cpu_names(), math.ceil(needs.cpus or 0))


def cpu_names() -> list[str]:
    """The CPUs that this process may use, as leases name them."""
    numbers = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return [f"{CPU}{number}" for number in sorted(numbers)]


def _gpus(here: Machine) -> list[tuple[str, float]]:
    """Name and memory in use of each GPU, GiB; 0 where that is not known."""
    return [(gpu.uuid or str(number), gpu.memory_used_gib or 0.0) for number, gpu in enumerate(here.gpus or ())]
