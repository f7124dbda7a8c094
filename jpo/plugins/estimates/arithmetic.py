"""Arithmetic of a run that was never made: memory of a GPU, throughput, duration and energy, with intervals that are wide."""

import math

from jpo.files.reading import number_or_nan
from jpo.forecast.descriptors import described, operations_per_sample, samples_of, table
from jpo.forecast.similar import SPEED_UP, around
from jpo.plugins.estimates.planned_job import MOST, PlannedJob, Setup
from jpo.plugins.estimates.ways import Way
from jpo.records import HALF_WIDTH, Forecast, Interval, Parameters
from jpo.wording.numbers import plain

GIB = 2.0**30
OUTSIDE = 1.3
"""GiB that a process holds besides: CUDA's kernels (1,343 MiB on a V100, Hugging Face's "Model training anatomy", 2022)."""
MEMORY_ERROR = 0.15
"""Standard deviation of ln memory. Nine runs of BERT-large that Hugging Face measured took 1.04 to 1.22 of what comes out here.
Of 454 with Llama none ran out of memory whose estimate was below 80% of it (Fujii et al., arXiv 2411.06465)."""
SHARE, ERROR, ERROR_16_BIT = 0.3, 1.1, 0.7
"""Share of a processor's peak that training reaches, and standard deviations of its ln. 32 bits: three recorded jobs reached 0.51
(ResNet-18, T4), 0.57 (ResNet-50, V100) and 0.12 (ShuffleNet, V100). 16 bits: MPT 0.44 on H100 and 0.55 on A100 (llm-foundry),
fine-tuning 0.45, 0.31, 0.10 on A100, H100, L40S (kavier's fits), BERT-large 0.15 and 0.11 on V100 (Hugging Face, NVIDIA)."""
POWER = Interval(0.75, 0.5, 1.0)
"""Share of its limit of power that a GPU draws while it trains: half at least, by assumption, and never more."""


def rough_forecast(job: PlannedJob, values: Parameters, setup: Setup | None) -> tuple[Forecast, str]:
    """What one run of a configuration takes and needs, and in words what that rests on, empty where too little is known.

    `setup`: of a language model; None: another one, or one of which too little is said.
    """
    if setup is None:
        seconds = seconds_by_descriptors(job, values)
        on = job.gpu.name if values.get("gpus", 0.0) > 0 else "CPU cores"
        words = f"a rough forecast before the first run: arithmetic of {job.identity.model} on {on}"
        return _forecast(None, seconds, None, job, values), words if seconds else ""
    memory, rate = gpu_memory_gib(setup), throughput(setup, job)
    seconds = rate and _duration(setup, rate, job, values)
    on = f" on {setup.gpus:g} {job.gpu.name}" if job.gpu.name else ""
    step = f"; a step takes about {plain(float(format(values['batch_size'] / rate.mean, '.2g')))} s" if rate else ""
    tokens = f"{plain(setup.tokens)} tokens a sample"
    words = f"a rough forecast before the first run: arithmetic of {setup.shape.name}{on}, {tokens}{step}"
    return _forecast(rate, seconds, memory, job, values), words + assumed(setup)


def seconds_by_descriptors(job: PlannedJob, values: Parameters) -> Interval | None:
    """Seconds from the operations of all epochs and the speed of the processors; None where a descriptor is missing."""
    per_sample, samples, epochs = operations_per_sample(job.identity), samples_of(job.identity.dataset), values.get("epochs")
    gpus, cpus = values.get("gpus", 0.0), values.get("cpus", 0.0)
    core = 1e12 * float(table()["cpu", "core"]["peak_tflops"])
    peak, devices = (peak_of(job.gpu.name), gpus) if gpus > 0 else (core, cpus)
    if per_sample is None or samples is None or not epochs or epochs > MOST or peak is None or devices <= 0:
        return None
    return around(math.log(per_sample * samples * epochs / (peak * SHARE * devices**SPEED_UP)), ERROR)


def peak_of(gpu: str) -> float | None:
    """Peak FP32 operations per second of one GPU of this type."""
    row = described("gpu", gpu) if gpu else None
    return 1e12 * float(row["peak_tflops"]) if row else None


def assumed(setup: Setup) -> str:
    """What is taken for granted since config.ini does not say it."""
    usual = {"precision": "mixed precision", "optimizer": "Adam"}
    usual |= {"shards": "the whole model on each GPU"} if setup.gpus > 1 else {}
    unsaid = [words for what, words in usual.items() if what not in setup.said]
    return f"; not said, so assumed: {', '.join(unsaid)}" if unsaid else ""


def gpu_memory_gib(setup: Setup) -> Interval:
    """GiB that a run needs of each GPU: the usual way to train, from the least that what is not said allows to the most."""
    usual, least, most = (_gib(setup, way) for way in setup.ways)
    reach = math.exp(HALF_WIDTH * math.hypot(MEMORY_ERROR, setup.shape.doubt))
    return Interval(usual, min(usual, least) / reach, max(usual, most) * reach)


def _gib(setup: Setup, way: Way) -> float:
    shape, here = setup.shape, setup.samples * setup.tokens
    among = [setup.gpus if way.shards >= stage else 1.0 for stage in (3, 2, 1)]  # of weights, gradients, states
    each = way.weight, way.weight, way.weight * way.states
    kept = shape.parameters * sum(size / parts for size, parts in zip(each, among, strict=True))
    if way.shards == 3:
        kept += 2 * shape.layer_parameters * way.weight  # a layer, and the next one on its way
    scores = way.scores * shape.attention * setup.tokens * (2 * way.activation + 1)
    layer = here * (shape.saved * way.activation + scores)
    inputs = here * shape.hidden * way.activation
    activations = shape.layers * inputs + layer if way.recomputes else shape.layers * layer
    return (kept + activations + here * shape.vocabulary * way.logits) / GIB + OUTSIDE


def throughput(setup: Setup, job: PlannedJob) -> Interval | None:
    """Samples a second on all GPUs; None where the speed of the GPU is not known."""
    usual, _, most = setup.ways
    single = usual.activation == 4
    peak = peak_of(job.gpu.name) if single else job.gpu.peak16
    error = ERROR if most.activation == 4 else ERROR_16_BIT  # 32 bits may be meant, or TF32
    if peak is None:
        return None
    work = setup.shape.operations(setup.tokens) * (4 / 3 if usual.recomputes else 1)
    return around(math.log(peak * SHARE * setup.gpus / work), math.hypot(error, setup.shape.doubt))


def _duration(setup: Setup, rate: Interval, job: PlannedJob, values: Parameters) -> Interval | None:
    """Of all steps, or of all epochs on all samples; None where neither is said."""
    samples = number_or_nan(setup.said["samples"]) if "samples" in setup.said else samples_of(job.identity.dataset)
    steps = number_or_nan(setup.said.get("steps", ""))
    work = steps * values["batch_size"] if steps > 0 else (samples or math.nan) * values.get("epochs", math.nan)
    return Interval(work / rate.mean, work / rate.high, work / rate.low) if 0 < work / rate.mean <= 3600 * MOST else None


def _forecast(
    rate: Interval | None, seconds: Interval | None, memory: Interval | None, job: PlannedJob, values: Parameters
) -> Forecast:
    """The forecast of these, with the energy of the GPUs where their power is known."""
    watts = (job.gpu.watts or 0.0) * values.get("gpus", 1.0)
    metrics = {"gpu_memory_gib": memory} if memory else {}
    if seconds and watts:
        low, high = seconds.low * POWER.low * watts, seconds.high * POWER.high * watts
        metrics["energy_joules"] = Interval(seconds.mean * POWER.mean * watts, low, high)
    return Forecast(duration_seconds=seconds, throughput_samples_per_second=rate, metrics=metrics)
