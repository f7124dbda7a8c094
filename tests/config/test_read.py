"""config.ini -> Workload."""

from __future__ import annotations

import hashlib
from pathlib import Path

from training_files import CONFIG, JOB, Read, message

from jpo.records import Identity, Note

FROZEN = Note("", "frozen in jpo.toml")


def test_read_finds_identity_parameters_and_digest(read: Read, tmp_path: Path) -> None:
    found = read(CONFIG)
    assert found.identity == Identity("cifar10", "resnet18", "pytorch")
    assert found.current == {"batch_size": 32, "learning_rate": 0.1, "cpus": 4, "memory_gib": 16}
    assert [(p.key, p.text, p.line) for p in found.parameters[:2]] == [
        ("training.batch_size", "32", 6),
        ("training.lr", "1e-1", 7),
    ]
    assert (found.path, found.digest) == (tmp_path / "config.ini", hashlib.sha256(CONFIG).hexdigest())


def test_keys_of_jpo_toml_win_over_well_known_names(read: Read) -> None:
    found = read(CONFIG + b"[eval]\nBatch_Size = 64\nSteps = 9\n", keys={"batch_size": "eval.batch_size", "epochs": "eval.steps"})
    assert {p.name: (p.key, p.value) for p in found.parameters if p.name in ("batch_size", "epochs")} == {
        "batch_size": ("eval.Batch_Size", 64),
        "epochs": ("eval.Steps", 9),
    }


def test_two_parameters_cannot_share_an_option(read: Read) -> None:
    said = message(read, CONFIG, keys={"epochs": "training.batch_size", "batch_size": "training.batch_size"})
    assert "batch_size and epochs are both 'training.batch_size'" in said


def test_a_value_that_is_no_number_is_reported_with_line_and_example(read: Read) -> None:
    said = message(read, CONFIG.replace(b"32", b"auto"))
    assert said == "…/config.ini:6: batch_size = 'auto' is not a whole number; write e.g. batch_size = 32"


def test_memory_of_unknown_unit_is_left_alone_unless_it_was_asked_for(read: Read) -> None:
    data = CONFIG.replace(b"16Gi", b"16")
    assert "memory_gib" not in read(data).current
    assert "memory = '16' has no unit; write e.g. memory = 16Gi" in message(read, data, keys={"memory_gib": "resources.memory"})


def test_a_file_without_parameters_is_refused(read: Read) -> None:
    assert "contains no parameter that JPO knows; name what JPO may change in jpo.toml" in message(read, JOB)


def test_frozen_parameters_are_held(read: Read) -> None:
    assert read(CONFIG, frozen={"cpus": FROZEN}).parameter("cpus").held == FROZEN
    assert read(CONFIG, frozen={"cpus": FROZEN}).parameter("batch_size").held is None
