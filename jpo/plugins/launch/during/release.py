"""Release what a run was given and does not use: memory, CPUs, GPUs. Never below the peak of a window of several epochs."""

import math
from collections.abc import Iterator, Mapping, Sequence

from jpo.cost import Prices, usd_per_hour
from jpo.plugins.launch.during.adjustment import Adjustment, ReleasedShare, Saving
from jpo.plugins.launch.during.progress import ResourceUse, RunProgress
from jpo.wording import numbers

FEWEST_EPOCHS, FEWEST_LOOKS = 3.0, 5
"""Of a window that tells what a run needs: evaluation and checkpoints come once an epoch."""
HEADROOM: Mapping[str, float] = {"memory_gib": 1.25, "cpus": 1.25, "gpus": 1.0}
"""Multiples of the peak that are kept: a loader that is starved slows the run, and memory that is short kills it."""
STEPS: Mapping[str, float] = {"memory_gib": 0.25, "cpus": 1.0, "gpus": 1.0}
"""What is kept is rounded up to whole ones of these."""
WORTH = 0.3
"""Share of what was given that must become free: less is not worth a change."""
LATEST = 0.9
"""Share of a run after which nothing is released any more: who would get it for so short?"""


def releases(
    uses: Sequence[ResourceUse], progress: RunProgress, parameters: Mapping[str, float], prices: Prices, *, now: float
) -> Iterator[Adjustment]:
    """What can be released, resource by resource, of a run with these parameters, which say what it pays for."""
    if progress.share_done is not None and progress.share_done >= LATEST:
        return
    for use in uses:
        if use.looks < FEWEST_LOOKS or use.epochs is None or use.epochs < FEWEST_EPOCHS:
            continue
        step = STEPS[use.resource]
        least = 0.0 if use.resource == "gpus" else step
        kept = max(least, math.ceil(use.peak * HEADROOM[use.resource] / step - 1e-9) * step)
        if kept > (1 - WORTH) * use.given:
            continue
        before, after = (usd_per_hour({**parameters, use.resource: amount}, prices) for amount in (use.given, kept))
        rate, seconds = None if before is None or after is None else before - after, progress.seconds_left
        usd = None if rate is None or seconds is None else rate * seconds / 3600
        why = f"used at most {_shown(use.resource, use.peak)} of {_shown(use.resource, use.given)} over {use.epochs:g} epochs"
        yield Adjustment(now, why, ReleasedShare(use.resource, use.given, kept, rate), expected=Saving(None, usd))


def _shown(resource: str, value: float) -> str:
    if resource == "memory_gib":
        return numbers.gib(value)
    return f"{value:.3g} {'GPU' if resource == 'gpus' else 'CPU'}{'' if value == 1 else 's'}"
