"""The digits example runs for real and leaves what JPO's contract says, in its log and on its metrics endpoint."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jpo.project.trial_logs import read_trials
from jpo.records import Identity

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
MISSING = [name for name in ("torch", "sklearn") if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING) and os.environ.get("CI") != "true",
        reason=f'{", ".join(MISSING)} not installed: pip install "jpo[examples]"',
    ),
]


def command(folder: Path, *options: str, **values: object) -> list[str]:
    """Train with the example's config.ini, some values replaced, one thread."""
    text = (DIGITS / "config.ini").read_text(encoding="utf-8")
    for name, value in {"cpus": 1, **values}.items():
        text, count = re.subn(rf"^({name} *= )\S+", rf"\g<1>{value}", text, flags=re.MULTILINE)
        assert count == 1
    (folder / "config.ini").write_text(text, encoding="utf-8")
    return [
        sys.executable,
        str(DIGITS / "train.py"),
        str(folder / "config.ini"),
        "--run-id",
        "run-1",
        "--log-dir",
        str(folder),
        *options,
    ]


def environment(**settings: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **settings}


@pytest.fixture(scope="session")
def read_log() -> Callable[[Path], Log]:
    """A log by its own rules, without JPO's reader: `# key=value` lines, and rows of numbers."""

    def read(path: Path) -> Log:
        lines = path.read_text(encoding="utf-8").splitlines()
        facts = dict(line[2:].split("=", 1) for line in lines if line.startswith("# "))
        (header, *rows) = [line for line in lines if not line.startswith("#")]
        assert header == "time,epoch,samples,train_loss,val_loss"
        return Log(facts, [[float(cell or "nan") for cell in row.split(",")] for row in rows])

    return read


@dataclass
class Log:
    facts: dict[str, str]
    rows: list[list[float]]


@dataclass
class Seen:
    before: str
    after: str
    exit_code: int
    log: Path


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """One run of two epochs, scraped when training starts and after it has ended, which is what it waits for."""
    folder = tmp_path_factory.mktemp("digits")
    served = environment(JPO_METRICS_PORT="0", JPO_LINGER_SECONDS="60")
    with subprocess.Popen(command(folder, epochs=2, batch_size=128), stdout=subprocess.PIPE, text=True, env=served) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("metrics on ").strip()
            before = scrape(url)
            next(line for line in process.stdout if "target" in line)
            after = scrape(url)
            yield Seen(before, after, process.wait(timeout=120), folder / "run-1.csv")
        finally:
            process.kill()


def scrape(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310
        return str(answer.read(), "utf-8")


def names(exposition: str) -> set[str]:
    return {re.split(r"[{ ]", line)[0] for line in exposition.splitlines() if not line.startswith("#")}


def test_log_of_a_run_has_the_documented_format(seen, read_log):
    log = read_log(seen.log)
    assert seen.exit_code == 0
    assert log.facts["status"] == "succeeded"
    assert (log.facts["batch_size"], log.facts["learning_rate"], log.facts["cpus"]) == ("128", "0.03", "1")
    assert [(epoch, samples) for _, epoch, samples, _, _ in log.rows] == [(1, 1437), (2, 2874)]
    assert float(log.facts["start"]) < log.rows[0][0] < log.rows[1][0] <= float(log.facts["end"])


def test_before_the_first_validation_only_what_is_known_is_exported(seen):
    measured = {"jpo_samples_total", "jpo_cpu_seconds_total", "jpo_memory_bytes"}
    assert names(seen.before) == {"jpo_run_info", "jpo_run_start_time_seconds"} | measured


def test_after_training_all_metrics_of_the_contract_are_exported(seen):
    run = {"jpo_run_info", "jpo_run_start_time_seconds", "jpo_run_end_time_seconds", "jpo_run_status", "jpo_converged"}
    progress = {"jpo_samples_total", "jpo_epoch", "jpo_train_loss", "jpo_val_loss"}
    assert names(seen.after) == run | progress | {"jpo_cpu_seconds_total", "jpo_memory_bytes"}


def test_every_series_carries_the_run_and_its_workload(seen):
    series = [line for line in seen.after.splitlines() if not line.startswith("#")]
    for label in ('run_id="run-1"', 'dataset="digits"', 'model="cnn"', 'framework="pytorch"'):
        assert all(label in line for line in series)


def test_metrics_agree_with_the_log(seen, read_log):
    log = read_log(seen.log)
    values = {line.split("{")[0]: float(line.split()[-1]) for line in seen.after.splitlines() if not line.startswith("#")}
    assert values["jpo_samples_total"] == log.rows[-1][2]
    assert values["jpo_val_loss"] == log.rows[-1][4]
    assert values["jpo_run_end_time_seconds"] == pytest.approx(float(log.facts["end"]), abs=0.001)
    assert re.search(r'^jpo_run_status\{run_id="run-1",.*status="succeeded"\} 1$', seen.after, re.MULTILINE)
    for parameter in ("batch_size", "learning_rate", "num_layers", "epochs", "cpus", "gpus"):
        assert f'{parameter}="{log.facts[parameter]}"' in seen.after


def test_a_loss_that_is_no_number_ends_the_run_as_diverged(ended, read_log):
    log = read_log(ended.folder / "diverged" / "run-1.csv")
    assert (ended.codes["diverged"], log.facts["status"], log.facts["converged"]) == (1, "diverged", "false")
    assert len(log.rows) < 40


def test_sigterm_ends_the_run_as_stopped(tmp_path, read_log):
    slow = command(tmp_path, batch_size=256, learning_rate=0.0001)
    with subprocess.Popen(slow, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    log = read_log(tmp_path / "run-1.csv")
    assert (process.returncode, log.facts["status"]) == (143, "stopped")
    assert 1 <= len(log.rows) < 40


REFUSED_SHARES = ["0", "1.5", "nan", "half"]
TRAIN_EACH = """
import json, os, sys, train
codes = {}
for name, words in json.load(sys.stdin).items():
    if os.fork() == 0:
        sys.argv[1:] = words
        train.validate = None if name == "failed" else train.validate
        sys.exit(train.main())
    codes[name] = os.waitstatus_to_exitcode(os.wait()[1])
print(json.dumps(codes))
"""
"""torch is imported once, which takes longer than to train; each run is a process of its own."""


@dataclass
class Ended:
    folder: Path
    codes: dict[str, int]
    stderr: str


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Runs that end in different ways, each in a folder of its name."""
    folder = tmp_path_factory.mktemp("ended")
    runs: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
        "diverged": ((), {"learning_rate": 1e9}),
        "failed": ((), {"epochs": 1}),
        "trial": (("--fraction", "0.1"), {"epochs": 3}),
        **{share: (("--fraction", share), {}) for share in REFUSED_SHARES},
    }
    for name in runs:
        (folder / name).mkdir()
    words = json.dumps({name: command(folder / name, *options, **values)[2:] for name, (options, values) in runs.items()})
    program = [sys.executable, "-c", TRAIN_EACH]
    done = subprocess.run(program, cwd=DIGITS, capture_output=True, text=True, env=environment(), check=True, input=words)
    return Ended(folder, json.loads(done.stdout.splitlines()[-1]), done.stderr)


def test_an_error_during_training_ends_the_run_as_failed(ended, read_log):
    assert "TypeError" in ended.stderr
    assert read_log(ended.folder / "failed" / "run-1.csv").facts["status"] == "failed"


def test_a_trial_on_part_of_the_data_says_so_and_separates_evaluation(ended, read_log):
    path = ended.folder / "trial" / "run-1.csv"
    log = read_log(path)
    assert (ended.codes["trial"], log.facts["data_fraction"]) == (0, "0.1")
    assert [row[1:3] for row in log.rows] == [[0.5, 144], [1, 144], [1.5, 288], [2, 288], [2.5, 432], [3, 432]]
    identity = Identity(log.facts["dataset"], log.facts["model"], log.facts["framework"])
    (trial,) = read_trials([path], identity, None, now=time.time())
    assert (trial.fraction, trial.samples) == (0.1, 144)
    assert trial.evaluation is not None


@pytest.mark.parametrize("share", REFUSED_SHARES)
def test_a_share_that_cannot_be_is_refused(ended: Ended, share: str) -> None:
    assert ended.codes[share] == 2
