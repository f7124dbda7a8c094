"""Rough forecasts of known jobs: what is published of them, and what must hold of any."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping

import pytest

from jpo.plugins.estimates.arithmetic import gpu_memory_gib, peak_of, rough_forecast
from jpo.plugins.estimates.estimate import too_large
from jpo.plugins.estimates.planned_job import PlannedJob, gpu_named, setup_of
from jpo.records import Estimate, Forecast, Identity, Interval, Note, Terms, Word

ADAM = {"precision": "bf16-mixed", "optimizer": "adamw", "max_seq_length": "2048", "gradient_checkpointing": "true"}
VALUES = {"batch_size": 1.0, "gpus": 1.0, "epochs": 1.0}
NAMES = {"batch_size": "batch_size", "gpus": "gpus"}


def a_job(
    model: str = "meta-llama/Llama-2-7b-hf",
    options: Mapping[str, str] = ADAM,
    gpu: str = "a100-80gb",
    dataset: str = "own",
    terms: Terms = Terms(),  # noqa: B008
) -> PlannedJob:
    return PlannedJob(Identity(dataset, model, "pytorch"), options, NAMES, terms, gpu_named(gpu))


def estimate(job: PlannedJob, values: Mapping[str, float]) -> Estimate:
    setup = setup_of(job, values)
    forecast, words = rough_forecast(job, values, setup)
    return Estimate(forecast, words, too_large(job, values, setup) if setup else ())


def need(job: PlannedJob, **values: float) -> Interval:
    setup = setup_of(job, {**VALUES, **values})
    assert setup is not None
    return gpu_memory_gib(setup)


def warning(job: PlannedJob, **values: float) -> str:
    found: tuple[Note, ...] = estimate(job, {**VALUES, **values}).notes
    assert [note.code for note in found] in ([], ["JPO-W871"])
    return found[0].text if found else ""


def test_all_of_a_7b_model_with_adam_takes_16_bytes_a_parameter_and_does_not_fit_on_80_gib() -> None:
    assert need(a_job()).mean == pytest.approx(16 * 6.738e9 / 2**30, rel=0.05)
    assert "which has 80, and will not fit; one sample alone needs about 10" in warning(a_job())
    assert warning(a_job(options={**ADAM, "zero_stage": "3"}), gpus=8.0, batch_size=8.0) == ""


def test_bert_base_fits_on_16_gib_and_rests_on_what_it_says() -> None:
    options = {"max_length": "128", "fp16": "false", "optimizer": "adamw", "attn_implementation": "eager"}
    job = a_job("bert-base-uncased", options, "Tesla T4", "sst2")
    assert 3 < need(job, batch_size=32.0).mean < 8
    found = estimate(job, {**VALUES, "batch_size": 32.0, "epochs": 3.0})
    assert (found.notes, "bert-base on 1 Tesla T4, 128 tokens a sample; a step takes about" in found.words) == ((), True)
    seconds, joules = found.forecast.duration_seconds, found.forecast.metrics["energy_joules"]
    assert seconds is not None
    assert seconds.low < 3 * 67349 / 100 < seconds.high
    assert joules.low < 70 * seconds.mean * 0.75 == joules.mean < joules.high


@pytest.mark.parametrize("mib", [14949])
def test_bert_large_as_hugging_face_measured_it(mib: float) -> None:
    options = {"max_length": "512", "fp16": "false", "optim": "adamw", "attn_implementation": "eager"}
    found = need(a_job("bert-large-uncased", {**options, "gradient_checkpointing": "false"}), batch_size=4.0)
    assert found.low < mib / 1024 < found.high


def test_memory_grows_with_the_batch_and_the_tokens_and_falls_with_the_gpus() -> None:
    for options in (ADAM, {**ADAM, "gradient_checkpointing": "false"}, {"max_length": "64"}):
        batches = [need(a_job(options=options), batch_size=2.0**n) for n in range(8)]
        assert all(a.mean < b.mean and a.low < b.low and a.high < b.high for a, b in itertools.pairwise(batches))
        gpus = [need(a_job(options={**options, "zero_stage": "3"}), batch_size=64.0, gpus=2.0**n).mean for n in range(1, 6)]
        assert gpus == sorted(gpus, reverse=True)
    assert need(a_job(options={**ADAM, "max_seq_length": "4096"})).mean > need(a_job()).mean


def test_what_is_not_said_widens_the_interval() -> None:
    said, unsaid = need(a_job()), need(a_job(options={"max_length": "2048"}))
    assert unsaid.low < said.low < said.high < unsaid.high
    assert "assumed: mixed precision, Adam" in estimate(a_job(options={"max_length": "2048"}), VALUES).words


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
        assert estimate(job, values) == Estimate()


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


def test_steps_or_samples_of_config_ini_make_a_duration() -> None:
    rate = estimate(a_job(), VALUES).forecast.throughput_samples_per_second
    by_steps = estimate(a_job(options={**ADAM, "max_steps": "100"}), {**VALUES, "batch_size": 4.0}).forecast.duration_seconds
    by_samples = estimate(a_job(options={**ADAM, "num_train_samples": "400"}), VALUES).forecast.duration_seconds
    assert rate is not None
    assert by_steps == by_samples
    assert by_samples is not None
    assert by_samples.mean == pytest.approx(400 / rate.mean)


def test_of_an_unknown_gpu_the_memory_alone_is_known() -> None:
    job = a_job(gpu="unobtainium")
    found = estimate(job, VALUES)
    assert found.forecast == Forecast(metrics={"gpu_memory_gib": need(job)})
    assert found.notes == ()


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


def test_a_gpu_is_found_among_the_words_of_its_name() -> None:
    assert peak_of("NVIDIA Tesla V100-SXM2-16GB") == 15.7e12
    assert peak_of("unobtainium") is peak_of("") is None


def test_arithmetic_of_pictures_holds_the_recorded_runs_it_was_made_from() -> None:
    def seconds(model: str, gpu: str, **values: float) -> Interval | None:
        return estimate(a_job(model, {}, gpu, "cifar10"), values).forecast.duration_seconds

    all_of_it = {"batch_size": 128.0, "epochs": 100.0, "gpus": 1.0}
    found = seconds("ResNet-18", "t4", **all_of_it)
    assert found is not None
    assert found.low < 4028 < found.high  # ../shared/traces, Pollux, 100 epochs of batch 128 on one T4
    assert seconds("ResNet-18", "", **all_of_it) is None
    assert seconds("homemade", "t4", **all_of_it) is None
    assert seconds("ResNet-18", "t4", gpus=1.0) is None
