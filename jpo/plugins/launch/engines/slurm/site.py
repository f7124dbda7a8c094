"""Where jobs go on a SLURM cluster, and which further options of sbatch a team may give."""

from __future__ import annotations

from dataclasses import dataclass

from jpo.errors import UsageError, quoted

NEEDS = "config.ini says what a run needs"
OURS = "JPO finds its jobs by it"
REFUSED = {
    "account": "write account = in [launch.slurm]",
    "array": "JPO starts one job for one run",
    "chdir": "a run starts in the folder of its project",
    "clusters": "export SLURM_CLUSTERS",
    "comment": OURS,
    "error": OURS,
    "gid": "a job runs as who submits it",
    "gpus": NEEDS,
    "gpus-per-node": NEEDS,
    "gpus-per-socket": NEEDS,
    "gpus-per-task": NEEDS,
    "gres": NEEDS,
    "help": "it submits nothing",
    "input": "a run has no input",
    "job-name": OURS,
    "nodes": NEEDS,
    "ntasks": NEEDS,
    "ntasks-per-node": NEEDS,
    "open-mode": OURS,
    "output": OURS,
    "parsable": OURS,
    "partition": "write partition = in [launch.slurm]",
    "qos": "write qos = in [launch.slurm]",
    "quiet": OURS,
    "requeue": "the same run never starts twice",
    "signal": "JPO asks for one before the time limit",
    "tasks-per-node": NEEDS,
    "test-only": "it submits nothing",
    "time": "write timeout = in [launch]",
    "uid": "a job runs as who submits it",
    "usage": "it submits nothing",
    "verbose": OURS,
    "version": "it submits nothing",
    "wait": "JPO waits by itself",
    "wrap": "JPO submits a script of its own",
}
"""Options of sbatch that would break what JPO promises, and what to do instead."""


@dataclass(frozen=True, slots=True)
class SlurmSite:
    """What jpo.toml says of a cluster; None: the cluster's default.

    Attributes:
        partition: of several, with commas, SLURM takes the one that starts first.
        options: long options of sbatch, "--name" or "--name=value".

    Raises:
        UsageError: JPO-E760, an option that is none, or that JPO refuses.
    """

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option in self.options:
            name = option.removeprefix("--").partition("=")[0]
            if not option.startswith("--") or not name or any(sign < " " or sign == "\x7f" for sign in option):
                raise _refusal(option, 'is no long option of sbatch in one line; write e.g. "--exclusive" or "--nice=10"')
            for refused, instead in REFUSED.items():
                if refused.startswith(name):  # sbatch takes "--outp" for "--output"
                    raise _refusal(option, f"is not taken: {instead}")

    @property
    def arguments(self) -> list[str]:
        """The same as options of sbatch."""
        named = {"partition": self.partition, "account": self.account, "qos": self.qos}
        return [*self.options, *(f"--{name}={value}" for name, value in named.items() if value is not None)]


def _refusal(option: str, finding: str) -> UsageError:
    return UsageError(f"[launch.slurm] options, {quoted(option.partition('=')[0])}", finding, code="JPO-E760")
