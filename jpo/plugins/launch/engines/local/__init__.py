"""This machine as an engine: a process of JPO's own watches each run, so that it is accounted for whoever is killed.

    launcher.py      LocalLauncher: starts the process that watches, asks and cancels it
    supervisor.py    that process: starts the command, holds it to time and memory, ends all that it leaves behind
    capacity.py      what the machine has, what is free of it, and what is refused
    output.py        what the run prints, into a file that never fills the disk
    state_file.py    what the other writes down: the state of a run, rewritten in place
    processes.py     processes of the run, found below the supervisor or by their mark, measured, confined to fewer CPUs and ended
    cgroup.py        a cgroup of a run's own (v2), where one was delegated: limits, account and end are the kernel's
    live.py          a run that goes on: what its processes use, and its cgroup
    leases.py        GPUs and CPUs that runs of JPO hold on this machine

The supervisor holds the lock of its run as long as it lives: a free lock means that it is gone, however it went, and whoever asks
next ends what is left and says so.
"""

from jpo.plugins.launch.engines import Engine

ENGINE = Engine("jpo.plugins.launch.engines.local.launcher:launcher", shares_files=True, has_queue=False)
