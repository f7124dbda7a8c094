"""Diagnosis of idle GPUs: why GPUs that were allocated did (next to) nothing, as far as the record of a run shows.

What was not measured is never taken for zero: no diagnosis without a utilisation, no cause without measurements that support it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jpo.records import Note, Run, RunStatus, Series, advice, same
from jpo.wording.numbers import percent_in_words as percent

IDLE = 0.05
"""Mean utilisation below which GPUs count as idle: less than 3 minutes of work in an hour."""
UNTOUCHED_GIB = 0.1
"""A process that merely starts to use a GPU takes 0.2 GiB and more (its CUDA context)."""
BUSY_CPU = 0.85
"""Mean share of the allotted CPUs: with waits for disk and stragglers, loaders at their limit come no closer to 1."""
ONE_CORE = (0.8, 1.25)
"""Cores kept busy by one process that does everything itself; helpers and the driver take a little more."""
MONITORED = 0.01
"""Mean utilisation that monitoring alone causes at most; above it some process computed."""
AT_WORK = 0.4
"""Utilisation (0..1) of a sample in which the GPUs work: far above what copying data alone causes."""
WAVES = 3
"""Separate stretches of work that make a pattern; one or two are phases of a run."""
ALIKE = 0.15
"""Relative: by how much two runs of one configuration on shared machines differ in throughput."""
SHORTEST_SECONDS = 120.0
"""In shorter runs starting up (imports, CUDA, the first batch) is much of the time, and there are few samples."""


@dataclass(frozen=True, slots=True)
class GpuUse:
    """A run with GPUs whose utilisation was measured, its time series, and other runs of its workload."""

    run: Run
    gpus: int
    utilisation: float
    series: Mapping[str, Series]
    others: Sequence[Run]


def diagnose(run: Run, series: Sequence[Series] = (), others: Sequence[Run] = ()) -> Note | None:
    """The cause of idle GPUs in a finished run that did not fail; None where they were not idle, or nobody knows.

    `series` are its time series, if they were kept; `others`: runs of the same workload to compare it with, oldest first.
    """
    gpus, utilisation, seconds = run.parameters.get("gpus", 0.0), run.outcome.gpu_utilisation, run.outcome.duration_seconds
    if gpus < 1 or utilisation is None or run.status not in (RunStatus.SUCCEEDED, RunStatus.STOPPED):
        return None
    if seconds is not None and seconds < SHORTEST_SECONDS:
        return None
    by_quantity = {each.quantity: each for each in series if each.run_id == run.run_id}
    use = GpuUse(run, int(gpus), utilisation, by_quantity, others)
    causes = CAUSES if utilisation < IDLE else (some_are_idle,)
    return next((idle for cause in causes if (idle := cause(use))), None)


def some_are_idle(use: GpuUse) -> Note | None:
    """Some GPUs do nothing: with fewer GPUs the job was as fast, and as many of them were busy."""
    earlier = next((run for run in reversed(use.others) if _as_fast_with_fewer(run, use)), None)
    if earlier is None:
        return None
    fewer, busy = earlier.parameters["gpus"], use.utilisation * use.gpus
    before, now = (run.outcome.throughput_samples_per_second or 0.0 for run in (earlier, use.run))
    finding = f"{percent(use.utilisation)} busy on average, which is the work of {busy:.2g}; "
    finding += f"{now:.3g} samples/s, where run {earlier.run_id} did {before:.3g} on {fewer:g}"
    remedy = "start one process per GPU (torchrun, accelerate, mpirun), each on its own device, or ask for fewer"
    return _idle("JPO-W865", use, finding, remedy)


def never_touched(use: GpuUse) -> Note | None:
    """No process took memory of a GPU: the framework found none, or used none."""
    memory, cpu = use.run.outcome.gpu_memory_gib, use.run.outcome.cpu_utilisation
    if memory is None or memory >= UNTOUCHED_GIB or use.utilisation > MONITORED:
        return None
    finding = f"never touched: at most {memory:.2g} GiB of one was in use"
    if cpu is not None and cpu >= BUSY_CPU:
        finding = f"{finding}, and the CPUs were {percent(cpu)} busy"
    remedy = (
        "print torch.cuda.is_available() in the job: if False, the framework is a build for CPUs, the container has no driver, "
        "or CUDA_VISIBLE_DEVICES hides them; if True, the script leaves model and data on the CPU"
    )
    return _idle("JPO-W863", use, finding, remedy)


def in_waves(use: GpuUse) -> Note | None:
    """Work in short waves with long waits in between, or in one stretch of a run that held its GPUs throughout."""
    samples = use.series.get("gpu_utilisation")
    at_work = [value >= AT_WORK for value in samples.values] if samples else []
    waves = sum(now and not before for before, now in pairwise([False, *at_work]))
    if not waves:
        return None
    share = sum(at_work) / len(at_work)
    if waves >= WAVES:
        finding = f"at work in {waves} waves, {percent(share)} of the time, waiting in between"
        remedy = "feed them faster: more loader workers and CPUs, data decoded beforehand or stored closer"
        return _idle("JPO-W866", use, finding, remedy)
    finding = f"at work for {percent(share)} of the run, beginning after {percent(at_work.index(True) / len(at_work))} of it"
    remedy = "do what needs no GPU (downloads, preparation, evaluation) in a separate job"
    return _idle("JPO-W867", use, finding, remedy)


def waits_for_input(use: GpuUse) -> Note | None:
    """The GPUs wait for input: the model is in their memory, and what feeds them is at its limit."""
    outcome, allotted = use.run.outcome, use.run.parameters.get("cpus", 0.0)
    memory, cpu, cores = outcome.gpu_memory_gib, outcome.cpu_utilisation, outcome.cpu_cores_mean
    if memory is None:
        return None
    finding = f"idle with {memory:.3g} GiB of one in use"
    if cpu is not None and cpu >= BUSY_CPU:
        finding = f"{finding} while the CPUs were {percent(cpu)} busy: they wait for data"
        remedy = "more CPUs and loader workers, or data that is decoded beforehand"
        return _idle("JPO-W864", use, finding, remedy)
    if cores is not None and allotted >= 2 and ONE_CORE[0] <= cores <= ONE_CORE[1]:
        finding = f"{finding} while {cores:.2g} of {allotted:g} CPUs were busy: one process does everything"
        remedy = "load data in processes of their own (num_workers of a DataLoader), about one per CPU"
        return _idle("JPO-W864", use, finding, remedy)
    return None


def unknown(use: GpuUse) -> Note:
    """Idle for an unknown reason; names the measurements that would show it."""
    outcome, series = use.run.outcome, use.series.get("gpu_utilisation")
    measures = {"GPU memory": outcome.gpu_memory_gib, "CPU": outcome.cpu_utilisation, "its time series": series}
    missing = ", ".join(name for name, value in measures.items() if value is None)
    not_measured = f" (not measured: {missing})" if missing else ""
    finding = f"{percent(use.utilisation)} busy, the reason is unknown{not_measured}"
    remedy = "watch nvidia-smi and top while it runs: is a process on each GPU, and what does it wait for?"
    return _idle("JPO-W868", use, finding, remedy)


CAUSES: tuple[Callable[[GpuUse], Note | None], ...] = (some_are_idle, never_touched, in_waves, waits_for_input, unknown)
"""Causes from certain to likely; the first that applies counts."""


def _idle(code: str, use: GpuUse, finding: str, remedy: str) -> Note:
    whose = f"{use.gpus} GPU{'' if use.gpus == 1 else 's'} of run {use.run.run_id}"
    return advice(code, f"{whose}: {finding}", remedy)


def _as_fast_with_fewer(earlier: Run, use: GpuUse) -> bool:
    """Whether a run with fewer GPUs, which differs in resources only, was as fast with as many of them at work.

    Never where CPUs are at their limit: then more GPUs are no faster because all wait for the CPUs.
    """
    share, before, now = earlier.outcome.gpu_utilisation, *(r.outcome.throughput_samples_per_second for r in (earlier, use.run))
    fewer, cpu = earlier.parameters.get("gpus", 0.0), use.run.outcome.cpu_utilisation
    if not (share and before and now and earlier.ended_well and 1 <= fewer < use.gpus) or (cpu is not None and cpu >= BUSY_CPU):
        return False
    job, other_job = (
        {name: value for name, value in run.parameters.items() if name not in ("gpus", "cpus", "memory_gib")}
        for run in (use.run, earlier)
    )
    as_fast = math.isclose(now, before, rel_tol=ALIKE)
    as_busy = share >= AT_WORK and math.isclose(use.utilisation * use.gpus, share * fewer, rel_tol=ALIKE)
    return as_fast and as_busy and same(job, other_job)
