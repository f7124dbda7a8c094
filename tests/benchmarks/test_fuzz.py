"""Mutated real files: 100 for each reader, and some of them through whole commands. `make bench` plays 10,000."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from apparatus.readers import LOG, Misread, Reader, project, readers  # noqa: E402

from jpo.errors import UsageError  # noqa: E402

FUZZ = runpy.run_path(str(BENCHMARKS / "fuzz.py"))
CASES, SEED = 100, 13


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("fuzz") / "project")


@pytest.fixture(scope="module")
def every_reader(folder: Path) -> dict[str, Reader]:
    return dict(readers(folder))


NAMES = (
    *("config.ini", "config.ini, second look", "jpo.toml", "jpo.toml, second look", "pyproject.toml", "JPO_... variables"),
    *("values of options", "price catalogue", "CSV log", "CSV log, followed", "extended CSV", "trial log", "state import"),
    *("state import, packed", "store", "trace", "weights", "weights, sealed again"),
    *("imported table", "trainer_state.json", "metrics.csv", "hparams.yaml", "run-*.wandb", "run-*.wandb, sealed again"),
    *(("event file",) if find_spec("tensorboard") else ()),
    *("answer of MLflow", "answer of Prometheus", "answer of nvidia-smi", "token file", "certificate"),
)


def test_every_reader_is_played(every_reader: dict[str, Reader]) -> None:
    assert tuple(every_reader) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_real_files_are_read_and_mutated_ones_read_or_refused_in_a_line(
    folder: Path, every_reader: dict[str, Reader], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROMETHEUS_URL", raising=False)
    reader = every_reader[name]
    if name not in ("certificate", "extended CSV"):  # no key of ours is in the repository; another head is another version's
        assert all(reader.play(folder, seed) for seed in reader.seeds)
    result = FUZZ["played"](reader, folder, CASES, SEED)
    assert result.bugs == {}
    assert result.cases == CASES


def test_what_is_no_refusal_in_a_line_is_a_bug(tmp_path: Path) -> None:
    def crashes(path: Path) -> None:
        raise ZeroDivisionError

    def talks(path: Path) -> None:
        error = UsageError("file", "x", code="JPO-E301")
        error.args = ("x" * 100_000,)
        raise error

    (tmp_path / "file").write_bytes(LOG % 1)
    result = FUZZ["played"](Reader("file", (LOG % 1,), crashes), tmp_path, 10, SEED)
    assert list(result.bugs) == [next(key for key in result.bugs if key.startswith("ZeroDivisionError at test_fuzz.py"))]
    assert (tmp_path / "file").read_bytes() == LOG % 1
    with pytest.raises(Misread, match="a message of 100000 characters"):
        Reader("file", (), talks).play(tmp_path, b"")


def test_the_table_counts_every_reader() -> None:
    played = FUZZ["Played"]
    results = {"a": played(10, 4, 2, 0.0123), "b": played(10, 1, bugs={"ValueError at x.py:1": "why"})}
    assert "2 readers, 20 files and 2 commands: 1 bugs." in FUZZ["summary"](results)
    assert FUZZ["row"]("a", results["a"]) == "| a | 10 | 4 | 6 | 2 | 12 ms | 0 |\n"
    assert "ValueError at x.py:1: why" in FUZZ["row"]("b", results["b"])
