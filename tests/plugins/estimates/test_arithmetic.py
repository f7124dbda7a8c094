"""Rough forecasts of known jobs: what is published of them, and what must hold of any."""

from __future__ import annotations

import itertools

import pytest
from planned_jobs import ADAM, VALUES, a_job, estimate, need

from jpo.plugins.estimates.arithmetic import peak_of
from jpo.records import Forecast, Interval


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


def test_a_run_of_centuries_is_a_typing_error() -> None:
    assert estimate(a_job(options={**ADAM, "max_steps": "1e300"}), VALUES).forecast.duration_seconds is None
    for epochs, known in ((90.0, True), (1e20, False)):
        found = estimate(a_job("resnet-50", {}, dataset="imagenet"), {**VALUES, "epochs": epochs}).forecast
        assert (found.duration_seconds is not None) == known


def test_large_numbers_are_written_as_people_read_them() -> None:
    words = estimate(a_job(options={**ADAM, "max_seq_length": "1048576"}), {**VALUES, "batch_size": 256.0}).words
    assert "1048576 tokens a sample" in words
    assert "e+" not in words
