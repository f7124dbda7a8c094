"""Warning before the first run: it needs more memory than a GPU has, by arithmetic; with the nearest configuration that fits."""

from collections.abc import Iterator
from dataclasses import replace

from jpo.plugins.estimates.arithmetic import gpu_memory_gib
from jpo.plugins.estimates.planned_job import PlannedJob, Setup, setup_of
from jpo.records import Note, Parameters, Terms, advice
from jpo.wording.numbers import plain

CODE = "JPO-W871"
COMFORTABLE = 0.8
"""Share of a GPU's memory below which no estimate of Fujii et al. (arithmetic.py) ran out of it."""
DOUBLINGS = 10
TYPING_ERROR = 1e6
"""GiB of one GPU; of what needs more nothing is known."""


def too_large(job: PlannedJob, values: Parameters, setup: Setup) -> tuple[Note, ...]:
    """The warning that a run needs more memory than a GPU has, where that is so; nothing where its memory is not known."""
    need, has = gpu_memory_gib(setup), job.gpu.memory_gib
    if has is None or not has < need.mean < TYPING_ERROR:
        return ()
    fits = "will not fit" if need.low > has else f"may not fit ({need.low:.0f} to {need.high:.0f})"
    needs = f"By rough arithmetic a run needs about {need.mean:.0f} GiB on each GPU, which has {has:.0f}, and {fits}"
    return (advice(CODE, needs, _nearest(job, values, COMFORTABLE * has)),)


def _nearest(job: PlannedJob, values: Parameters, most: float) -> str:
    """The first of the changes that config.ini allows with which it fits, in words."""
    for words, other, changed in _changes(job, values):
        setup = setup_of(other, changed)
        if setup and (need := gpu_memory_gib(setup).mean) <= most:
            return f"{words} would need about {need:.0f}"
    setup = setup_of(job, {**values, "batch_size": 1.0 * values.get("gpus", 1.0) * (job.terms.accumulation_steps or 1)})
    alone = f"one sample alone needs about {gpu_memory_gib(setup).mean:.0f}" if setup else "no smaller batch helps"
    return f"{alone}: divide the model among GPUs (FSDP, ZeRO), or train a part of it (LoRA)"


def _changes(job: PlannedJob, values: Parameters) -> Iterator[tuple[str, PlannedJob, Parameters]]:
    """Changes of what config.ini says, those first that leave the training as it is: more accumulation steps for the same batch,
    activations computed anew, a smaller batch, more GPUs."""
    batch, gpus, steps = values["batch_size"], values.get("gpus", 1.0), job.terms.accumulation_steps or 1.0
    share = batch / gpus / steps
    halves = [2.0**n for n in range(1, DOUBLINGS) if share / 2**n >= 1]
    for factor in (half for half in halves if job.terms.accumulation_steps and share % half == 0):
        terms = replace(job.terms, accumulation_steps=steps * factor)
        smaller_share = f"{_said(job, terms, values, 'batch_size')} with " if terms.batch_per_device else ""
        yield f"{smaller_share}{plain(steps * factor)} accumulation steps", replace(job, terms=terms), values
    for name, text in job.options.items():
        if name.lower() in ("gradient_checkpointing", "activation_checkpointing") and text.lower() == "false":
            yield f"{name} = true", replace(job, options={**job.options, name: "true"}), values
    for factor in halves:
        smaller = {**values, "batch_size": share // factor * gpus * steps}
        yield _said(job, job.terms, smaller, "batch_size"), job, smaller
    for factor in (2.0, 4.0, 8.0) if "gpus" in job.names else ():
        if job.terms.batch_per_device or share % factor == 0:
            more = job.terms.with_chosen(values, {"gpus": gpus * factor})
            yield _said(job, job.terms, more, "gpus"), job, more


def _said(job: PlannedJob, terms: Terms, values: Parameters, name: str) -> str:
    """A parameter as config.ini would say it."""
    return f"{job.names[name]} = {plain(terms.in_file(values)[name])}"
