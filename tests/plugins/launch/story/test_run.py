"""`jpo run` as people type it: real processes on this machine, from a script to the record of its run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from launches import interrupted_once_submitted

from jpo.plugins.launch.engines.local import leases
from jpo.plugins.launch.engines.local.capacity import cpu_names
from jpo.plugins.launch.engines.local.launcher import LocalLauncher
from jpo.plugins.launch.engines.local.processes import marked
from jpo.plugins.launch.engines.local.state_file import read_state
from jpo.plugins.launch.ledger import entries

if TYPE_CHECKING:
    from user_project import Project

ROOT = Path(__file__).parents[4]
TRAIN = """
import configparser, os, sys, time
from jpo.runlog import RunLog
config = configparser.ConfigParser(inline_comment_prefixes="#")
config.read(sys.argv[1])
parameters = dict(batch_size=config["training"]["batch_size"], learning_rate=config["training"]["learning_rate"], epochs=3)
loss = float(sys.argv[2]) if len(sys.argv) > 2 else 0.5
with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters=parameters, settings=os.environ) as log:
    for epoch in range(1, 4):
        log.batch(100)
        log.epoch(epoch, train_loss=loss, val_loss=loss)
        print("epoch", epoch, flush=True)
        time.sleep(float(os.environ.get("SECONDS", "0")))
"""


@pytest.fixture
def ready(empty: Project) -> Project:
    (empty.folder / "train.py").write_text(TRAIN)
    (empty.folder / "config.ini").write_text((empty.folder / "config.ini").read_text().replace("cpus = 2", "cpus = 1"))
    return empty


def jpo(folder: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    """`jpo` as a process of its own, which heeds Ctrl-C."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}

    def heeds_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        [sys.executable, "-m", "jpo", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeds_interrupts,
    )


def begun(folder: Path, run_id: str, process: subprocess.Popen[str]) -> str:
    """Wait until a run has printed something; its token."""
    place = folder / ".jpo/launches" / run_id
    for _ in range(2400):
        state = read_state(place)
        if state is not None and (place / "output.log").exists() and (place / "output.log").stat().st_size:
            return state.token
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("it does not begin")


def statuses(project: Project) -> dict[str, str]:
    """What is on record: status by run id."""
    found = json.loads(project.jpo("history", "-o", "json").out)["runs"]
    return {run["run_id"]: run["status"] for run in found}


def collected(project: Project) -> None:
    """Let commands collect runs until there is one on record; that there are no CSV logs is an error of theirs, afterwards."""
    for _ in range(2400):
        project.jpo("observe", "--offline")
        if statuses(project):
            return
        time.sleep(0.05)


def lines(text: str) -> Sequence[str]:
    return text.strip().splitlines()


def test_a_script_is_run_with_the_values_of_config_ini_and_put_on_record(ready: Project) -> None:
    answer = ready.jpo("run", "train.py", "--run-id", "run-1", "-o", "json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["state"] == "succeeded"
    assert found["outcome"]["val_loss"] == 0.5
    assert found["outcome"]["epochs"] == 3
    assert found["command"][1:] == [str(ready.folder / "train.py"), str(ready.folder / "config.ini")]
    assert statuses(ready) == {"run-1": "succeeded"}
    again = ready.jpo("run", "train.py", "--run-id", "run-1", "-o", "json")
    assert json.loads(again.out)["started_at"] == found["started_at"]
    second = ready.jpo("run", "train.py", "--run-id", "run-2")
    assert "last run" in second.out


def test_a_run_that_fails_says_why_in_one_line_without_secrets(ready: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_TOKEN", "hf_0123456789")
    (ready.folder / "fail.py").write_text("import os, sys\nprint('x')\nsys.exit('no data at ' + os.environ['HUB_TOKEN'])\n")
    answer = ready.jpo("run", "fail.py", "--run-id", "run-1")
    assert answer.code == 7
    last = lines(answer.err)[-1]
    assert last.startswith("jpo: run run-1: failed: exit code 1; no data at [hidden]; its output is in ")
    assert last.endswith("[JPO-E759]")
    folder = ready.folder / ".jpo/launches/run-1"
    assert "hf_0123456789" in (folder / "output.log").read_text()
    assert (folder / "output.log").stat().st_mode & 0o777 == 0o600
    assert not any(
        b"hf_0123456789" in file.read_bytes() for file in folder.iterdir() if file.is_file() and file.name != "output.log"
    )
    assert statuses(ready) == {"run-1": "failed"}


def test_a_process_that_fails_after_the_end_of_its_log_has_failed(ready: Project) -> None:
    (ready.folder / "train.py").write_text(f"{TRAIN}\nraise SystemExit(3)\n")
    answer = ready.jpo("run", "train.py", "--run-id", "run-1")
    assert answer.code == 7
    assert lines(answer.err)[-1].startswith("jpo: run run-1: failed: exit code 3; epoch 3; its output is in ")
    assert statuses(ready) == {"run-1": "failed"}


def test_losses_that_are_no_numbers_mean_diverged(ready: Project) -> None:
    answer = ready.jpo("run", "train.py", "--run-id", "run-1", "--", "config.ini", "nan")
    assert answer.code == 7
    assert "diverged" in lines(answer.err)[-1]
    assert statuses(ready) == {"run-1": "diverged"}


def test_a_script_without_a_log_is_told_how_to_write_one_and_its_run_counts(ready: Project) -> None:
    answer = ready.jpo("run", "--run-id", "run-1", "--", "true")
    assert answer.code == 7
    assert "[JPO-E772]" in lines(answer.err)[-1]
    assert "jpo.runlog" in lines(answer.err)[-1]
    assert statuses(ready) == {"run-1": "succeeded"}


def test_an_unreadable_log_and_the_log_of_another_run_are_told_from_none(ready: Project) -> None:
    (ready.folder / "torn.sh").write_text('printf "# run_id=a\ntime,epoch\nnoon,1\n" > "$JPO_RUNLOG_DIR/a.csv"\n')
    torn = lines(ready.jpo("run", "--run-id", "run-1", "--", "sh", "torn.sh").err)[-1]
    assert "ended well, and its run log cannot be read: " in torn
    assert "line 3: time 'noon' is not a number" in torn
    assert "[JPO-E772]" in torn
    log = "# run_id=yesterday\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# start=1700000000\n"
    (ready.folder / "runs").mkdir(exist_ok=True)
    (ready.folder / "foreign.sh").write_text(f"printf '{log}time,epoch,val_loss\\n1700000009,1,0.5\\n' > runs/b.csv\n")
    foreign = lines(ready.jpo("run", "--run-id", "run-2", "--", "sh", "foreign.sh").err)[-1]
    assert "ended well, and wrote no run log of its own: " in foreign
    assert "runs/b.csv is of run yesterday, which began before; let the script write one" in foreign


def test_what_a_run_prints_is_shown_as_it_is_printed(ready: Project) -> None:
    """The script goes on only once its first line was seen."""
    script = "import os, time\nprint('begun with', os.environ['HUB_TOKEN'], flush=True)\n"
    (ready.folder / "slow.py").write_text(
        f"{script}while not os.path.exists('seen'):\n    time.sleep(0.05)\nprint('\\x1b[2Jend')\n"
    )
    process = jpo(ready.folder, "run", "slow.py", "--run-id", "run-1", "--follow", HUB_TOKEN="hf_0123456789")
    assert process.stderr is not None
    for line in process.stderr:
        if line == "begun with [hidden]\n":
            (ready.folder / "seen").touch()
            break
    out, err = process.communicate()
    assert err.startswith(" [2Jend\n")
    assert out.startswith("Run run-1")


def test_where_prometheus_reports_runs_no_log_is_missed(ready: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_URL", "http://127.0.0.1:1")
    assert ready.jpo("run", "--", "true").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run"], 2, "JPO-E756"),
        (["run", "--run-id", "a/b", "--", "true"], 2, "JPO-E757"),
        (["run", "--run-id", "", "--", "true"], 2, "JPO-E757"),  # an unset variable of a pipeline
        (["run", "--", "nosuch"], 7, "JPO-E758"),
        (["run", "none.py"], 2, "JPO-E773"),
        (["run", "bad.py"], 2, "JPO-E774"),
        (["run", "--timeout", "soon", "--", "true"], 2, "JPO-E305"),
        (["run", "none.ini", "--", "true"], 2, "JPO-E201"),
        (["run", "--follow", "--detach", "--", "true"], 2, "JPO-E308"),
    ],
)
def test_what_cannot_be_run_is_one_line_and_nothing_is_made(ready: Project, words: Sequence[str], code: int, said: str) -> None:
    (ready.folder / "bad.py").write_text("def f(:\n")
    answer = ready.jpo(*words)
    assert answer.code == code
    assert len(lines(answer.err)) == 1
    assert said in answer.err
    assert not (ready.folder / ".jpo/launches").exists()


def test_a_dry_run_starts_and_writes_nothing(ready: Project) -> None:
    answer = ready.jpo("run", "train.py", "--dry-run")
    assert answer.code == 0
    assert str(ready.folder / "train.py") in answer.out
    assert not (ready.folder / ".jpo").exists()


def test_what_runs_print_is_kept_out_of_git(ready: Project) -> None:
    ready.jpo("run", "--", "true")
    assert (ready.folder / ".jpo/launches/.gitignore").read_text() == "*\n"


def test_cpus_that_are_shared_are_told(ready: Project) -> None:
    cpus = len(os.sched_getaffinity(0))
    (ready.folder / "config.ini").write_text((ready.folder / "config.ini").read_text().replace("cpus = 1", f"cpus = {cpus}"))
    held = leases.taken(leases.usual_folder(), cpu_names(), 1)  # unless another test has all of them just now
    answer = ready.jpo("run", "--run-id", "run-1", "--", "true")
    leases.give_back(held.values())
    assert "[JPO-W776]" in answer.out


def test_a_command_of_jpo_toml_runs_beside_it(ready: Project) -> None:
    toml = ready.folder / "jpo.toml"
    toml.write_text(f"{toml.read_text()}[launch]\ncommand = ['{sys.executable}', 'train.py', 'config.ini']\n")
    assert ready.jpo("run").code == 0


def test_what_jpo_sets_for_itself_is_not_handed_on(ready: Project) -> None:
    (ready.folder / "print.py").write_text(
        "import os\nprint(sorted(name for name in os.environ if 'BLAS' in name or 'PYDANTIC' in name))\n"
    )
    with jpo(ready.folder, "run", "--run-id", "run-1", "--", sys.executable, "print.py", OPENBLAS_NUM_THREADS="") as process:
        process.communicate()
    environment = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    words = [sys.executable, "-m", "jpo", "run", "--run-id", "run-2", "--", "env"]
    subprocess.run(words, cwd=ready.folder, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    output = (ready.folder / ".jpo/launches/run-2/output.log").read_text()
    assert "PYDANTIC_DISABLE_PLUGINS" not in output
    assert "OPENBLAS_NUM_THREADS=1" in output  # cpus = 1 of config.ini


def test_ctrl_c_cancels_the_run_and_records_it(ready: Project) -> None:
    with jpo(ready.folder, "run", "train.py", "--run-id", "run-1", SECONDS="30") as process:
        token = begun(ready.folder, "run-1", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert marked(token) == []
    assert statuses(ready) == {"run-1": "stopped"}


def test_ctrl_c_before_the_start_is_noted_cancels_the_run_and_records_it(ready: Project) -> None:
    """A job prints its first line before the ledger has what its engine calls it."""
    with interrupted_once_submitted(LocalLauncher), pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECONDS", "30")
        assert ready.jpo("run", "train.py", "--run-id", "run-1").code == 130
    (entry,) = entries(ready.folder / ".jpo/launches")
    assert (entry.end is not None, entry.recorded) == (True, True)
    assert statuses(ready) == {"run-1": "stopped"}


def test_a_killed_jpo_leaves_nothing_running_and_the_next_command_records_it(ready: Project) -> None:
    with jpo(ready.folder, "run", "train.py", "--run-id", "run-1", SECONDS="30") as process:
        token = begun(ready.folder, "run-1", process)
        process.kill()
    for _ in range(2400):
        if not marked(token):
            break
        time.sleep(0.05)
    assert marked(token) == []
    collected(ready)
    assert statuses(ready) == {"run-1": "stopped"}


def test_a_detached_run_goes_on_and_the_next_command_records_it(ready: Project) -> None:
    assert ready.jpo("run", "train.py", "--run-id", "run-1", "--detach").code == 0
    collected(ready)
    assert statuses(ready) == {"run-1": "succeeded"}


def test_two_at_once_with_one_id_start_it_once(ready: Project) -> None:
    with (
        jpo(ready.folder, "run", "train.py", "--run-id", "run-1", "-o", "json", SECONDS="0.3") as one,
        jpo(ready.folder, "run", "train.py", "--run-id", "run-1", "-o", "json", SECONDS="0.3") as other,
    ):
        first, second = (json.loads(process.communicate(timeout=60)[0]) for process in (one, other))
    assert first["engine_id"] == second["engine_id"]
    assert first["started_at"] == second["started_at"]
    assert (ready.folder / ".jpo/launches/run-1/output.log").read_text().count("epoch 1\n") == 1
    assert statuses(ready) == {"run-1": "succeeded"}


def test_what_a_failed_run_printed_of_its_model_reaches_the_first_forecast(ready: Project) -> None:
    (ready.folder / "train.py").write_text(
        "print('Total params: 7,000,000,000')\nmodel = dict(num_layers=32)\nraise SystemExit(1)\n"
    )
    config = ready.config.read_text().replace("epochs = 40", "epochs = 40\nmax_length = 2048\noptimizer = adamw")
    ready.config.write_text(config)
    assert ready.jpo("run", "--run-id", "run-1", "train.py").code == 7
    ready.config.write_text(config.replace("cpus = 1", "gpus = 1"))
    (ready.folder / "jpo.toml").write_text('[prices]\nusd_per_gpu_hour = 1\ngpu_type = "a100-80gb"\n')
    shown = " ".join(ready.jpo("predict").out.split())
    assert "a transformer of 7000 million parameters in 32 layers, as a run or the script here says" in shown
    assert "may not fit" in shown
