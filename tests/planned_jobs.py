"""Jobs before their first run, and what is estimated of them."""

from __future__ import annotations

from collections.abc import Mapping

from jpo.plugins.estimates.arithmetic import gpu_memory_gib, rough_forecast
from jpo.plugins.estimates.fits import too_large
from jpo.plugins.estimates.planned_job import PlannedJob, gpu_named, setup_of
from jpo.records import FirstRun, Identity, Interval, Terms

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


def estimate(job: PlannedJob, values: Mapping[str, float]) -> FirstRun:
    setup = setup_of(job, values)
    forecast, words = rough_forecast(job, values, setup)
    return FirstRun(forecast, words, too_large(job, values, setup) if setup else ())


def need(job: PlannedJob, **values: float) -> Interval:
    setup = setup_of(job, {**VALUES, **values})
    assert setup is not None
    return gpu_memory_gib(setup)
