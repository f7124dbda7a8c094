"""A job before its first run: what config.ini says of its model and training, and the GPU that it is to run on."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jpo.files.reading import number_or_nan
from jpo.forecast.descriptors import size_of
from jpo.plugins.estimates.shape import Transformer, inferred, named, rows_of
from jpo.plugins.estimates.ways import Way, said_in, ways_of
from jpo.records import PARAMETERS, Identity, Parameters, Terms, Word, Workload

MOST = 1e7
"""Of layers, widths, tokens, samples, epochs and hours: more is a typing error."""
MOST_PARAMETERS = 1e14
TRAINED = 0.9
"""Share of its parameters below which a model is trained in part: adapters are not worked out."""


@dataclass(frozen=True, slots=True)
class GpuType:
    """Type of a GPU. None: not known.

    Attributes:
        name: its type, as people call it.
        peak16: operations a second on numbers of 16 bits.
        watts: the most that it draws.
    """

    name: str
    memory_gib: float | None = None
    peak16: float | None = None
    watts: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job that has not run yet.

    Attributes:
        options: name of each option of config.ini in which JPO sees no parameter of its own -> text.
        names: parameter -> the option that says it.
        terms: in which terms batch size and GPUs are said.
        facts: model_parameters and model_layers, as runs here printed them or the script writes them.
    """

    identity: Identity
    options: Mapping[str, str]
    names: Mapping[str, str]
    terms: Terms
    gpu: GpuType
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setup:
    """How one configuration of a job trains, as far as that is known.

    Attributes:
        samples: on one GPU at one time.
        tokens: of one sample.
        ways: the usual one, that with the least memory, that with the most.
        said: what config.ini says of it, by ways.KEYS.
    """

    shape: Transformer
    samples: float
    tokens: float
    gpus: float
    ways: tuple[Way, Way, Way]
    said: Mapping[str, str]


def planned(workload: Workload, gpu_type: str | None, memory_gib: float | None) -> PlannedJob:
    """The job of a config.ini. `gpu_type`, `memory_gib`: of its GPUs, where the user or a price catalogue says them."""
    own = {p.key.rpartition(".")[2]: p.text for p in workload.parameters if p.name not in PARAMETERS}
    options = {key.rpartition(".")[2]: text for key, _, text in workload.others} | own
    names = {p.name: p.key.rpartition(".")[2] for p in workload.parameters}
    gpu = gpu_named(gpu_type or workload.identity.hardware or "")
    return PlannedJob(workload.identity, options, names, workload.terms, replace(gpu, memory_gib=memory_gib or gpu.memory_gib))


def gpu_named(text: str) -> GpuType:
    """The GPU of a name such as "a100-80gb" or "NVIDIA A100-SXM4-80GB"; a slice of one (MIG) is not known."""
    said = re.search(r"\b([1-9][0-9]{0,3})gb\b", text.lower())
    size = float(said[1]) if said else None
    row = next((row for row in rows_of("gpus.csv") if row["name"] in re.findall("[a-z0-9]+", text.lower())), None)
    if row is None or re.search(r"\bmig\b|[0-9]g\.", text.lower()):
        return GpuType(text, size)
    return GpuType(text, size or float(row["memory_gib"]), 1e12 * float(row["peak16_tflops"]), float(row["watts"]))


def setup_of(job: PlannedJob, values: Parameters) -> Setup | None:
    """How a configuration trains; None where its model, its batch or the length of a sample is not known, or cannot be."""
    chosen = {job.names[name]: f"{value}" for name, value in values.items() if name not in PARAMETERS and name in job.names}
    said = said_in({**job.options, "model": job.identity.model, **chosen})
    shape = None if said is None else shape_of(job, said, values)
    batch, gpus = values.get("batch_size", math.nan), values.get("gpus", 1.0 if job.gpu.name else 0.0)
    if said is None or shape is None or isinstance(batch, Word) or gpus < 1:
        return None
    samples = batch / gpus / (job.terms.accumulation_steps or 1)
    tokens = number_or_nan(said["tokens"]) if "tokens" in said else size_of(job.identity.dataset) or math.nan
    widths = shape.layers, shape.hidden, shape.intermediate, shape.attention, shape.vocabulary
    if not all(1 <= number <= MOST for number in (*widths, batch, gpus, tokens)) or samples <= 0:
        return None
    return Setup(shape, samples, tokens, gpus, ways_of(said, encoder=shape.kind == "encoder", gpus=gpus, tokens=tokens), said)


def shape_of(job: PlannedJob, said: Mapping[str, str], values: Parameters) -> Transformer | None:
    """The model by its name, with as many layers as config.ini says; else one of GPT's form, by its widths, or by how many
    parameters it has where all of them are trained and samples have tokens."""
    layers = values.get("num_layers")
    if known := named(job.identity.model):
        return known if layers is None else replace(known, layers=layers)
    hidden, heads, vocabulary = (number_or_nan(said.get(name, "")) for name in ("hidden", "heads", "vocabulary"))
    if layers is None or math.isnan(hidden + heads + vocabulary):
        count = job.facts.get("model_parameters", 0.0)
        if (
            not 1 <= count <= MOST_PARAMETERS
            or job.facts.get("trainable_parameters", count) < TRAINED * count
            or "tokens" not in said
        ):
            return None
        depth = job.facts.get("model_layers", 0.0)
        found = inferred(count, depth if 1 <= depth <= MOST else None)
        return found if layers is None else replace(found, layers=layers)
    intermediate = number_or_nan(said["intermediate"]) if "intermediate" in said else 4 * hidden
    return Transformer(f"a transformer of {layers:g} layers", layers, hidden, intermediate, heads, hidden, hidden, vocabulary)
