"""SLURM's own programs: asked without a shell, and understood when they complain.

Their options and the text forms used here are those of SLURM 17.11 and later; the JSON forms change with each version.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jpo.errors import LaunchError
from jpo.timeouts import NoAnswerInTime, answer_of
from jpo.wording.printable import one_line

TIMEOUT_SECONDS = 60.0
"""A controller under load answers within MessageTimeout (10 s), and the programs try again."""
AWAY = re.compile(
    r"unable to contact slurm|connect failure|timed out|connection (?:refused|reset|failure)|zero bytes were transmitted"
    r"|standby mode|not responding|not connected|temporarily unable|resource temporarily unavailable"
    r"|authentication (?:error|failed)|munge|no route to host|name or service not known|incompatible|shutting down",
    re.IGNORECASE,
)
"""What the programs say when the controller, or munge in front of it, cannot be reached now."""
NOT_SET_UP = re.compile(r"configuration file|configuration source|dns srv|incorrect permissions", re.IGNORECASE)
"""What they say where no slurm.conf is."""
HOW_TO_SET_UP = "run JPO on a machine that submits to SLURM, with its slurm.conf (Debian: apt-get install slurm-client)"
PREFIX = re.compile(r"^(?:(?:s\w+|allocation failure|Batch job submission failed)(?: error)?: |error: )+", re.MULTILINE)
KEPT = {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT"}
NOT_HANDED_ON = re.compile(
    r"(?:SLURM|SQUEUE|SCANCEL|SCONTROL|SACCT|SACCTMGR)_|JPO_\w*(?:__|TOKEN)"
    r"|SBATCH_(?:ARRAY_INX|CLUSTERS|WAIT|REQUEUE|NO_REQUEUE|SIGNAL|OPEN_MODE|TIMELIMIT|JOB_NAME|INPUT|OUTPUT|ERROR|GRES$|GPUS)"
)
"""Defaults of who submits that would break what JPO promises: SCANCEL_STATE=PENDING would let a run go on that is cancelled,
SQUEUE_PARTITION hides jobs, SBATCH_GRES asks for what config.ini does not."""
UNIX_SECONDS = {"SLURM_TIME_FORMAT": "%s"}
PAIR = re.compile(r"(?:^| )([A-Za-z][\w:/]*)=(\S*)")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a program printed, on stderr where stdout is empty; `complaint`: why it failed, in one line; empty: it did not."""

    text: str
    complaint: str = ""


class Programs:
    """SLURM's programs in the environment of who submits.

    A job inherits this environment as far as the cluster has it (SBATCH_EXPORT, `--export`); without JPO's own settings and
    tokens, and without those of a job of SLURM in which JPO itself may run.
    """

    def __init__(self, environment: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        kept = {name: value for name, value in environment.items() if name in KEPT or not NOT_HANDED_ON.match(name)}
        self._environment, self._timeout_seconds = {**kept, **UNIX_SECONDS}, timeout_seconds

    def ask(self, program: str, *arguments: str) -> Reply:
        """What a program answers; LaunchError JPO-E754: SLURM is away, JPO-E761: its programs or configuration are not here."""
        try:
            done = answer_of([program, *arguments], seconds=self._timeout_seconds, environment=self._environment)
        except NoAnswerInTime as error:
            raise away(program, f"gave {error}") from error
        except OSError as error:
            raise LaunchError(program, f"cannot be started ({error.strerror})", HOW_TO_SET_UP, code="JPO-E761") from error
        said = done.stderr.decode("utf-8", "replace")
        if done.exit_code == 0:
            return Reply(done.stdout.decode("utf-8", "replace") or said)
        if NOT_SET_UP.search(said):
            raise LaunchError(program, words(said), HOW_TO_SET_UP, code="JPO-E761")
        if AWAY.search(said):
            raise away(program, words(said))
        return Reply(done.stdout.decode("utf-8", "replace"), words(said) or f"exit code {done.exit_code}")

    def answer(self, program: str, *arguments: str) -> str:
        """The same, where a complaint is an error; LaunchError JPO-E753."""
        answer = self.ask(program, *arguments)
        if answer.complaint:
            raise refusal(program, answer.complaint)
        return answer.text


def away(program: str, finding: str) -> LaunchError:
    return LaunchError(program, finding, "is slurmctld up? What was started is in the ledger; try again", code="JPO-E754")


def refusal(program: str, complaint: str) -> LaunchError:
    return LaunchError(program, complaint, remedy_for(complaint), code="JPO-E753")


def words(said: str) -> str:
    """A complaint in SLURM's own words: without the names of programs, each sentence once, in one line."""
    sentences = dict.fromkeys(line.strip() for line in PREFIX.sub("", said).splitlines() if line.strip())
    return one_line(". ".join(sentences))


def remedy_for(complaint: str) -> str:
    """Where what SLURM complains of is said."""
    said = complaint.lower()
    if "partition" in said and "account" not in said:
        return "set partition in [launch.slurm]; `sinfo --summarize` lists them"
    if "account" in said or "qos" in said:
        return "set account and qos in [launch.slurm]; `sacctmgr show associations user=$USER` lists yours"
    if "time limit" in said:
        return "set timeout in [launch]"
    return "check what config.ini asks for, and [launch.slurm]"


def pairs(line: str) -> dict[str, str]:
    """Names and values in a line of `scontrol --oneliner`; the first of a name counts, since free texts stand behind."""
    return dict(reversed(PAIR.findall(line)))
