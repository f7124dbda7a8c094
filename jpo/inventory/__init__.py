"""Inventory of the machine on which JPO runs, of who asks it there, and of how runs use the GPUs that they are given.

    machine.py         GPUs, CPUs and memory together: the most that one process here could use
    gpus.py            GPUs by nvidia-smi, as far as CUDA_VISIBLE_DEVICES names them
    cgroup.py          the control groups of a process; CPUs by affinity and their quotas, memory by their limits
    caller.py          who asks, in which pipeline, by its variables
    idle_gpus.py       GPUs allocated and not used, and why
    batch_per_gpu.py   more GPUs for the same batch: when that deserves a note

The machine that runs JPO need not be the one that trains (a CI runner rarely is): what is found here limits a job only if
[quota] this_machine says so.
"""
