"""[launch.slurm]: where jobs go on a SLURM cluster, and which further options of sbatch a team may give."""

from jpo.errors import UsageError, quoted
from jpo.plugins.launch.engines.base_table import EngineTable, Name

INSTEAD = {
    **{f"write {name} = in [launch.slurm]": name for name in ("account", "partition", "qos")},
    "JPO starts one job for one run": "array",
    "a run starts in the folder of its project": "chdir",
    "export SLURM_CLUSTERS": "clusters",
    "JPO finds its jobs by it": "comment error job-name open-mode output parsable quiet verbose",
    "a job runs as who submits it": "gid uid",
    "config.ini says what a run needs": "gpus gpus-per-node gpus-per-socket gpus-per-task gres nodes ntasks ntasks-per-node "
    "tasks-per-node",
    "it submits nothing": "help test-only usage version",
    "a run has no input": "input",
    "the same run never starts twice": "requeue",
    "JPO asks for one before the time limit": "signal",
    "write timeout = in [launch]": "time",
    "JPO waits by itself": "wait",
    "JPO submits a script of its own": "wrap",
}
"""What to do instead of options of sbatch that would break what JPO promises."""
REFUSED = {option: instead for instead, options in INSTEAD.items() for option in options.split()}


class SlurmTable(EngineTable):
    """Submission to SLURM; what is left out is the cluster's default. `options` are further ones of sbatch: "--exclusive"."""

    partition: Name | None = None  # of several, with commas, SLURM takes the one that starts first
    account: Name | None = None
    qos: Name | None = None
    options: tuple[str, ...] = ()  # long ones, "--name" or "--name=value"


def arguments(table: SlurmTable) -> list[str]:
    """The same as options of sbatch; UsageError JPO-E760 for an option that is none, or that JPO refuses."""
    for option in table.options:
        name = option.removeprefix("--").partition("=")[0]
        if not option.startswith("--") or not name or any(sign < " " or sign == "\x7f" for sign in option):
            raise _refusal(option, 'is not a long option of sbatch on one line; write e.g. "--exclusive" or "--nice=10"')
        for refused, instead in sorted(REFUSED.items()):
            if refused.startswith(name):  # sbatch takes "--outp" for "--output"
                raise _refusal(option, f"is not taken: {instead}")
    named = {"partition": table.partition, "account": table.account, "qos": table.qos}
    return [*table.options, *(f"--{name}={value}" for name, value in named.items() if value is not None)]


def _refusal(option: str, finding: str) -> UsageError:
    return UsageError(f"[launch.slurm] options, {quoted(option.partition('=')[0])}", finding, code="JPO-E760")
