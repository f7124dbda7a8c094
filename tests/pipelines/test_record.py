"""The jobs that put run logs on record, on both platforms: whatever the logs are like, it is said, and no run counts twice."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pipelines.test_github import run_step
from pipelines.test_gitlab import INPUTS, JOBS, run_job, with_inputs

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "pipelines" / "github" / "record" / "action.yml").read_text("utf-8"))
HEAD = "# run_id={name}\n# dataset=digits\n# model={model}\n# framework=pytorch\n# batch_size=16\n# start={start}\n"
ROWS = "time,epoch,samples,train_loss,val_loss\n{end},1,100,0.5,0.4\n"
TAIL = "# end={end}\n# status=succeeded\n"
NOON = 1_790_000_000
OTHERS = 300
Record = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["gitlab", "github"])
def record(request: pytest.FixtureRequest, machine: Any, tmp_path: Path) -> Record:
    """Run the job in a checkout without logs, with these variables."""
    shutil.rmtree(machine.repository / "runs")

    def on_gitlab(**variables: str) -> subprocess.CompletedProcess[str]:
        defaults = {name: spec["default"] for name, spec in INPUTS.items() if "default" in spec}
        return run_job(machine, with_inputs(JOBS, {**defaults, "image": "i"})["jpo-record"], **variables)

    def on_github(**variables: str) -> subprocess.CompletedProcess[str]:
        python = tmp_path / "runner" / "jpo" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.unlink(missing_ok=True)
        python.symlink_to(machine.tools / "python")
        given = {"store-url": variables["JPO_STORE__URL"]} if "JPO_STORE__URL" in variables else {}
        done: subprocess.CompletedProcess[str] = run_step(machine, tmp_path / "runner", ACTION, "Record", **given)
        return done

    return on_gitlab if request.param == "gitlab" else on_github


def log(folder: Path, name: str, number: int, *, model: str = "cnn", closed: bool = True) -> None:
    times = {"start": NOON + 1000 * number, "end": NOON + 1000 * number + 600}
    text = (HEAD + ROWS + (TAIL if closed else "")).format(name=name, model=model, **times)
    (folder / f"{name}.csv").write_text(text if closed else text[:-9])


def runs_in(store: Path) -> list[str]:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        return [name for (name,) in database.execute("SELECT run_id FROM runs WHERE ended_at > ? ORDER BY ended_at", (NOON,))]


def test_without_a_log_it_says_so_and_fails_nothing(record: Record) -> None:
    done = record()
    assert (done.returncode, "has left one as an artifact, or it has expired" in done.stderr) == (0, True)


def test_own_logs_go_on_record_once_among_those_of_others_and_one_that_was_cut(machine: Any, record: Record) -> None:
    runs = machine.repository / "runs"
    runs.mkdir()
    for number in range(OTHERS):
        log(runs, f"other-{number}", number, model="vit")
    log(runs, "night-1", OTHERS)
    log(runs, "night-2", OTHERS + 1, closed=False)
    for told in ("recorded night-1: digits/cnn/pytorch, succeeded", "skipped night-2: "):
        done = record()
        assert (done.returncode, told in done.stdout) == (0, True), done.stdout + done.stderr
    assert runs_in(machine.repository / ".jpo" / "jpo.db") == ["night-1"]


def test_pipelines_with_different_histories_lose_nothing_and_count_nothing_twice(
    machine: Any, record: Record, tmp_path: Path
) -> None:
    """Each history has what its pipelines saw; the logs of both, read into one, are what happened."""
    runs = machine.repository / "runs"
    runs.mkdir()
    one, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other"))
    for number, stores in enumerate(([one], [other], [one, other])):
        log(runs, f"night-{number}", number)
        path = runs / f"night-{number}.csv"
        path.write_text(f"# suggestion_id=of-another-history\n{path.read_text()}")
        for store in stores:
            done = record(JPO_STORE__URL=store)
            assert (done.returncode, "of-another-history, which this history does not know" in done.stdout) == (0, True)
    assert runs_in(tmp_path / "one.db") == runs_in(tmp_path / "other.db") == ["night-0", "night-1", "night-2"]


def test_a_link_in_place_of_config_ini_is_refused(machine: Any, record: Record) -> None:
    config = machine.repository / "config.ini"
    config.rename(machine.repository / "other.ini")
    config.symlink_to("other.ini")
    done = record()
    assert (done.returncode, "is not a plain file, or behind a link" in done.stderr) == (2, True)
