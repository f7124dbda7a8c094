"""Caution of an allocation: a ladder from bold to careful, and the step that kept its promise on executions it had not seen.

No step suits all traces: where phases are alike from run to run a bold one misses nothing, where each run is new a careful
one is due. So a fit tries all steps on executions that were left out, and takes for CPU and memory the pair that allocates
least among those of whose missed samples one can be sure that they stay within what is allowed. A run that misses more climbs
the ladder itself.

Source of the idea: Angelopoulos et al., "Conformal Risk Control", ICLR 2024; a bound by the standard error is simpler.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from jpo.plugins.phases.traces import Floats
from jpo.wording.numbers import counted

Pair = tuple[int, int]
"""Steps for CPU and memory."""
MISSES = 0.05
"""Share of samples whose demand, CPU's or memory's, may be more than what was allocated, where nobody says another."""
CONFIDENCE = 1.645
"""Standard errors by which the promise must be kept: in 95 of 100 fits."""
LITTLE = "JPO-W875"
FOLDS = 3
"""Parts of the executions that are left out one after the other."""
TRIED_AT_ONCE = 4
"""Pairs of steps between which the cheapest that keeps the promise is looked for."""
NO_MISS = -float(np.log(0.05))
"""Misses that are still likely where as many samples as were tried had none."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the ladder.

    Attributes:
        soon: quantile of the need within the horizon for which is allocated.
        next: quantile of the next sample's need from which more is allocated.
        margin: what is added to a need; half of it is the least above the last sample.
        window: what the run itself used in the last minutes counts, not what phases say.
        least: share of the peak in training below which nothing is requested.
    """

    soon: float
    next: float
    margin: float
    window: bool = False
    least: float = 0.0


LADDER = (
    Step(soon=0.80, next=0.05, margin=0.02),
    Step(soon=0.90, next=0.10, margin=0.02),
    Step(soon=0.95, next=0.25, margin=0.02),
    Step(soon=0.95, next=0.25, margin=0.05),
    Step(soon=0.975, next=0.50, margin=0.10),
    Step(soon=0.99, next=0.90, margin=0.15),
    Step(soon=1.0, next=1.0, margin=0.05, window=True),
    Step(soon=1.0, next=1.0, margin=0.10, window=True),
    Step(soon=1.0, next=1.0, margin=0.20, window=True),
    Step(soon=1.0, next=1.0, margin=0.40, window=True),
)
"""Two ladders, each from bold to careful: by phases (up to what KRR and the vertical pod autoscaler add), and by the most of the
last minutes, for workloads with runs that are all new."""
CAREFUL = next(at for at, step in enumerate(LADDER) if step.window) - 1
"""The most careful step by phases: where nothing keeps the promise."""
PROVABLE = math.ceil(NO_MISS / MISSES)
"""Samples: fewer prove nothing, even where none of them is missed."""
HELD = len(LADDER)
STEPS = (*LADDER, replace(LADDER[-1], least=1.4))
"""The ladders, and the step of what nothing is known of: what was used at most is held, and what another run may use besides."""


@dataclass(frozen=True, eq=False, slots=True)
class StepTrial:
    """What a step did on executions that the model had not seen.

    Attributes:
        missed: shape (steps, 2), samples whose demand was not met.
        either: shape (steps,), samples whose demand for CPU or memory was not met.
        allocated: shape (steps, 2), sum of allocations over the run's own peak.
        samples: of how many.
        spells: shape (steps,), how often such samples began to be missed.
    """

    missed: Floats
    either: Floats
    allocated: Floats
    samples: int
    spells: Floats

    def with_(self, other: "StepTrial") -> "StepTrial":
        return StepTrial(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(StepTrial)))

    @property
    def independent(self) -> float:
        """As how many independent samples they count, since a miss lasts: if another one follows with a probability of a, and
        spells are 1 / (1 - a) long, the variance of their share is (1 + a) / (1 - a) times as large."""
        return self.samples / (2 * max(float(self.either.sum() / max(self.spells.sum(), 1.0)), 1.0) - 1)


def cheapest(tried: Callable[[Sequence[Pair]], StepTrial], misses: float = MISSES) -> Pair | None:
    """The steps for CPU and memory that allocate least and keep the promise; None where none does.

    A run climbs its ladder by the misses of both, so that what a step misses depends on the other one: each is tried for both,
    and then the pairs that this promises, until one keeps it, all on executions that the model has not seen.
    """
    pairs = _promising(tried([(step, step) for step in range(len(LADDER))]), misses)
    for at in range(0, len(pairs), TRIED_AT_ONCE):
        some = pairs[at : at + TRIED_AT_ONCE]
        trial = tried(some)
        kept = [pair for pair, missed in zip(some, trial.either, strict=True) if _keeps(missed, trial, misses)]
        if kept:
            return kept[0]
    return None


def _promising(trial: StepTrial, misses: float) -> list[Pair]:
    """Pairs of which no step misses too much, the one that seems to allocate least first."""
    # a bolder step that happened to miss less than a careful one was lucky
    ladders = np.split(trial.missed, [CAREFUL + 1])
    missed = np.concatenate([np.maximum.accumulate(ladder[::-1])[::-1] for ladder in ladders])
    cpu, memory = ([step for step, count in enumerate(counts) if _keeps(count, trial, misses)] for counts in missed.T)
    return sorted(product(cpu, memory), key=lambda pair: float(trial.allocated[pair[0], 0] + trial.allocated[pair[1], 1]))


def _keeps(missed: float, trial: StepTrial, misses: float) -> bool:
    """Whether one can be sure of the promise; of few samples without a miss the standard error says nothing, NO_MISS does."""
    share = min(missed / trial.samples, 1.0)
    error = np.sqrt(share * (1 - share) / trial.independent)
    return bool(max(share + CONFIDENCE * error, NO_MISS / trial.independent) <= misses)


@dataclass(frozen=True, slots=True)
class Caution:
    """Steps for CPU and memory, and what they did on blocks of one execution, where they were tried on these."""

    steps: Pair
    blocks: StepTrial | None = None


def untried(executions: int, samples: int) -> int:
    """The step of a model that was tried on nothing, by what it has seen."""
    return HELD if executions == 1 or samples < PROVABLE else CAREFUL


def little_known(executions: int, samples: int, caution: Caution) -> tuple[str, ...]:
    """What requests cannot know, what they do about it, and at what price; nothing where they were tried on executions."""
    few, remedy = counted(executions, "execution"), f"fit on {FOLDS} executions or more"
    if trial := caution.blocks:
        met, (cpu, memory) = 1 - trial.either[0] / trial.samples, trial.allocated[0] / trial.samples
        price = f"{met:.1%} of the samples met at {cpu:.2f} (CPU) and {memory:.2f} (memory) of a block's peak"
        return (f"{few} left requests to be tried on blocks left out of the longest: {price} [{LITTLE}]",)
    if caution.steps == (HELD, HELD):
        finding = f"{few} of {counted(samples, 'sample')} cannot say how much others miss"
        return (f"{finding}: requests stay {STEPS[HELD].least - 1:.0%} above the peak; {remedy}, or on a longer one [{LITTLE}]",)
    if executions < FOLDS:
        return (f"{few} leave too little to try requests on: they are as careful as can be; {remedy} [{LITTLE}]",)
    return ()


def step_at(step: int, climbed: int) -> Step:
    """The step so much further up its ladder, its end at most."""
    if step >= len(LADDER):
        return STEPS[step]
    return LADDER[min(step + climbed, CAREFUL if step <= CAREFUL else len(LADDER) - 1)]
