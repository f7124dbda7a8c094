"""What labels say, and how names of config.ini are compared with them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.records import Identity, Word
from jpo.telemetry.outcome import Own, own_values
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.pods.labels import add, is_of, parameters, run_id, selector, slug

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cifar10", "cifar10"),
        ("meta-llama/Llama-2 7B", "meta-llama-llama-2-7b"),
        ("org__model..v1", "org-model-v1"),
        ("/data/sets/digits/", "data-sets-digits"),
    ],
)
def test_a_slug_is_what_a_label_can_hold(name, expected):
    assert slug(name) == expected


@given(st.text(min_size=1, max_size=200).filter(lambda text: text.strip()))
def test_every_name_has_a_slug_that_is_a_label_and_its_own_slug(name):
    assert LABEL.fullmatch(slug(name)) or not any(c.isalnum() for c in name)
    assert slug(slug(name)) == slug(name)
    assert len(slug(name)) <= 63


def test_long_names_and_letters_that_no_label_holds_stay_apart():
    assert slug("x" * 63) == "x" * 63
    assert slug("x" * 64) != slug("x" * 65)
    assert slug("数据") != slug("模型")
    assert slug("Größe") != slug("Gro-e")
    assert slug("Café") == "cafe"


@given(st.sampled_from(["org/Model v2", "a.b_c-d", "x" * 80]), st.sampled_from("-._"))
def test_the_selector_finds_what_the_slug_finds(name, separator):
    label = slug(name).replace("-", separator).upper()
    chosen = selector(Identity(name, "m", "f"), Names())
    (pattern,) = re.findall(r'label_jpo_dataset=~"([^"]*)"', chosen)
    assert re.fullmatch(pattern, label)
    labels = {"label_jpo_dataset": label, "label_jpo_model": "M", "label_jpo_framework": "f"}
    assert is_of(Identity(name, "m", "f"), labels, Names())
    assert not is_of(Identity(name, "m", "f", "a100"), labels, Names()), "hardware is compared where config.ini names it"


def test_parameters_come_from_labels_before_annotations_and_from_named_ones_alone():
    labels = {"label_jpo_batch_size": "64", "annotation_jpo_batch_size": "1", "annotation_jpo_learning_rate": " 1e-3 "}
    assert parameters(labels, Names()) == {"batch_size": "64", "learning_rate": "1e-3"}
    names = Names.of({}, {}, None, {"batch_size": "example.com/batchSize"})
    assert parameters({**labels, "label_example_com_batch_size": "32"}, names)["batch_size"] == "32"
    assert "batch_size" not in parameters(labels, names)


def test_parameters_of_the_teams_own_are_read_as_their_lines_declare_them():
    own = Own({"dropout": False, "maxDepth": False, "optimizer": True, "init": True})
    labels = {
        "label_jpo_dropout": "0.1",
        "label_jpo_max_depth": "8",
        "label_jpo_optimizer": "adam",
        "label_jpo_seed": "1",
        "annotation_jpo_init": "kaiming/he",
    }
    said = parameters(labels, Names(own=own))
    assert own_values(said, own.parameters) == {
        "dropout": 0.1,
        "maxDepth": 8,
        "optimizer": Word("adam"),
        "init": Word("kaiming/he"),
    }
    assert parameters({"annotation_jpo_max_depth": "8"}, Names(own=own)) == {"maxDepth": "8"}
    renamed = Names.of({}, {}, None, {"dropout": "example.com/drop"}, own=own)
    assert parameters({**labels, "label_example_com_drop": "0.3"}, renamed)["dropout"] == "0.3"
    assert parameters(labels, Names()) == {}, "what no line declares is no parameter"


def test_labels_that_got_one_name_count_where_they_agree():
    numbered = {"label_jpo_epochs_conflict1": "3", "label_jpo_epochs_conflict2": "3"}
    assert parameters(numbered, Names()) == {"epochs": "3"}
    assert parameters({**numbered, "label_jpo_epochs_conflict2": "4"}, Names()) == {}


def test_an_empty_run_id_is_none():
    assert (run_id({"label_jpo_run_id": ""}, Names()), run_id({"label_jpo_run_id": "r"}, Names())) == (None, "r")


def test_a_label_that_was_changed_while_the_pod_ran_says_nothing_that_a_parameter_can_be():
    known: dict[str, str] = {}
    for value in ("64", "128", "64"):
        add({"label_jpo_batch_size": value, "label_jpo_epochs": "3"}, known)
    assert parameters(known, Names()) == {"batch_size": "128 and 64", "epochs": "3"}


def test_parameters_of_the_teams_own_are_labels_like_any_other():
    own = Own({"dropout": False, "optimizer": True})
    names = Names.of({}, {}, pod_labels={"optimizer": "example.com/optim"}, own=own)
    labels = {"label_jpo_dropout": "0.1", "label_example_com_optim": "adam"}
    assert parameters(labels, names) == {"dropout": "0.1", "optimizer": "adam"}
