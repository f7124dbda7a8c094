"""Batch and GPUs as frameworks say them."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from training_files import JOB

from constraints import names
from jpo import config
from jpo.errors import UsageError
from jpo.records import Terms, Workload


def read(folder: Path, text: str, **keys: str) -> Workload:
    path = folder / "config.ini"
    path.write_bytes(JOB + text.encode())
    known = config.OptionNames(names.WELL_KNOWN, names.IDENTITY, keys)
    return config.read(path, names=known, parse_value=names.parse_value, today=datetime.date(2026, 5, 4))


@pytest.mark.parametrize(
    ("text", "batch", "gpus"),
    [
        ("batch_size = 64\ngpus = 4", 64, 4),
        ("batch_size = 64\ngradient_accumulation_steps = 4\ngpus = 4", 64, 4),
        ("per_device_train_batch_size = 8\ngradient_accumulation_steps = 4\ngpus = 4", 128, 4),
        ("per_device_train_batch_size = 8\nper_device_eval_batch_size = 64", 8, None),
        ("batch_size_per_device = 8\ngpus = 0", 8, 0),
        ("batch_size_per_gpu = 8\naccumulate_grad_batches = 2\ndevices = 4\nnum_nodes = 2", 128, 8),
        ("batch_size_per_device = 8\ngpus_per_node = 4", 32, 4),
        ("batch_size = 64\ngpus_per_node = 4\nnodes = 2", 64, 8),
        ("batch_size = 64\ngpus = 4\nnodes = 2", 64, 4),
        ("batch_size = 64\ngpus = 4\ndevices = 2", 64, 4),
        ("batch_size = 64\ngpus = 4\nnodes = 2\n[serving]\nnodes = 3", 64, 4),
        ("batch_size_per_device = 8\ngradient_accumulation_steps = 0\ngpus = 2", 16, 2),
        ("batch_size = 64\ndevices = auto\nnodes = n1,n2", 64, None),
        ("batch_size_per_device = %(b)s\nb = 8\ngpus = 2", 16, 2),
    ],
)
def test_what_is_recorded_is_the_global_batch_and_all_gpus(tmp_path: Path, text: str, batch: int, gpus: int | None) -> None:
    current = read(tmp_path, f"[t]\n{text}\n").current
    assert (current["batch_size"], current.get("gpus")) == (batch, gpus)


def test_the_file_s_own_number_is_what_is_edited(tmp_path: Path) -> None:
    workload = read(tmp_path, "[t]\nper_device_train_batch_size = 8\naccumulate_grad_batches = 4\ndevices = 2\nnum_nodes = 2\n")
    batch, gpus = workload.parameters
    assert (batch.key, batch.text, batch.value, batch.counted) == (
        *("t.per_device_train_batch_size", "8", 128),
        ("batch_size_per_device", 8),
    )
    assert (gpus.key, gpus.value, gpus.counted) == ("t.devices", 4, ("gpus_per_node", 2))
    assert workload.terms == Terms(True, True, 4, 2)
    assert workload.terms.in_file({"batch_size": 256, "gpus": 8}) == {"batch_size": 8, "gpus": 4}
    assert workload.terms.with_chosen(workload.current, {"gpus": 8}) == {"batch_size": 256, "gpus": 8}
    assert workload.terms.with_chosen(workload.current, {"batch_size": 64}) == {"batch_size": 64, "gpus": 4}


@pytest.mark.parametrize("pair", ["batch_size = 64\nbatch_size_per_device = 8", "gpus = 4\ngpus_per_node = 4"])
def test_a_quantity_said_twice_is_refused_until_one_is_named(tmp_path: Path, pair: str) -> None:
    with pytest.raises(UsageError, match="twice") as refused:
        read(tmp_path, f"[t]\n{pair}\n")
    assert refused.value.code == "JPO-E206"
    total, term = (line.split()[0] for line in pair.split("\n"))
    assert read(tmp_path, f"[t]\n{pair}\n", **{total: f"t.{total}"}).parameters[0].counted is None
    assert read(tmp_path, f"[t]\n{pair}\n", **{term: f"t.{term}"}).parameters[0].counted is not None


def test_a_key_says_that_a_name_of_all_is_of_one(tmp_path: Path) -> None:
    workload = read(tmp_path, "[data]\nbatch_size = 8\ngpus = 4\n", batch_size_per_device="data.batch_size")
    assert workload.current == {"batch_size": 32, "gpus": 4}
