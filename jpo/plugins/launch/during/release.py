"""Release what a run was given and does not use: memory, CPUs, GPUs. Never below the peak of a window of several epochs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

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
NOTICED = 1.1
"""Seconds of an epoch after a release over those before it, from which on the run gets back what it gave."""
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


def pace_after(at: float, times: Sequence[tuple[float, float]], until: float = math.inf) -> float | None:
    """Median seconds of an epoch after a moment over those before it, 1 below NOTICED; None: not known. `times`: epoch, when."""
    paces = [(then, now, (now - then) / (done - before)) for (before, then), (done, now) in pairwise(times) if done > before]
    earlier = [pace for _, now, pace in paces if now <= at]
    later = [pace for then, now, pace in paces if at <= then and now <= until]
    if min(len(earlier), len(later)) < FEWEST_EPOCHS or median(earlier) <= 0:
        return None
    return ratio if (ratio := median(later) / median(earlier)) >= NOTICED else 1.0


def seconds_lost(n: int, made: Sequence[Adjustment], times: Sequence[tuple[float, float]], *, end: float) -> float | None:
    """What a run took longer since the nth decision released CPUs of it, until it got them again, or to its end."""
    at, gave = made[n].at, made[n].release
    if not made[n].applied or gave is None or gave.resource != "cpus" or gave.is_return:
        return None
    until = min((each.at for each in made[n + 1 :] if each.applied and each.release and each.release.is_return), default=end)
    pace = pace_after(at, times, until)
    return None if pace is None else (until - at) * (1 - 1 / pace)


def returns(made: Sequence[Adjustment], times: Sequence[tuple[float, float]], *, now: float) -> Iterator[Adjustment]:
    """The CPUs that a run gets back since its epochs take longer without them, whoever else uses the machine by now."""
    last = next((each for each in reversed(made) if each.applied and each.release and each.release.resource == "cpus"), None)
    if last is None or last.release is None or last.release.is_return or (pace := pace_after(last.at, times) or 1.0) <= 1.0:
        return
    again = ReleasedShare("cpus", last.release.kept, last.release.given, -(last.release.saves_usd_per_hour or 0.0))
    yield Adjustment(now, f"an epoch takes {pace:.2f} times as long without them", again)


def _shown(resource: str, value: float) -> str:
    if resource == "memory_gib":
        return numbers.gib(value)
    return f"{value:.3g} {'GPU' if resource == 'gpus' else 'CPU'}{'' if value == 1 else 's'}"
