"""A SLURM cluster of two nodes on this machine, from Debian's packages: real programs, on loopback, with GPUs that do not exist.

Both nodes are slurmd processes of this machine (`slurmd -N`). A GPU of SLURM is a file; nobody opens it. Free ports, and all in
one folder, so that several clusters stand side by side. It runs as whoever runs the tests, and so do its jobs.
"""

from __future__ import annotations

import os
import pwd
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged")
PACKAGES = "slurm-wlm munge"
SBIN = "/usr/sbin"
"""Where Debian has the daemons, which not every user's PATH names."""
NODES = ("n1", "n2")
GPUS_PER_NODE = 2
GPU_TYPE = "nvidia_a100-sxm4-40gb"
MEMORY_MIB = 3000
ENDS_ALL = """
import glob, os, signal, sys, time
sys.stdin.read()
mark, until = os.fsencode(sys.argv[1]), time.monotonic() + 10
while time.monotonic() < until:
    found = False
    for file in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(file, "rb") as environ:
                if mark in environ.read().split(b"\\0"):
                    found = True
                    os.kill(int(file.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass
    if not found:
        break
    time.sleep(0.05)
"""
"""Waits until its input ends, as it does when pytest is killed, and then ends all that has the mark in its environment: daemons,
their helpers, and the jobs, which no daemon would end any more."""
CONFIGURATION = """\
ClusterName=jpo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed.txt
SlurmdParameters=config_overrides
MpiDefault=none
MailProg=/bin/true
GresTypes=gpu
ReturnToService=2
KillWait=2
MessageTimeout=2
SlurmdTimeout=3
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=4 RealMemory={memory} Gres=gpu:{gpu}:{gpus}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=4 RealMemory={memory} Gres=gpu:{gpu}:{gpus}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=n1 MaxTime=10 State=UP
"""


@dataclass
class Cluster:
    """A running cluster: its daemons by name, and the environment in which SLURM's programs find it."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    first_numbers: Iterator[int] = field(default_factory=lambda: count(1000, 1000))

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "USER") if name in os.environ}
        return {**kept, "PATH": f"{os.environ['PATH']}:{SBIN}", "SLURM_CONF": str(self.folder / "slurm.conf")}

    def says(self, *command: str) -> str:
        """What one of SLURM's programs prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    def start(self, name: str, *options: str) -> None:
        """Start a daemon: "munge", "controller", or a node by its name."""
        if name == "controller":  # one that lost its state gives no number again that a node still knows
            with (self.folder / "slurm.conf").open("a", encoding="utf-8") as configuration:
                configuration.write(f"FirstJobId={next(self.first_numbers)}\n")
        program = {"munge": self._munge(), "controller": ["slurmctld", "-D"]}.get(name, ["slurmd", "-D", "-N", name])
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen([*program, *options], env=self.environment, stdout=log, stderr=log)

    def kill(self, name: str) -> None:
        """Kill a daemon, as a power cut does."""
        self.daemons[name].kill()
        self.daemons[name].wait(timeout=120)

    def stop(self, name: str) -> None:
        """Stop a daemon in order: a controller saves what it knows."""
        self.daemons[name].terminate()
        self.daemons[name].wait(timeout=120)

    def until(self, expected: str, *command: str, seconds: float = 120.0) -> None:
        """Wait until a program prints a text."""
        deadline = time.monotonic() + seconds
        while expected not in (said := self.says(*command)):
            if time.monotonic() > deadline:
                logs = "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in self.folder.glob("*.log"))
                raise TimeoutError(f"{command} does not say {expected!r} but {said!r}\n{logs}")
            time.sleep(0.1)

    def until_ready(self) -> None:
        self.until(f"{len(NODES)} idle", "sinfo", "--noheader", "--partition=main", "--format=%D %t")

    def _munge(self) -> list[str]:
        paths = {"key-file": "key", "socket": "munge.sock", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "seed"}
        return ["munged", "--foreground", "--force", *(f"--{option}={self.folder / name}" for option, name in paths.items())]


@contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    """A cluster that runs as long as the context; whatever of it or of its jobs is left then is ended."""
    key = folder / "key"
    key.touch(mode=0o400)
    key.chmod(0o600)
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    for name in ("state", *(f"spool.{node}" for node in NODES)):
        (folder / name).mkdir()
    for index in range(GPUS_PER_NODE):
        (folder / f"gpu{index}").touch()
    (folder / "gres.conf").write_text(f"Name=gpu Type={GPU_TYPE} File={folder}/gpu[0-{GPUS_PER_NODE - 1}]\n", encoding="utf-8")
    with _free_ports(3) as (controller, first, second):
        filled = CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            user=pwd.getpwuid(os.getuid()).pw_name,
            folder=folder,
            controller_port=controller,
            n1=first,
            n2=second,
            memory=MEMORY_MIB,
            gpu=GPU_TYPE,
            gpus=GPUS_PER_NODE,
        )
    (folder / "slurm.conf").write_text(filled, encoding="utf-8")
    cluster = Cluster(folder)
    watch = [sys.executable, "-I", "-S", "-c", ENDS_ALL, f"SLURM_CONF={folder}/slurm.conf"]
    with subprocess.Popen(
        watch, stdin=subprocess.PIPE, start_new_session=True
    ):  # at the end its input is closed, and it is waited for
        for name in ("munge", "controller", *NODES):
            cluster.start(name)
        cluster.until_ready()
        yield cluster
    for daemon in cluster.daemons.values():
        daemon.wait(timeout=120)


@contextmanager
def _free_ports(amount: int) -> Iterator[list[int]]:
    """Ports that nobody has, below those from which the system takes its own."""
    listeners = list[socket.socket]()
    try:
        while len(listeners) < amount:
            with suppress(OSError):
                listeners.append(socket.create_server(("127.0.0.1", random.randrange(10_000, 32_000))))
        yield [int(listener.getsockname()[1]) for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
