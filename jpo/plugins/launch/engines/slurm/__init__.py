"""SLURM: runs as batch jobs, submitted by sbatch and found again by their run ids.

    launcher.py     SlurmLauncher
    settings.py     SlurmTable: where jobs go (partition, account, qos, options), and which options are refused
    request.py      what a job needs, in the options of sbatch
    batch.sh        what SLURM starts: begins the run once, starts the command, watches it, writes down how it ended
    run_files.py    what batch.sh reads and writes in the run's folder
    states.py       SLURM's states and reasons as a JobStatus
    nodes.py        nodes, partitions and quotas: room, and what could never run
    programs.py     sbatch, squeue, scontrol, sacct and scancel: asked, and understood when they complain

The run's folder in the ledger lies on a file system that the nodes share with this machine. Two things hold a run to one start:
before sbatch the job is looked for by name and folder, and batch.sh makes a folder, `began`, which only one job can make.
"""

from jpo.plugins.launch.engines import Engine

ENGINE = Engine(
    "jpo.plugins.launch.engines.slurm.launcher:launcher",
    table="jpo.plugins.launch.engines.slurm.settings:SlurmTable",
    shares_files=True,
    options=("options",),
)
