from __future__ import annotations

import tomllib

import pytest

from constraints import limits_from
from constraints.own import read_value
from jpo.project.tables.usual import usual_line


@pytest.mark.parametrize(
    ("key", "text", "name"),
    [
        ("model.dropout", "0.1", "dropout"),
        ("model.attention_dropout", "0", "attention_dropout"),
        ("optim.weight-decay", "1e-4", "weight_decay"),
        ("optim.momentum", "0.9", "momentum"),
        ("train.optimizer", '"AdamW"', "optimizer"),
        ("train.optim", "sgd", "optim"),
        ("train.lr_scheduler_type", "cosine", "lr_scheduler_type"),
        ("train.warmup_steps", "500", "warmup_steps"),
        ("train.label_smoothing_factor", "0.1", "label_smoothing_factor"),
        ("train.gradient_clip_val", "1.0", "gradient_clip_val"),
    ],
)
def test_the_line_of_a_usual_hyperparameter_is_one_that_the_guard_takes(key: str, text: str, name: str) -> None:
    line = usual_line(key, text, alone=True)
    assert line is not None
    tables = tomllib.loads(f"[parameters]\n{line}")
    limit = limits_from(tables).parameters[name]
    assert limit.key == key
    read_value(name, text, limit)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("model.dropout", "auto"),
        ("model.dropout", "0.1, 0.2"),
        ("train.optimizer", "none"),
        ("train.optimizer", "torch optim"),
        ("train.optimizer", "${opt}"),
        ("train.scheduler", "True"),
        ("model.dropout_layers", "3"),
        ("train.seed", "1"),
        ("data.optimizer_state", "x"),
        ("train.hidden_size", "768"),
        ("train.num_workers", "4"),
        ('we"ird.dropout', "0.1"),
    ],
)
def test_nothing_is_said_of_what_is_no_such_value(key: str, text: str) -> None:
    assert usual_line(key, text, alone=True) is None


def test_of_two_of_a_name_the_section_is_part_of_it() -> None:
    assert (usual_line("Encoder.dropout", "0.1", alone=False) or "").startswith('encoder_dropout = { key = "Encoder.dropout"')
