"""GPUs that were allocated and did (next to) nothing: why, as far as the record of a run tells.

What was not measured is never taken for zero: without a measured utilisation there is no diagnosis, and a cause is named only
where something measured speaks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jpo.records import Run, RunStatus, Series, same

IDLE = 0.05
"""Mean utilisation below which GPUs count as idle: less than 3 minutes of work in an hour."""
UNTOUCHED_GIB = 0.1
"""What a process takes of a GPU by merely starting to use it (its CUDA context) is 0.2 GiB and more."""
BUSY_CPU = 0.85
"""Mean share of the allotted CPUs: with waits for disk and stragglers, loaders that are at their limit come no closer to 1."""
ONE_CORE = (0.8, 1.25)
"""Cores that one process keeps busy which does everything itself; helpers and the driver take a little beside it."""
MONITORED = 0.01
"""Mean utilisation that monitoring alone makes at most; above it some process computed."""
AT_WORK = 0.4
"""A sample of utilisation (0..1) in which the GPUs work: far above what copies to and fro alone make."""
WAVES = 3
"""So many separate stretches of work are a pattern; one or two are phases of a run."""
ALIKE = 0.15
"""Relative: two runs of one configuration on shared machines differ by so much in throughput."""
SHORTEST_SECONDS = 120.0
"""In shorter runs starting up (imports, CUDA, the first batch) is much of the time, and there are few samples."""


@dataclass(frozen=True, slots=True)
class IdleGpus:
    """Why GPUs were idle, as far as it can be told.

    Attributes:
        code: stable reason code, one per cause.
        finding: one sentence with the numbers that speak for it.
        remedy: what to do, or to look at.
        evidence: those numbers, by name.
    """

    code: str
    finding: str
    remedy: str
    evidence: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.finding}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class GpuUse:
    """A run with GPUs whose utilisation was measured, and what else is known."""

    run: Run
    gpus: int
    utilisation: float
    series: Mapping[str, Series]
    others: Sequence[Run]


def diagnose(run: Run, series: Sequence[Series] = (), others: Sequence[Run] = ()) -> IdleGpus | None:
    """Why the GPUs of a finished run were idle; None where they were not, or it is not known whether they were.

    Args:
        run: one that came to its end, or was stopped; of one that failed nothing is said.
        series: how its quantities went, if that was kept.
        others: runs of the same workload to compare it with, oldest first.
    """
    gpus, utilisation, seconds = run.parameters.get("gpus", 0.0), run.outcome.gpu_utilisation, run.outcome.duration_seconds
    if gpus < 1 or utilisation is None or run.status not in (RunStatus.SUCCEEDED, RunStatus.STOPPED):
        return None
    if seconds is not None and seconds < SHORTEST_SECONDS:
        return None
    use = GpuUse(run, int(gpus), utilisation, {one.quantity: one for one in series if one.run_id == run.run_id}, others)
    causes = CAUSES if utilisation < IDLE else (some_are_idle,)
    return next((found for cause in causes if (found := cause(use))), None)


def some_are_idle(use: GpuUse) -> IdleGpus | None:
    """With fewer GPUs the job was as fast, and as many of them were busy: the others do nothing."""
    one = next((one for one in reversed(use.others) if _as_much_with_fewer(one, use)), None)
    if one is None:
        return None
    fewer, busy = one.parameters["gpus"], use.utilisation * use.gpus
    before, now = (run.outcome.throughput_samples_per_second or 0.0 for run in (one, use.run))
    told = f"{_percent(use.utilisation)} busy on average, which is the work of {busy:.2g}; "
    told += f"{now:.3g} samples/s, where run {one.run_id} did {before:.3g} on {fewer:g}"
    remedy = "start one process per GPU (torchrun, accelerate, mpirun), each on its own device, or ask for fewer"
    numbers = {"gpus_busy": busy, "gpus_before": fewer, "samples_per_second": now, "samples_per_second_before": before}
    return _idle("JPO-W865", use, told, remedy, numbers)


def never_touched(use: GpuUse) -> IdleGpus | None:
    """No process took memory of a GPU: the framework saw none, or used none."""
    memory, cpu = use.run.outcome.gpu_memory_gib, use.run.outcome.cpu_utilisation
    if memory is None or memory >= UNTOUCHED_GIB or use.utilisation > MONITORED:
        return None
    told, numbers = f"never touched: at most {memory:.2g} GiB of one was in use", {"gpu_memory_gib": memory}
    if cpu is not None and cpu >= BUSY_CPU:
        told, numbers = f"{told}, and the CPUs were {_percent(cpu)} busy", {**numbers, "cpu_utilisation": cpu}
    remedy = (
        "print torch.cuda.is_available() in the job: if False, the framework is a build for CPUs, the container has no driver, "
        "or CUDA_VISIBLE_DEVICES hides them; if True, the script leaves model and data on the CPU"
    )
    return _idle("JPO-W863", use, told, remedy, numbers)


def in_waves(use: GpuUse) -> IdleGpus | None:
    """Work in short waves with long waits in between, or in one stretch of a run that held its GPUs all along."""
    course = use.series.get("gpu_utilisation")
    at_work = [value >= AT_WORK for value in course.values] if course else []
    waves = sum(now and not before for before, now in pairwise([False, *at_work]))
    if not waves:
        return None
    share = sum(at_work) / len(at_work)
    numbers = {"waves": float(waves), "share_at_work": share}
    if waves >= WAVES:
        told = f"at work in {waves} waves, {_percent(share)} of the time, waiting in between"
        remedy = "feed them faster: more loader workers and CPUs, data decoded beforehand or lying nearer"
        return _idle("JPO-W866", use, told, remedy, numbers)
    told = f"at work for {_percent(share)} of the run, beginning after {_percent(at_work.index(True) / len(at_work))} of it"
    remedy = "do what needs no GPU (downloads, preparation, evaluation) in a job of its own"
    return _idle("JPO-W867", use, told, remedy, numbers)


def waits_for_input(use: GpuUse) -> IdleGpus | None:
    """The model lies on the GPUs, and what feeds them is at its limit."""
    outcome, allotted = use.run.outcome, use.run.parameters.get("cpus", 0.0)
    memory, cpu, cores = outcome.gpu_memory_gib, outcome.cpu_utilisation, outcome.cpu_cores_mean
    if memory is None:
        return None
    told, numbers = f"idle with {memory:.3g} GiB of one in use", {"gpu_memory_gib": memory}
    if cpu is not None and cpu >= BUSY_CPU:
        told = f"{told} while the CPUs were {_percent(cpu)} busy: they wait for data"
        remedy = "more CPUs and loader workers, or data that is decoded beforehand"
        return _idle("JPO-W864", use, told, remedy, {**numbers, "cpu_utilisation": cpu})
    if cores is not None and allotted >= 2 and ONE_CORE[0] <= cores <= ONE_CORE[1]:
        told = f"{told} while {cores:.2g} of {allotted:g} CPUs were busy: one process does everything"
        remedy = "load data in processes of their own (num_workers of a DataLoader), about one per CPU"
        return _idle("JPO-W864", use, told, remedy, {**numbers, "cpu_cores_mean": cores})
    return None


def unknown(use: GpuUse) -> IdleGpus:
    """Idle, and nothing on record says why: what would."""
    outcome = use.run.outcome
    measures = {
        "GPU memory": outcome.gpu_memory_gib,
        "CPU": outcome.cpu_utilisation,
        "its course": use.series.get("gpu_utilisation"),
    }
    missing = [name for name, value in measures.items() if value is None]
    told = f"{_percent(use.utilisation)} busy, why is unknown" + (f" (not measured: {', '.join(missing)})" if missing else "")
    remedy = "look at nvidia-smi and top while it runs: is a process on each GPU, and what does it wait for?"
    return _idle("JPO-W868", use, told, remedy, {})


CAUSES: tuple[Callable[[GpuUse], IdleGpus | None], ...] = (some_are_idle, never_touched, in_waves, waits_for_input, unknown)
"""From what is sure to what is likely; the first that speaks counts."""


def _idle(code: str, use: GpuUse, told: str, remedy: str, numbers: Mapping[str, float]) -> IdleGpus:
    whose = f"{use.gpus} GPU{'' if use.gpus == 1 else 's'} of run {use.run.run_id}"
    evidence = {"gpus": float(use.gpus), "gpu_utilisation": use.utilisation, **numbers}
    return IdleGpus(code, f"{whose}: {told}", remedy, evidence)


def _as_much_with_fewer(one: Run, use: GpuUse) -> bool:
    """Whether a run with fewer GPUs, and resources alone different, was as fast with as many of them at work.

    Never where CPUs are at their limit: then more GPUs are no faster because all wait for the same.
    """
    share, before, now = one.outcome.gpu_utilisation, *(r.outcome.throughput_samples_per_second for r in (one, use.run))
    fewer, cpu = one.parameters.get("gpus", 0.0), use.run.outcome.cpu_utilisation
    if not (share and before and now and one.ended_well and 1 <= fewer < use.gpus) or (cpu is not None and cpu >= BUSY_CPU):
        return False
    job, other_job = (
        {name: value for name, value in run.parameters.items() if name not in ("gpus", "cpus", "memory_gib")}
        for run in (use.run, one)
    )
    as_fast = math.isclose(now, before, rel_tol=ALIKE)
    return (
        as_fast
        and share >= AT_WORK
        and math.isclose(use.utilisation * use.gpus, share * fewer, rel_tol=ALIKE)
        and same(job, other_job)
    )


def _percent(share: float) -> str:
    return "less than 1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"
