"""A job before its first run: its GPU and its model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planned_jobs import VALUES, a_job, need

from jpo.plugins.estimates.planned_job import gpu_named, setup_of


def test_a_transformer_is_known_by_its_widths_too() -> None:
    options = {
        "n_embd": "768",
        "n_head": "12",
        "vocab_size": "50257",
        "block_size": "1024",
        "dtype": "fp32",
        "optimizer": "adamw",
    }
    by_widths = need(a_job("nanogpt", options), num_layers=12.0, batch_size=8.0)
    assert by_widths == need(a_job("gpt2", options), batch_size=8.0)


WORDY = {"block_size": "1024", "dtype": "fp32", "optimizer": "adamw"}


@pytest.mark.parametrize("facts", [{"model_parameters": 124e6}, {"model_parameters": 124e6, "model_layers": 12.0}])
def test_an_unknown_model_is_known_by_its_parameters_less_surely(facts: dict[str, float]) -> None:
    known = need(a_job("gpt2", WORDY), batch_size=8.0)
    found = need(replace(a_job("ours", WORDY), facts=facts), batch_size=8.0)
    assert found.mean == pytest.approx(known.mean, rel=0.1)
    assert found.low < known.low
    assert found.high > known.high


@pytest.mark.parametrize(
    ("facts", "options"),
    [
        ({}, WORDY),
        ({"model_parameters": 124e6}, {"dtype": "fp32"}),
        ({"model_parameters": 124e6, "trainable_parameters": 1e6}, WORDY),
        ({"model_parameters": -1.0}, WORDY),
        ({"model_parameters": 1e300, "model_layers": 1e300}, WORDY),
    ],
)
def test_facts_that_say_too_little_or_what_cannot_be_are_not_used(facts: dict[str, float], options: dict[str, str]) -> None:
    assert setup_of(replace(a_job("ours", options), facts=facts), VALUES) is None


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("a100", 80),
        ("NVIDIA A100-SXM4-40GB", 40),
        ("Tesla V100-SXM2-16GB", 16),
        ("h100", 80),
        ("a100-1g.10gb", 10),
        ("tpu", None),
    ],
)
def test_a_gpu_is_known_by_its_name(name: str, gib: float | None) -> None:
    assert gpu_named(name).memory_gib == gib
    assert (gpu_named(name).peak16 is None) == (name in ("tpu", "a100-1g.10gb"))
