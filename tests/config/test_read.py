"""config.ini -> Workload."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.records import Identity, Workload

Read = Callable[..., Workload]

JOB = b"[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n"
CONFIG = JOB + b"[training]\nbatch_size = 32\nlr = 1e-1 # warm\n[resources]\nmemory = 16Gi\ncpus = 4\n"


def message(read: Read, data: bytes, **options: object) -> str:
    with pytest.raises(UsageError) as error:
        read(data, **options)
    assert error.value.exit_code == 2
    return str(error.value).replace(error.value.place.split(":")[0], "…/" + error.value.place.split(":")[0].rsplit("/", 1)[-1])


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


def test_keys_may_hold_dots(read: Read) -> None:
    found = read(JOB + b"[a.b]\nc.d = 8\n", keys={"batch_size": "a.b.c.d"})
    assert found.parameter("batch_size").value == 8


def test_a_key_that_is_absent_is_named_with_its_file(read: Read) -> None:
    said = message(read, CONFIG, keys={"batch_size": "training.batchsize"})
    assert said.startswith("…/jpo.toml: parameters.batch_size.key = 'training.batchsize' is not in /")
    assert said.endswith("config.ini; correct the entry, or add that option to the file")


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


def test_missing_identity_names_the_parts_and_both_remedies(read: Read) -> None:
    said = message(read, CONFIG.replace(b"model = resnet18\n", b"").replace(b"framework = pytorch", b"framework ="))
    assert said == (
        "…/config.ini: no model and no framework found; add model = ... to one of its sections, "
        'or name the option in jpo.toml: [workload] identity = { model = "section.option" }'
    )


def test_identity_keys_point_anywhere_and_quotes_fall_away(read: Read) -> None:
    data = CONFIG + b'[net]\nname = "ResNet 18"  # small\n'
    assert read(data, identity={"model": "net.name"}).identity.model == "ResNet 18"
    assert "workload.identity.model = 'net.title' is not in" in message(read, data, identity={"model": "net.title"})


def test_identity_may_stand_twice_when_both_say_the_same(read: Read) -> None:
    assert read(CONFIG + b"[eval]\ndataset = cifar10\n").identity.dataset == "cifar10"
    said = message(read, CONFIG + b"[eval]\ndataset = cifar100\n")
    assert "dataset could be 'workload.dataset' (line 2) and 'eval.dataset' (line 12)" in said
    assert said.endswith('[workload] identity = { dataset = "workload.dataset" }')


def test_the_most_usual_name_of_an_identity_wins(read: Read) -> None:
    assert read(CONFIG + b"[io]\ndata = /mnt/cifar\n").identity.dataset == "cifar10"


@pytest.mark.parametrize("label", [b"\x1b[31mred", b"a\n  b", b"%(base)s", b"${t:x}", b"x" * 201], ids=repr)
def test_an_identity_that_is_no_plain_name_is_refused(read: Read, label: bytes) -> None:
    assert "'workload.dataset' = " in message(read, CONFIG.replace(b"cifar10", label))


def test_a_file_without_parameters_is_refused(read: Read) -> None:
    assert "contains no parameter that JPO knows; name what JPO may change in jpo.toml" in message(read, JOB)


def test_missing_files_directories_and_pipes_are_refused(read: Read, tmp_path: Path) -> None:
    read(CONFIG)
    path = tmp_path / "config.ini"
    path.unlink()
    said = []
    for make in (lambda: None, path.mkdir, lambda: (path.rmdir(), os.mkfifo(path))):
        make()
        with pytest.raises(UsageError) as error:
            read(None)
        said.append(error.value.finding)
    assert said == ["cannot be read: No such file or directory", "is a directory", "is not a file"]


@pytest.mark.parametrize(
    ("line", "held"),
    [
        (b"batch_size = 32  # jpo: pin", "pinned in config.ini"),
        (b"batch_size = 32\t; JPO: Pin, see #12", "pinned in config.ini"),
        (b"batch_size = 32  # fits a T4  # jpo:pin", "pinned in config.ini"),
        (b"# jpo: pin\n# since it fits\nbatch_size = 32", "pinned in config.ini"),
        (b"batch_size = 32 # jpo: ignore until 2026-05-05", "ignored until 2026-05-05 in config.ini"),
        (b"batch_size = 32 # jpo: ignore until 2026-05-04", None),
        (b"; jpo: ignore until 2026-01-01.\nbatch_size = 32", None),
        (b"    # jpo: pin\nbatch_size = 32", "pinned in config.ini"),
        (b"batch_size = 32 # pin", None),
        (b"batch_size = 32\n# jpo: pin\nlr = 1", None),
        (b"batch_size = 32 # see jpo: pin", None),
    ],
)
def test_pins_stand_behind_the_value_or_directly_above(read: Read, line: bytes, held: str | None) -> None:
    assert read(JOB + line + b"\n").parameter("batch_size").held == held


@pytest.mark.parametrize(
    "words", [b"pinned", b"ignore", b"ignore until tomorrow", b"ignore until 2027-02-30", b"ignore until 2027-1-1", b""]
)
def test_a_pin_that_is_not_understood_is_an_error(read: Read, words: bytes) -> None:
    said = message(read, JOB + b"batch_size = 32 # jpo: " + words + b"\n")
    assert said.endswith("is not understood; write # jpo: pin or # jpo: ignore until 2027-01-01")
    assert "config.ini:5: " in said


def test_what_is_pinned_and_no_number_is_no_parameter(read: Read) -> None:
    assert read(CONFIG.replace(b"cpus = 4", b"cpus = auto  # jpo: pin")).current.keys() == {
        "batch_size",
        "learning_rate",
        "memory_gib",
    }


def test_frozen_parameters_are_held(read: Read) -> None:
    assert read(CONFIG, frozen={"cpus": "frozen in jpo.toml"}).parameter("cpus").held == "frozen in jpo.toml"
    assert read(CONFIG, frozen={"cpus": "frozen in jpo.toml"}).parameter("batch_size").held is None


def test_a_pin_holds_until_the_day_it_names(read: Read) -> None:
    data = JOB + b"batch_size = 32 # jpo: ignore until 2027-01-01\n"
    for day, held in ((datetime.date(2026, 12, 31), True), (datetime.date(2027, 1, 1), False)):
        assert (read(data, today=day).parameter("batch_size").held is not None) == held
