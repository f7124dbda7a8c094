"""Training jobs drawn at random on a set of candidates: the prior of the belief, and the jobs on which the agent is trained.

Two kinds of jobs are drawn: those that train until a target is reached, with `epochs` as a cap, and those that train a fixed
number of epochs and end with any loss. Today's configuration works in nearly all of them, because the user runs it.
What changes from run to run is in drift.py, demand within a run in resource_usage.py.
"""

import numpy as np

from jpo.records import Bools, Candidates, Draws, Floats
from jpo.simulate.knobs import LN2, Knobs, knobs_of, numbered, unknown_effects
from jpo.simulate.latents import Latents
from jpo.simulate.learning import epochs_factor
from jpo.simulate.power import log_power, under_limit
from jpo.simulate.speed import host_memory_exceeded, step_time

WIDEST = 6.0
"""Largest natural log of any ratio: 400 times today's is as bad as more, and stays finite in every sum."""


def draw_jobs(candidates: Candidates, jobs: int, rng: np.random.Generator) -> Draws:
    """Random jobs on candidates of any columns, shape (jobs, K), the current one exactly 0; 1,000 x 200 take some 10 ms."""
    return jobs_of(candidates, Latents(jobs, int(rng.integers(2**63))))


def jobs_of(candidates: Candidates, latents: Latents) -> Draws:
    """The jobs of these latents. Rows that train the same model, or take the same step, are computed once: few are left."""
    knobs = knobs_of(candidates)
    steps = numbered(knobs.batch, knobs.resources.gpus, knobs.resources.cpus, knobs.layers)
    models = numbered(knobs.batch, knobs.rate, knobs.layers, knobs.epochs, *knobs.others, *knobs.words)
    step, model = knobs.at(steps), knobs.at(models)
    speed = step_time(step, latents)
    factor, diverges = epochs_factor(model, latents)
    to_target = latents.happens("to target", 0.5)
    needed, too_late = _epochs_to_target(model, factor, latents)
    log_epochs = np.where(to_target, needed, LN2 * model.epochs).take(models, axis=1)
    log_loss = np.where(to_target, 0.0, _final_loss(model, factor, latents))
    log_loss = log_loss + _local_noise(latents, "luck of loss", 0.03, len(model.batch))
    slowed, drawn = under_limit(knobs, latents)
    if len(knobs.others) or len(knobs.words):  # in half of the jobs some compile, cast or load differently
        effects = np.where(latents.happens("others slow", 0.5), latents.uniform("others step", 0, 0.3), 0.0)
        slowed = slowed + effects * unknown_effects(knobs, latents, "step ")
    log_step, power = speed.log_step.take(steps, axis=1), log_power(speed.log_busy, latents).take(steps, axis=1)
    log_time = _with_start(log_epochs + log_step + slowed - LN2 * knobs.batch, knobs, latents)
    luck = _local_noise(latents, "luck of time", 0.15, len(steps))
    floor, bend = _learning_curve(latents)  # slope: from a quarter of today's run to its end, as it is measured
    slope = -np.log(floor + (1 - floor) * np.exp2(2 * bend)) / (2 * LN2)
    fails = speed.out_of_memory.take(steps, axis=1) | host_memory_exceeded(knobs, latents)
    return Draws(
        log_time=_relative(log_time + luck, knobs.current),
        log_loss=_relative(log_loss, model.current).take(models, axis=1),
        log_utilisation=_relative(speed.log_busy, step.current).take(steps, axis=1),
        log_power=_relative(power + drawn, knobs.current),
        fails=fails | (diverges | (to_target & too_late)).take(models, axis=1),
        log_throughput=_relative(log_epochs - log_time - np.where(to_target, 0.0, luck), knobs.current),
        to_target=to_target[:, 0],
        loss_slope=np.where(to_target, np.nan, slope)[:, 0],
        loader_share=speed.loader_share,
    )


def _with_start(log_time: Floats, knobs: Knobs, latents: Latents) -> Floats:
    """Log time with the share of today's run that no knob changes: pulling the image, loading data, saving the model. Assumed."""
    share = latents.log_uniform("start", 0.005, 0.3)
    return np.asarray(np.log((1 - share) * np.exp(_relative(log_time, knobs.current)) + share))


def _epochs_to_target(knobs: Knobs, factor: Floats, latents: Latents) -> tuple[Floats, Bools]:
    """Natural log of the epochs up to the target, and where the cap comes first.

    Today's run uses a share of its cap, above 1 (it fails today) in 2% of the jobs. Half of the jobs check the target only after
    whole epochs.
    """
    share = latents.log_uniform("share of cap", 0.1, 1.05)
    now = latents.log_uniform("epochs", 2, 80) if knobs.epochs_now is None else share * knobs.epochs_now
    cap = np.ceil(now / share - 1e-9) * np.exp2(knobs.epochs)
    needed = now * np.exp(np.clip(factor, -2 * WIDEST, 2 * WIDEST))
    needed = np.where(latents.happens("whole epochs", 0.5), np.ceil(needed - 1e-9), needed)
    return np.log(needed), np.asarray(needed > cap * (1 + 1e-9))


def _final_loss(knobs: Knobs, factor: Floats, latents: Latents) -> Floats:
    """ln of the loss after the fixed epochs: floor + (1 - floor) progress^-power, in 30% of the jobs worse with the batch.

    Floor and power give slopes d ln loss / d ln epochs of -.09 (quartiles -.23 and -.04) at today's end, as LCBench's recorded
    curves have them (-.10, -.23, -.03); with slopes of -.20, every larger batch seemed to cost the model.

    Source: power law, Hestness et al., "Deep Learning Scaling is Predictable, Empirically", 2017; generalisation gap of large
    batches, Keskar et al., ICLR 2017.
    """
    progress = LN2 * knobs.epochs - factor  # ln of epochs of today's progress, relative to today
    floor, power = _learning_curve(latents)
    gap = np.where(latents.happens("gap", 0.3), latents.uniform("gap per doubling", 0, 0.05), 0.0) * np.maximum(knobs.batch, 0.0)
    return np.asarray(np.log(floor + (1 - floor) * np.exp(np.clip(-power * progress, -WIDEST, WIDEST))) + gap)


def _learning_curve(latents: Latents) -> tuple[Floats, Floats]:
    """Floor, relative to today's loss, and power of the loss, both (J, 1)."""
    return latents.uniform("loss floor", 0.2, 0.98), latents.log_uniform("loss power", 0.05, 1.5)


def _local_noise(latents: Latents, name: str, largest: float, rows: int) -> Floats:
    """Noise of single configurations, independent of their neighbours, once per job: sd 0 in 30% of jobs, else to `largest`.

    Drawn in order, so that one more candidate at the end changes nothing at the others.
    """
    deviation = np.where(latents.happens(f"{name} is none", 0.3), 0.0, latents.uniform(name, 0, largest))
    return np.asarray(deviation * latents.rng(f"{name} there").standard_normal((rows, latents.jobs)).T)


def _relative(logs: Floats, current: int) -> Floats:
    """Logs relative to today's column."""
    return np.asarray(np.clip(logs - logs[:, [current]], -WIDEST, WIDEST))
