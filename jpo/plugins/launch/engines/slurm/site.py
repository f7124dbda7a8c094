"""Where jobs go on a SLURM cluster, and which further options of sbatch a team may give."""

from __future__ import annotations

from dataclasses import dataclass

from jpo.errors import UsageError, quoted

INSTEAD = {
    "write account = in [launch.slurm]": ("account",),
    "JPO starts one job for one run": ("array",),
    "a run starts in the folder of its project": ("chdir",),
    "export SLURM_CLUSTERS": ("clusters",),
    "JPO finds its jobs by it": ("comment", "error", "job-name", "open-mode", "output", "parsable", "quiet", "verbose"),
    "a job runs as who submits it": ("gid", "uid"),
    "config.ini says what a run needs": (
        "gpus",
        "gpus-per-node",
        "gpus-per-socket",
        "gpus-per-task",
        "gres",
        "nodes",
        "ntasks",
        "ntasks-per-node",
        "tasks-per-node",
    ),
    "it submits nothing": ("help", "test-only", "usage", "version"),
    "a run has no input": ("input",),
    "write partition = in [launch.slurm]": ("partition",),
    "write qos = in [launch.slurm]": ("qos",),
    "the same run never starts twice": ("requeue",),
    "JPO asks for one before the time limit": ("signal",),
    "write timeout = in [launch]": ("time",),
    "JPO waits by itself": ("wait",),
    "JPO submits a script of its own": ("wrap",),
}
"""What to do instead of options of sbatch that would break what JPO promises."""
REFUSED = {option: instead for instead, options in INSTEAD.items() for option in options}


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
            for refused, instead in sorted(REFUSED.items()):
                if refused.startswith(name):  # sbatch takes "--outp" for "--output"
                    raise _refusal(option, f"is not taken: {instead}")

    @property
    def arguments(self) -> list[str]:
        """The same as options of sbatch."""
        named = {"partition": self.partition, "account": self.account, "qos": self.qos}
        return [*self.options, *(f"--{name}={value}" for name, value in named.items() if value is not None)]


def _refusal(option: str, finding: str) -> UsageError:
    return UsageError(f"[launch.slurm] options, {quoted(option.partition('=')[0])}", finding, code="JPO-E760")
