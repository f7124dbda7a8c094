"""Files of other tools as seeds of mutation, each with its reader of `jpo import` and the whole command."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from jpo.plugins.imports import mlflow_server
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.recognise import FORMATS
from jpo.plugins.imports.translate import Said, translated
from jpo.plugins.imports.wandb import HEAD_BYTES

DATA = Path(__file__).parents[2] / "tests" / "plugins" / "imports" / "data"
TABLE = b"""\
run;state;start;time (min);bs;lr;val/loss;val acc %;gpu util %
a;finished;2026-01-01T10:00:00Z;10,5;32;0,01;0,41;91,5;55
b;crashed;2026-01-02T10:00:00+02:00;1:30:00;64;0,01;-;88;45 %
c;running;;5;64;0,01;nan;;45
"""
SAID = Said(otherwise={"dataset": "digits", "model": "cnn", "framework": "pytorch"})
NOW = 1_795_000_000.0
Entry = tuple[str, tuple[bytes, ...], Callable[[Path], object], tuple[str, ...]]


def foreign_files() -> Mapping[str, Entry]:
    """By name: the file, seeds, reader, and commands."""
    lightning = DATA / "lightning" / "lightning_logs" / "version_0"
    state = _bytes(DATA / "huggingface" / "run" / "trainer_state.json")
    runs = b'{"runs": [{"info": {"run_id": "a"}, "data": {}}], "next_page_token": "b"}'
    client = _bytes(next((DATA / "wandb").glob("*night32/*.wandb")))
    return {
        "imported table": _entry("theirs.csv", "table", TABLE),
        "trainer_state.json": _entry("trainer_state.json", "huggingface", state),
        "metrics.csv": _entry("metrics.csv", "lightning", _bytes(lightning / "metrics.csv")),
        "hparams.yaml": ("hparams.yaml", (_bytes(lightning / "hparams.yaml"),), lambda path: _beside(path, lightning), ()),
        "run-*.wandb": _entry("run-night32.wandb", "wandb", client),
        "run-*.wandb, sealed again": ("run-night32.wandb", (client,), _sealed_again, ()),
        **({"event file": _entry("events.out.tfevents.1", "tensorboard", _events())} if find_spec("tensorboard") else {}),
        "answer of MLflow": ("mlflow.json", (runs,), _answer, ()),
    }


def _entry(name: str, form: str, seed: bytes) -> Entry:
    return name, (seed,), lambda path: read(path, form), (f"import {name} --format {form}",)


def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def read(path: Path, form: str) -> object:
    """The runs of a file."""
    source = FORMATS[form].read(path)
    return translated(source, columns_of(source, {}), SAID, now=NOW)


def _beside(path: Path, lightning: Path) -> object:
    """A hparams.yaml beside sound metrics."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "metrics.csv").write_bytes(_bytes(lightning / "metrics.csv"))
        (Path(folder) / "hparams.yaml").write_bytes(path.read_bytes())
        return read(Path(folder), "lightning")


def _sealed_again(path: Path) -> object:
    """A file of W&B's client whose checksums are right, whatever is in its records."""
    data, place = bytearray(path.read_bytes()), HEAD_BYTES
    while place + HEAD_BYTES <= len(data):
        length = int.from_bytes(data[place + 4 : place + 6], "little")
        sealed = zlib.crc32(data[place + 6 : place + HEAD_BYTES + length])
        data[place : place + 4] = sealed.to_bytes(4, "little")
        place += HEAD_BYTES + length
    path.write_bytes(data)
    return read(path, "wandb")


def _events() -> bytes:
    from torch.utils.tensorboard import SummaryWriter

    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            writer.add_hparams({"lr": 0.01, "batch_size": 32}, {"loss": 0.5}, run_name=".")
            for step in range(3):
                writer.add_scalar("val/loss", 1 / (step + 1), step, walltime=1.7e9 + step)
        return _bytes(next(Path(folder).glob("events*")))


def _answer(path: Path) -> object:
    headers = {"Content-Type": "application/json"}
    return mlflow_server.check_answer("http://mlflow", 200, headers, path.read_bytes())
