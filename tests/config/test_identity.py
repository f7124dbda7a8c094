"""The identity of a job: dataset, model and framework."""

from __future__ import annotations

import pytest
from training_files import CONFIG, JOB, Read, message

from jpo.config import PARTS
from jpo.records import Identity


def test_missing_identity_names_the_parts_and_both_remedies(read: Read) -> None:
    said = message(read, CONFIG.replace(b"model = resnet18\n", b"").replace(b"framework = pytorch", b"framework ="))
    assert said == (
        "…/config.ini: does not say which job this is: no model and no framework; "
        'add e.g. model = "resnet50" and framework = "pytorch" below [workload] in jpo.toml; `jpo init` does it'
    )


def test_identity_keys_point_anywhere_and_quotes_fall_away(read: Read) -> None:
    data = CONFIG + b'[net]\nname = "ResNet 18"  # small\n'
    assert read(data, identity={"model": "net.name"}).identity.model == "ResNet 18"
    assert "workload.identity.model = 'net.title' is not in" in message(read, data, identity={"model": "net.title"})


def test_a_section_of_its_name_may_say_a_part(read: Read) -> None:
    """[model] name = resnet18, as Hydra and spaCy users write it; an option of the usual name comes first, as it always did."""
    bare = CONFIG.replace(b"model = resnet18\n", b"")
    assert read(bare + b"[Model]\nName = 'resnet 18'\nlayers = 18\n[optimizer]\nname = adam\n").identity.model == "resnet 18"
    assert read(CONFIG + b"[model]\nname = other\n").identity.model == "resnet18"
    assert read(bare + b"[network]\nname = b\n[model]\nname = a\n").identity.model == "a", "the most usual one"
    assert "which job this is: no model;" in message(read, bare + b"[models]\nname = a\n")
    said = message(read, bare + b"[model]\nname = a\n[MODEL]\nname = b\n")
    assert "model could be 'model.name' (line 11) and 'MODEL.name' (line 13)" in said


def test_identity_may_stand_twice_when_both_say_the_same(read: Read) -> None:
    assert read(CONFIG + b"[eval]\ndataset = cifar10\n").identity.dataset == "cifar10"
    said = message(read, CONFIG + b"[eval]\ndataset = cifar100\n")
    assert "dataset could be 'workload.dataset' (line 2) and 'eval.dataset' (line 12)" in said
    assert said.endswith('[workload] identity = { dataset = "workload.dataset" }')


def test_the_most_usual_name_of_an_identity_wins(read: Read) -> None:
    assert read(CONFIG + b"[io]\ndata = /mnt/cifar\n").identity.dataset == "cifar10"


@pytest.mark.parametrize("label", [b"\x1b[31mred", b"a\n  b", b"%%(base)s", b"${t:x}", b"x" * 201], ids=repr)
def test_an_identity_that_is_no_plain_name_is_refused(read: Read, label: bytes) -> None:
    assert "'workload.dataset' = " in message(read, CONFIG.replace(b"cifar10", label))


def test_an_identity_may_be_another_option(read: Read) -> None:
    base = CONFIG.replace(b"cifar10", b"%(base)s-%(size)s") + b"[DEFAULT]\nbase = cifar\nsize = 10\n"
    assert read(base).identity.dataset == "cifar-10"
    assert "refers to 'base', which is neither in [workload]" in message(read, CONFIG.replace(b"cifar10", b"%(base)s"))


def test_hardware_is_named_in_the_section_workload_or_by_jpo_toml(read: Read) -> None:
    assert read(CONFIG).identity.hardware is None
    assert read(CONFIG + b"[cluster]\nhardware = a100\n").identity.hardware is None, "it may be anything there"
    assert read(CONFIG + b"[cluster]\ngpu = a100\n", identity={"hardware": "cluster.gpu"}).identity.hardware == "a100"
    said = CONFIG.replace(b"[workload]\n", b"[workload]\nhardware = 'a100'\n")
    assert read(said).identity.hardware == "a100"
    assert read(said.replace(b"'a100'", b"")).identity.hardware is None


def stated(read: Read, data: bytes, **given: dict[str, str]) -> object:
    """The identity of a file of which jpo.toml says something."""
    return read(data, stated=given).identity


BARE = CONFIG.removeprefix(JOB)


def test_a_name_in_jpo_toml_is_all_that_a_file_needs(read: Read) -> None:
    named = dict.fromkeys(PARTS, "street-signs")
    assert stated(read, BARE, said=named) == stated(read, CONFIG, said=named) == Identity(*["street-signs"] * 3)
    assert str(stated(read, BARE, said=named)) == "street-signs"


def test_parts_in_jpo_toml_precede_those_of_its_file_and_complete_another(read: Read) -> None:
    assert stated(read, CONFIG, said={"model": "vit"}) == Identity("cifar10", "vit", "pytorch")
    assert stated(read, CONFIG, unsaid={"model": "vit"}) == Identity("cifar10", "resnet18", "pytorch")
    bare = CONFIG.replace(b"framework = pytorch\n", b"")
    assert stated(read, bare, unsaid={"framework": "jax"}) == Identity("cifar10", "resnet18", "jax")
    assert stated(read, bare, unsaid=dict.fromkeys(PARTS, "a-b")) == Identity(*["a-b"] * 3), "a name does not mix with parts"


def test_nothing_at_all_is_said_in_one_sentence(read: Read) -> None:
    assert message(read, BARE) == (
        "…/config.ini: does not say which job this is; "
        'add e.g. name = "street-signs" below [workload] in jpo.toml; `jpo init` does it'
    )
