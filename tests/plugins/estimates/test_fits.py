"""Whether a run fits into a GPU: what is published of known jobs, and what must hold of any."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import pytest
from planned_jobs import ADAM, VALUES, a_job, estimate, need

from jpo.plugins.estimates.planned_job import PlannedJob, gpu_named
from jpo.records import FirstRun, Note, Terms, Word


def warning(job: PlannedJob, **values: float) -> str:
    found: tuple[Note, ...] = estimate(job, {**VALUES, **values}).notes
    assert [note.code for note in found] in ([], ["JPO-W871"])
    return found[0].text if found else ""


def test_all_of_a_7b_model_with_adam_takes_16_bytes_a_parameter_and_does_not_fit_on_80_gib() -> None:
    assert need(a_job()).mean == pytest.approx(16 * 6.738e9 / 2**30, rel=0.05)
    assert "which has 80, and will not fit; one sample alone needs about 10" in warning(a_job())
    assert warning(a_job(options={**ADAM, "zero_stage": "3"}), gpus=8.0, batch_size=8.0) == ""


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (Terms(), "batch_size = 4 would need about 46"),
        (Terms(accumulation_steps=2.0), "16 accumulation steps would need about 46"),
        (Terms(batch_per_device=True, accumulation_steps=2.0), "batch_size = 4 with 16 accumulation steps would need about 46"),
    ],
)
def test_the_nearest_that_fits_leaves_the_training_as_it_is_where_it_can(terms: Terms, words: str) -> None:
    options = {**ADAM, "gradient_checkpointing": "false", "attn_implementation": "sdpa"}
    assert words in warning(a_job("llama-3.2-1b", options, terms=terms), batch_size=64.0)


def test_where_one_sample_is_too_much_activations_are_computed_anew_or_gpus_added() -> None:
    options = {**ADAM, "gradient_checkpointing": "false", "max_seq_length": "32768"}
    assert "; gradient_checkpointing = true would need about" in warning(a_job("tinyllama-1.1b", options))
    sharded = {**ADAM, "fsdp": "full_shard"}
    assert "; gpus = 4 would need about" in warning(a_job("llama-2-13b", sharded), gpus=2.0, batch_size=8.0)


def test_a_wide_interval_says_that_it_may_not_fit() -> None:
    assert "which has 80, and may not fit (" in warning(a_job(options={"max_length": "2048"}))


@pytest.mark.parametrize(
    ("job", "values"),
    [
        (a_job("homemade"), VALUES),
        (a_job(options={}), VALUES),
        (a_job(options={**ADAM, "peft": "lora"}), VALUES),
        (a_job("llama-2-7b-qlora"), VALUES),
        (a_job(), {"gpus": 1.0}),
        (a_job(), {**VALUES, "gpus": 0.0}),
        (a_job(gpu=""), {"batch_size": 1.0, "cpus": 8.0}),
        (a_job(), {**VALUES, "batch_size": Word("auto")}),
        *((a_job(options={**ADAM, "max_seq_length": text}), VALUES) for text in ("nan", "-1", "1e300", "inf", "many", "")),
        *((a_job(), {**VALUES, name: n}) for name in ("batch_size", "gpus", "num_layers") for n in (-1.0, 1e300, 1e-300)),
        (a_job("x", {**ADAM, "hidden_size": "1e300", "num_heads": "2", "vocab_size": "9"}), {**VALUES, "num_layers": 1e300}),
        (a_job("x", {**ADAM, "hidden_size": "nan", "num_heads": "2", "vocab_size": "9"}), {**VALUES, "num_layers": 2.0}),
    ],
)
def test_of_what_is_not_known_or_cannot_be_nothing_is_said(job: PlannedJob, values: Mapping[str, float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimate(job, values) == FirstRun()


def test_what_would_fit_are_whole_samples_on_each_gpu() -> None:
    assert "batch_size = 11 would need" in warning(a_job("bert-base", {"max_length": "2048"}, "t4"), batch_size=3000.0)
    parts = warning(a_job("bert-base", {"max_length": "512"}, "t4", terms=Terms(accumulation_steps=1.0)), batch_size=250.0)
    assert "batch_size = 31 would need" in parts  # and not with 8 accumulation steps of 31.25


def test_no_gpu_has_no_memory() -> None:
    assert gpu_named("0gb a100").memory_gib == gpu_named("a100").memory_gib
