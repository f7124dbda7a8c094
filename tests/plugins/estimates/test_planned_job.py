"""A job before its first run: its GPU and its model."""

from __future__ import annotations

import pytest
from planned_jobs import a_job, need

from jpo.plugins.estimates.planned_job import gpu_named


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
