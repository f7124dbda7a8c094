"""What the machine has on which JPO runs, and whether runs make use of the GPUs that they are given.

    machine.py         GPUs, CPUs and memory together: what one process here could use at most
    gpus.py            nvidia-smi, and what CUDA_VISIBLE_DEVICES leaves of it
    cpus.py            affinity and cgroup quotas
    memory.py          the machine's, and the cgroups' limits
    cgroup.py          the control groups in which a process is, from its own up to the root
    idle_gpus.py       GPUs allocated and not used: why, as far as the record tells
    batch_per_gpu.py   more GPUs for the same batch: from when on that deserves a word

The machine that runs JPO need not be the one that trains (a CI runner rarely is): what is found here limits a job only if
[quota] this_machine says so.
"""
