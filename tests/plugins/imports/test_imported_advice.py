"""Thirty runs of another tool advise as JPO's own logs of them, whichever tool it was; each case logs them as the tool does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from mlflow_runs import log_runs
from wandb_files import begins, ends, logs, written

DECIDED = ("status", "suggested", "changes", "forecast", "expected", "confidence", "evidence", "reason_codes", "guard")
RUNS = [
    (
        1_700_000_000 + 1000 * number,
        (16, 32, 64)[number % 3],
        (100.0, 70.0, 41.0)[number % 3] + number % 4,
        0.1 + 0.001 * (number % 5),
    )
    for number in range(30)
]
"""Start, batch size, seconds, validation loss."""
CONFIG = {"learning_rate": 0.01, "epochs": 40, "num_cpus": 2}


def as_table(folder: Path) -> None:
    """With other names and units, and no run ids."""
    rows = ["begin;train_time [min];bs;lr;n_epochs;num_cpus;samples_seen;val_loss;train/loss;epoch"]
    rows += [f"{start * 1000};{seconds / 60!r};{batch};0.01;40;2;1500;{loss!r};0.2;1" for start, batch, seconds, loss in RUNS]
    (folder / "theirs.csv").write_text("\n".join(rows) + "\n")


def as_huggingface(folder: Path) -> None:
    for start, batch, seconds, loss in RUNS:
        run = folder / "theirs" / str(start)
        run.mkdir(parents=True)
        last = {
            "epoch": 1.0,
            "train_runtime": seconds,
            "train_samples_per_second": 1500 / seconds,
            "loss": 0.2,
            "eval_loss": loss,
        }
        state = {"global_step": 9, "max_steps": 9, "num_train_epochs": 40, "log_history": [last]}
        (run / "trainer_state.json").write_text(json.dumps(state))
        (run / "training_args.json").write_text(json.dumps({**CONFIG, "total_train_batch_size": batch}))
        os.utime(run / "trainer_state.json", (start + seconds, start + seconds))


def as_lightning(folder: Path) -> None:
    for start, batch, seconds, loss in RUNS:
        run = folder / "theirs" / str(start)
        run.mkdir(parents=True)
        (run / "metrics.csv").write_text(
            f"epoch,step,samples,train_loss,val_loss,train_time\n0,9,1500,0.2,{loss!r},{seconds!r}\n"
        )
        (run / "hparams.yaml").write_text(f"batch_size: {batch}\nlr: 0.01\nmax_epochs: 40\nnum_cpus: 2\n")
        os.utime(run / "metrics.csv", (start + seconds, start + seconds))


def as_tensorboard(folder: Path) -> None:
    pytest.importorskip("tensorboard", reason='pip install "jpo[tensorboard]"')
    from torch.utils.tensorboard import SummaryWriter

    for start, batch, seconds, loss in RUNS:
        with SummaryWriter(str(folder / "theirs" / str(start))) as writer:
            writer.add_text("args", json.dumps({**CONFIG, "batch_size": batch}), 0, walltime=start)
            for name, value in {"train/loss": 0.2, "val/loss": loss, "samples": 1500, "train/epoch": 1}.items():
                writer.add_scalar(name, value, 1, walltime=start + seconds)


MLFLOW_RUNS = [
    {
        "name": f"night-{start}",
        "start": start * 1000,
        "end": round((start + seconds) * 1000),
        "status": "FINISHED",
        "params": {**CONFIG, "batch_size": batch},
        "metrics": [
            (name, start * 1000, 1, value)
            for name, value in {"train_loss": 0.2, "val_loss": loss, "samples": 1500, "epoch": 1}.items()
        ],
    }
    for start, batch, seconds, loss in RUNS
]


@pytest.fixture(scope="module")
def in_mlflow(mlflow_server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file store and a database of MLflow. They and the server have the runs, logged by one process."""
    folder = tmp_path_factory.mktemp("mlflow")
    stores = ((folder / "files").as_uri(), f"sqlite:///{folder / 'theirs.db'}", mlflow_server)
    log_runs(*((uri, "thirty runs", MLFLOW_RUNS) for uri in stores))
    return folder


def as_wandb(folder: Path) -> None:
    for start, batch, seconds, loss in RUNS:
        run = folder / "theirs" / str(start)
        run.mkdir(parents=True)
        told = {"train_loss": 0.2, "val_loss": loss, "samples": 1500, "epoch": 1, "_timestamp": start + seconds}
        records = (begins(f"run{start}", start, {**CONFIG, "batch_size": batch}), logs(told), ends(0))
        (run / f"run-run{start}.wandb").write_bytes(written(*records))


@pytest.fixture(scope="module")
def decisions() -> dict[str, object]:
    """What JPO's own logs advise, once they were asked."""
    return {}


def advice(project, store, monkeypatch, *arguments):
    """What is advised from the runs that these arguments put into a store of their own."""
    monkeypatch.setenv("JPO_STORE__URL", f"sqlite:///{store}.db")
    done = project.jpo(*arguments)
    assert (done.code, done.err) == (0, "")
    document = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "--offline", "-o", "json").out)
    del document["evidence"]["run_ids"]
    return {name: document[name] for name in DECIDED if name in document}


@pytest.fixture
def own(empty, decisions, monkeypatch):
    """The advice from JPO's own logs."""
    if not decisions:
        for number, (start, batch, seconds, loss) in enumerate(RUNS):
            path = empty.log(number, batch, seconds, start=start)
            head, value = path.read_text().split("time,epoch", 1)
            path.write_text(f"{head}time,epoch{value}".replace(",0.1\n", f",{loss!r}\n"))
        (empty.folder / "runs").rename(empty.folder / "own")
        files = [word for path in sorted((empty.folder / "own").iterdir()) for word in ("--csv", str(path))]
        decisions.update(advice(empty, "own", monkeypatch, "observe", *files))
    return decisions


@pytest.mark.parametrize("tool", [as_table, as_huggingface, as_lightning, as_tensorboard, as_wandb])
def test_thirty_foreign_runs_advise_as_jpos_own_logs_of_them(empty, own, monkeypatch, tool):
    """The answer differs in none of what was decided, nor in what is forecast."""
    tool(empty.folder)
    (theirs,) = empty.folder.glob("theirs*")
    assert_same(advice(empty, "imported", monkeypatch, "import", theirs.name, "--write"), own)


@pytest.mark.parametrize("store", ["files", "theirs.db"])
def test_thirty_runs_in_mlflows_own_stores_advise_the_same(empty, own, monkeypatch, in_mlflow, store):
    assert_same(advice(empty, "imported", monkeypatch, "import", str(in_mlflow / store), "--write"), own)


@pytest.mark.usefixtures("in_mlflow")
def test_thirty_runs_of_an_mlflow_server_advise_the_same(empty, own, monkeypatch, mlflow_server):
    given = ("import", mlflow_server, "--experiment", "thirty runs", "--write")
    assert_same(advice(empty, "imported", monkeypatch, *given), own)


def assert_same(theirs, own):
    assert own["evidence"]["runs_used"] == 30
    assert own["suggested"]["batch_size"] != 16
    assert close(theirs, own)


def close(one: object, other: object) -> bool:
    """Whether two documents agree: minutes become seconds with another last digit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == (pytest.approx(other, rel=1e-6) if isinstance(other, float) else other)
