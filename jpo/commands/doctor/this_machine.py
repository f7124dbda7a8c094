"""Checks of the machine on which JPO runs, and of whether it limits config.ini."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from jpo.commands.doctor.case import Case
from jpo.inventory.caller import author_of
from jpo.inventory.gpus import Gpu
from jpo.project.workload import keeps_to_this_machine
from jpo.report.doctor import Line
from jpo.wording.numbers import percent, plain

ELSEWHERE = "take [quota] this_machine out where jobs train elsewhere"


def gpus(case: Case) -> Iterator[Line]:
    """Which GPUs a process here can use."""
    machine = case.machine
    if machine.gpus:
        yield Line("GPUs", "ok", gpus_in_words(machine.gpus, machine.why_gpus))
    elif machine.gpus is not None:
        yield Line("GPUs", "ok", f"none: {machine.why_gpus}")
    elif keeps_to_this_machine(case.settings):
        finding = f"unknown ({machine.why_gpus}), so [quota] this_machine does not limit them"
        yield Line("GPUs", "warning", finding, f"write [quota] gpus, or {ELSEWHERE}", "JPO-W862")
    else:
        yield Line("GPUs", "unknown", machine.why_gpus)


def gpus_in_words(gpus: Sequence[Gpu], why: str) -> str:
    """`2 × Tesla V100-SXM2-16GB (v100, 15.8 GiB); utilisation now: 97%, 0%`; what is not known is left out."""
    kinds = []
    for (name, kind, memory_gib), alike in groupby(gpus, key=lambda gpu: (gpu.name, gpu.gpu_type, gpu.memory_gib)):
        room = "" if memory_gib is None else f", {memory_gib:.3g} GiB"
        kinds.append(f"{len(list(alike))} × {name} ({kind}{room})")
    busy = ", ".join("?" if gpu.utilisation is None else percent(gpu.utilisation) for gpu in gpus)
    now = "" if all(gpu.utilisation is None for gpu in gpus) else f"; utilisation now: {busy}"
    return f"{', '.join(kinds)}{f'; {why}' if why else ''}{now}"


def cpus_and_memory(case: Case) -> Iterator[Line]:
    """How much of both a process here can use, and of how much."""
    machine = case.machine
    cpus = plain(machine.cpus)
    if machine.cpus_held_by:
        cpus += f" of {machine.cpus_there}: {machine.cpus_held_by}"
    yield Line("CPUs", "ok", cpus)
    memory, there = machine.memory_gib, machine.memory_there_gib
    if memory is None or there is None:
        yield Line("memory", "unknown", "/proc/meminfo does not say")
    else:
        yield Line("memory", "ok", f"{memory:.1f} GiB" + (f" of {there:.1f}: cgroup limit" if memory < there else ""))


def room(case: Case) -> Iterator[Line]:
    """Whether config.ini asks for more than there is; only [quota] this_machine makes that matter."""
    wanted, most = case.workload.current, case.machine.most
    more = ", ".join(f"{name} {plain(wanted[name])} > {plain(most[name])}" for name in most if wanted.get(name, 0.0) > most[name])
    if keeps_to_this_machine(case.settings) and more:
        where = author_of(case.environ)["where"]
        remedy = ELSEWHERE if where == "local" else f"{ELSEWHERE}; this is a CI runner ({where})"
        yield Line("room", "warning", f"config.ini asks for more than this machine has: {more}", remedy, "JPO-W861")
    elif keeps_to_this_machine(case.settings):
        yield Line("room", "ok", "what config.ini asks for is there; suggestions keep to it")
    else:
        finding = "limits nothing: jobs train elsewhere, unless [quota] this_machine says so"
        yield Line("room", "ok", finding + (f"; config.ini asks for more ({more})" if more else ""))
