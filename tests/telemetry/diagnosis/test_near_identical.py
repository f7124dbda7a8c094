"""One workload in two spellings, and different ones whose names are close."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from jpo.records import Identity
from jpo.telemetry.diagnosis.near_identical import joining, near_identical, sentences

OURS = Identity("cifar10", "resnet50", "pytorch")


@pytest.mark.parametrize(
    "other",
    [
        Identity("CIFAR-10", "resnet50", "pytorch"),
        Identity("cifar_10", "ResNet-50", "torch"),
        Identity("cifar10 ", "microsoft/resnet-50", "PyTorch"),
        Identity("uoft-cs/cifar10", "Resnet 50", "Torch"),
    ],
)
def test_another_spelling_is_named(other: Identity) -> None:
    assert near_identical(OURS, [OURS, other, other]) == [other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("resnet50", "resnet101"),
        ("cifar10", "cifar100"),
        ("gpt2", "gpt2-xl"),
        ("model-v1", "model-v2"),
        ("llama-1.5", "llama-15"),
        ("bert-base-cased", "bert-base-uncased"),
        ("qwen2.5-7b", "qwen2.57b"),
        ("t5", "t5-small"),
        ("train", "train+"[:-1] + "ed"),
        ("***", "+++"),
    ],
)
def test_false_friends_are_not(one: str, other: str) -> None:
    assert near_identical(Identity("d", one, "f"), [Identity("d", other, "f")]) == []
    assert near_identical(Identity(one, "m", "f"), [Identity(other, "m", "f")]) == []


def test_hardware_is_a_name_as_well_and_none_is_no_spelling_of_it() -> None:
    ours = Identity("d", "m", "f", "A100-80GB")
    assert near_identical(
        ours, [Identity("d", "m", "f", "a100_80gb"), Identity("d", "m", "f"), Identity("d", "m", "f", "a100")]
    ) == [Identity("d", "m", "f", "a100_80gb")]


def test_the_line_that_joins_them_is_toml_and_names_what_differs() -> None:
    other = Identity('cifar"10', "resnet50", "torch")
    lines = joining(OURS, other).replace(", framework", "\nframework")
    assert tomllib.loads(lines) == {"dataset": ['cifar"10'], "framework": ["torch"]}


def test_a_sentence_counts_the_runs_and_ends_with_what_to_do() -> None:
    seen = Counter({Identity("CIFAR-10", "resnet50", "pytorch"): 3, Identity("cifar100", "resnet50", "pytorch"): 9})
    (note,) = sentences(OURS, seen, "on record")
    assert note.code == "JPO-W163"
    assert note.text.startswith(
        "3 runs on record are of 'CIFAR-10/resnet50/pytorch', and this workload is 'cifar10/resnet50/pytorch'"
    )
    assert note.about == 'dataset = ["CIFAR-10"]'
    assert (
        note.text.rpartition("; ")[2] == 'if they are the same, write dataset = ["CIFAR-10"] under [workload.aliases] in jpo.toml'
    )
