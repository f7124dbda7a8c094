"""What a job needs, in the options of sbatch."""

import math
from pathlib import Path

from jpo.plugins.launch.job import LaunchJob, Needs

MIB_PER_GIB = 1024
SECONDS_PER_MINUTE = 60
SOFT_SIGNAL = "B:USR1@30"
"""30 s before a time limit (SLURM may be a minute early) batch.sh asks the command to end, so that its run log says "stopped"."""


def resources(needs: Needs) -> list[str]:
    """One task on each node; GPUs, CPUs and memory of a node are the same on all."""
    asked = [f"--nodes={needs.nodes}", f"--ntasks={needs.nodes}", "--ntasks-per-node=1"]
    if needs.gpus:
        asked.append(f"--gres={_gres(needs).removeprefix('gres:')}")
    if needs.cpus is not None:
        asked.append(f"--cpus-per-task={cpus_per_node(needs)}")
    if needs.memory_gib is not None:
        asked.append(f"--mem={memory_mib_per_node(needs)}M")
    return asked


def changes(needs: Needs) -> list[str]:
    """The same in the words of `scontrol update`, for a job that is there."""
    asked = [f"TresPerNode={_gres(needs)}"] if needs.gpus else []
    if needs.cpus is not None:
        asked.append(f"NumCPUs={cpus_per_node(needs) * needs.nodes}")
    if needs.memory_gib is not None:
        asked.append(f"MinMemoryNode={memory_mib_per_node(needs)}")
    return asked


def _gres(needs: Needs) -> str:
    return f"gres:gpu:{f'{needs.gpu_type}:' if needs.gpu_type else ''}{gpus_per_node(needs)}"


def gpus_per_node(needs: Needs) -> int:
    return math.ceil(needs.gpus / needs.nodes)


def cpus_per_node(needs: Needs) -> int:
    """Whole CPUs; 0 where the job does not say."""
    return math.ceil((needs.cpus or 0) / needs.nodes)


def memory_mib_per_node(needs: Needs) -> int:
    """0 where the job does not say."""
    return math.ceil((needs.memory_gib or 0) * MIB_PER_GIB / needs.nodes)


def time_limit_minutes(job: LaunchJob, grace_seconds: float) -> int | None:
    """SLURM's own limit, a minute and more after batch.sh has ended the command: it only holds where that could not."""
    if job.longest_seconds is None:
        return None
    return math.ceil((job.longest_seconds + grace_seconds) / SECONDS_PER_MINUTE) + 2


def options(job: LaunchJob, grace_seconds: float) -> list[str]:
    """What this job needs, and that it is never started again by SLURM."""
    minutes = time_limit_minutes(job, grace_seconds)
    limit = [] if minutes is None else [f"--time={minutes}"]
    return [*resources(job.needs), *limit, f"--signal={SOFT_SIGNAL}", "--no-requeue", f"--chdir={job.folder}"]


def output(folder: Path) -> str:
    """The output file of a run as sbatch takes it: a percent sign in a path is two."""
    return f"--output={str(folder / 'output.log').replace('%', '%%')}"
