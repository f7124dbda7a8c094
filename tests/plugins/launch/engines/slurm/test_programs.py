"""SLURM's programs are asked without a shell, and their complaints are put in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.slurm.programs import Programs, pairs, remedy_for, words

HERE = {"PATH": "/usr/bin:/bin"}


def says(*program: str, timeout_seconds: float = 20.0) -> Sequence[str]:
    answer = Programs(HERE, timeout_seconds).ask(sys.executable, "-c", *program)
    return answer.text, answer.complaint


def test_what_a_program_prints_is_its_answer_and_its_complaint_is_one_line() -> None:
    assert says("print(7)") == ("7\n", "")
    assert says("import sys; sys.exit('sbatch: Job 2 to start at 17')") == ("", "Job 2 to start at 17")
    assert says("import sys; print('to start at 17', file=sys.stderr)") == ("to start at 17\n", "")
    assert says("raise SystemExit(4)") == ("", "exit code 4")


@pytest.mark.parametrize(
    "complaint",
    [
        "squeue: error: Unable to contact slurm controller (connect failure)",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
        "slurm_load_jobs error: Slurm backup controller in standby mode",
        "scontrol: error: If munged is up, restart with --num-threads=10",
        "slurm_load_jobs error: Protocol authentication error",
    ],
)
def test_a_controller_that_is_away_is_told_from_a_refusal(complaint: str) -> None:
    with pytest.raises(LaunchError, match="is slurmctld up") as caught:
        says(f"import sys; sys.exit({complaint!r})")
    assert caught.value.code == "JPO-E754"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        *((name, False) for name in ("SLURM_JOB_ID", "SQUEUE_PARTITION", "SQUEUE_FORMAT", "SCANCEL_STATE", "SACCT_FORMAT")),
        *(
            (name, False)
            for name in ("SBATCH_GRES", "SBATCH_GPUS_PER_NODE", "SBATCH_TIMELIMIT", "SBATCH_CLUSTERS", "JPO_STORE__URL")
        ),
        *((name, True) for name in ("SLURM_CONF", "SBATCH_PARTITION", "SBATCH_GRES_FLAGS", "WANDB_API_KEY", "JPO_BATCH_SIZE")),
    ],
)
def test_defaults_of_the_user_that_would_break_a_promise_are_not_handed_on(name: str, kept: bool) -> None:
    program = f"import os; print({name!r} in os.environ)"
    assert Programs({**HERE, name: "1"}).ask(sys.executable, "-c", program).text == f"{kept}\n"


def test_a_program_that_hangs_is_not_waited_for_for_ever() -> None:
    with pytest.raises(LaunchError, match=r"no answer within 0\.2 s") as caught:
        says("import time; time.sleep(9)", timeout_seconds=0.2)
    assert caught.value.code == "JPO-E754"


def test_where_slurm_is_not_installed_its_package_is_named() -> None:
    with pytest.raises(LaunchError, match="slurm-client") as caught:
        Programs({"PATH": "/nowhere"}).ask("no-such-program-of-slurm")
    assert caught.value.code == "JPO-E761"


def test_a_machine_without_slurm_conf_is_said() -> None:
    with pytest.raises(LaunchError, match=r"slurm\.conf") as caught:
        says("import sys; sys.exit('sbatch: fatal: Could not establish a configuration source')")
    assert caught.value.code == "JPO-E761"


def test_a_job_inherits_neither_tokens_of_jpo_nor_another_jobs_variables() -> None:
    given = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/root",
        "SLURM_CONF": "/etc/slurm.conf",
        "SBATCH_PARTITION": "main",
        "JPO_USD": "1",
    }
    lost = {"JPO_COMMENT_TOKEN": "s", "JPO_STORE__URL": "s", "SLURM_JOB_ID": "3", "SLURM_MEM_PER_CPU": "1", "SBATCH_WAIT": "1"}
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    answer = Programs({**given, **lost}).ask(sys.executable, "-I", "-c", program)
    found = json.loads(answer.text)
    assert {name for name in found if name != "LC_CTYPE"} == {*given, "SLURM_TIME_FORMAT"}


def test_words_are_slurms_own_each_once_and_short() -> None:
    said = "sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name specified\n"
    assert words(said) == "invalid partition specified: nope. Invalid partition name specified"
    assert words("sbatch: error: x\nsbatch: error: x\n") == "x"
    assert len(words("x " * 9000)) < 400
    assert "\x1b" not in words("sbatch: error: \x1b[31mred")


def test_the_remedy_names_the_place_in_jpo_toml() -> None:
    assert "partition" in remedy_for("Invalid partition name specified")
    assert "account and qos" in remedy_for("Invalid account or account/partition combination specified")
    assert "timeout" in remedy_for("Requested time limit is invalid (missing or exceeds some limit)")
    assert "[launch.slurm]" in remedy_for("no idea")


def test_the_first_of_a_name_counts() -> None:
    assert pairs("JobId=7 CPUs/Task=2 JobState=RUNNING Comment=JobState=FAILED x") == {
        "JobId": "7",
        "CPUs/Task": "2",
        "JobState": "RUNNING",
        "Comment": "JobState=FAILED",
    }
