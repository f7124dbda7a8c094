"""Parameters by the names that the file has for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.cli.arguments import load_settings
from jpo.cli.names import lists_given, values_given
from jpo.errors import UsageError

JOB = "[workload]\ndataset = d\nmodel = m\nframework = f\n"
CONFIG = f"{JOB}[training]\nbs = 32\nlr = 1e-3\nthreads_of = 3\n[resources]\nmemory = 32G\ncpus = 4\n"


def given(folder: Path, *texts: str, config: str = CONFIG, toml: str = "", option: str = "--set") -> dict[str, float]:
    file = folder / "config.ini"
    file.write_text(config)
    (folder / "jpo.toml").write_text(toml)
    return values_given(option, texts, file, load_settings(file, None, {}))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("bs=512", "batch_size", 512.0),
        ("BS=512", "batch_size", 512.0),
        ("training.bs=512", "batch_size", 512.0),
        ("batch_size=512", "batch_size", 512.0),
        ("train_batch_size=512", "batch_size", 512.0),
        ("lr=2e-3", "learning_rate", 0.002),
        ("memory=64G", "memory_gib", 64e9 / 2**30),
        ("memory=64", "memory_gib", 64e9 / 2**30),
        ("resources.memory=64Gi", "memory_gib", 64.0),
        ("memory_mib=2048", "memory_gib", 2.0),
        ("memory_gib=64", "memory_gib", 64.0),
        ("nonsense=3", "nonsense", 3.0),
        ("threads_of=3", "threads_of", 3.0),
    ],
)
def test_a_value_has_the_name_and_the_unit_of_the_file_or_those_of_jpo(
    tmp_path: Path, text: str, name: str, value: float
) -> None:
    """A name that nobody knows stays: whoever opens the project says what there is."""
    assert given(tmp_path, text) == {name: pytest.approx(value, rel=1e-12)}


def test_a_name_means_what_the_file_says_by_it(tmp_path: Path) -> None:
    """per_gpu_batch_size is a share of batch_size; and what jpo.toml calls by a name of JPO's stays JPO's."""
    per_device = f"{JOB}[t]\nper_gpu_batch_size = 8\ngpus = 4\n"
    assert given(tmp_path, "per_gpu_batch_size=16", config=per_device) == {"batch_size_per_device": 16.0}
    assert given(tmp_path, "bs=16", config=per_device) == {"bs": 16.0}, "the global batch is not said, and nobody guesses"
    taken = f"{JOB}[t]\nbatch_size = 8\n[eval]\nbs = 64\n"
    assert given(tmp_path, "bs=16", config=taken, toml='[parameters]\nbatch_size = { key = "t.batch_size" }') == {"bs": 16.0}


def test_words_of_a_team_are_named_by_their_key(tmp_path: Path) -> None:
    toml = '[parameters]\noptimizer = { key = "train.optim", choices = ["sgd", "adam"] }'
    said = given(tmp_path, "optim=adam", config=f"{JOB}[train]\noptim = sgd\n", toml=toml)
    assert [str(value) for value in said.values()] == ["adam"]


@pytest.mark.parametrize(
    ("texts", "finding"),
    [
        (("bs=512", "batch_size=64"), "batch_size means batch_size, and another value is given"),
        (("bs=many",), "bs = 'many' is not a finite number"),
        (("memory=much",), "memory = 'much' is not a memory size"),
    ],
)
def test_what_is_no_value_or_is_said_twice_is_refused(tmp_path: Path, texts: tuple[str, ...], finding: str) -> None:
    with pytest.raises(UsageError, match=finding) as caught:
        given(tmp_path, *texts)
    assert (caught.value.code, caught.value.place) == ("JPO-E305", "--set")


def test_lists_are_translated_value_by_value(tmp_path: Path) -> None:
    given(tmp_path)
    file = tmp_path / "config.ini"
    settings = load_settings(file, None, {})
    lists = lists_given("--vary", ["bs=32, 64", "memory=16Gi,32Gi", "gpus=1,2"], file, settings)
    assert lists == {"batch_size": "32.0,64.0", "memory_gib": "16.0,32.0", "gpus": "1,2"}
    with pytest.raises(UsageError, match="another list of batch_size"):
        lists_given("--vary", ["bs=32", "batch_size=64"], file, settings)
