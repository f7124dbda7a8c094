"""Why: the decision in plain sentences with numbers, and the stable codes that stand for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import HORIZON_RUNS, AcquisitionValues, clearly_better

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jpo.records import Belief, Candidates

    Told = Iterator[tuple[str, str]]
    """Sentences with their codes."""

NEARLY_NOTHING = 0.005
"""Half a percent: less is told as "the same"."""


def without_evidence(runs_finished: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why nothing can be said before the first run that ended well."""
    if not runs_finished:
        told = "no finished run of this workload is known yet; one run with today's values is needed as reference"
        return (told,), ("JPO-I601",)
    return (f"of {runs_finished} finished runs none ended well; one that does is needed as reference",), ("JPO-I610",)


def out_of_failure(
    choice: int, candidates: Candidates, belief: Belief, interval_factor: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why something is tried whatever exploring may cost: today's values only ever failed."""
    failures = int(belief.failures[candidates.current])
    told = f"today's values failed {_times(failures)} and never ended well, and nothing that did is within one step"
    chance = (
        f"{_name(choice, candidates)} comes nearest to it and fails with a chance of {_percent(float(belief.p_fail[choice]))}"
    )
    watched, warnings = of_watch(interval_factor)
    return (f"{told}; {chance}", *watched), ("JPO-W617", *warnings)


def tell(
    choice: int,
    favourite: int,
    step: str,
    candidates: Candidates,
    belief: Belief,
    promise: AcquisitionValues,
    *,
    explore: str,
    left: float,
    interval_factor: float,
    by: str,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences, most important first, and reason codes for a choice that was made with evidence.

    Args:
        favourite: what would have been chosen, were nothing too risky.
        step: see Decision.
        left: of the budget, in runs of today's configuration; negative when it is overspent.
        widen: factor of the calibration watch.
        by: "sac" or "belief".
    """
    told = (
        *_choice(choice, step, candidates, belief, promise, by),
        *_unconfirmed(choice, candidates, belief, promise),
        *_of_today(candidates, belief),
        *_guard(choice, favourite, step, candidates, promise, explore, left),
    )
    texts, codes = zip(*told, strict=True)
    watched, warnings = of_watch(interval_factor)
    return (*texts, *watched), (*codes, *warnings)


def _choice(choice: int, step: str, candidates: Candidates, belief: Belief, promise: AcquisitionValues, by: str) -> Told:
    """What is expected of it."""
    name = _name(choice, candidates)
    if step == "keep":
        better = "to pay off" if by == "sac" else "to be better than today's values"
        yield f"nothing that may be tried is expected {better}", "JPO-I602"
    elif step == "known":
        yield f"{name} {measured(choice, candidates, belief)}", "JPO-I603"
    else:
        text = f"is expected to {_difference(choice, candidates, belief)}; {_risk(choice, promise)}"
        yield f"{name} was not run yet and {text}", "JPO-I604"
        if promise.expected[choice] > promise.expected[promise.incumbent] and by == "belief":
            yield f"trying it may cost a little now and can save over the next {HORIZON_RUNS} runs", "JPO-I605"


def _unconfirmed(choice: int, candidates: Candidates, belief: Belief, promise: AcquisitionValues) -> Told:
    """A single run that is ahead of another configuration by no more than the noise."""
    others = (belief.runs > 0) & (np.arange(len(belief.runs)) != choice)
    if belief.runs[choice] != 1 or not others.any():
        return
    second = int(np.argmin(np.where(others, promise.expected, np.inf)))
    ahead = promise.expected[choice] < promise.expected[second]
    if ahead and not clearly_better(belief, promise.mean, choice, second):
        better = f"that it is better than {_name(second, candidates)} is to be confirmed"
        yield f"{_name(choice, candidates)} has one run so far; {better}", "JPO-I613"


def _of_today(candidates: Candidates, belief: Belief) -> Told:
    if belief.runs[candidates.current] == 0:
        yield "today's values were not run yet: what is expected of them rests on runs of other ones", "JPO-W612"
    if not candidates.admissible[candidates.current]:
        yield "today's values are expected to break the SLA", "JPO-W609"


def _guard(
    choice: int, favourite: int, step: str, candidates: Candidates, promise: AcquisitionValues, explore: str, left: float
) -> Told:
    """What was held back, and what exploring may still cost."""
    if explore == "off":
        if step == "keep":
            yield "exploring is off: only measured values are considered", "JPO-I607"
        return
    if left < 0:
        lost = f"the last suggestions cost {_runs(1 - left)} of today's configuration more than keeping it"
        yield f"{lost}, and 1 is allowed; only measured values are used for now", "JPO-W606"
        return
    if favourite != choice:
        than, risk = _name(favourite, candidates), _risk(favourite, promise)
        if step == "halve":
            yield f"it is a smaller step than to {than}, which may cost more than exploring may; {risk}", "JPO-I614"
        else:
            yield f"{than} looks promising but may cost more than exploring may; {risk}", "JPO-I608"
    if step in ("try", "halve") or favourite != choice:
        yield f"exploring may still cost {_runs(left)} of today's configuration", "JPO-I615"


def of_watch(interval_factor: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the calibration watch found of durations, if anything."""
    if interval_factor <= 1:
        return (), ()
    factor = f"widened by a factor of {interval_factor:.2g}"
    told = f"too few of the last runs took as long as forecast: their intervals and risks are {factor}"
    return (told,), ("JPO-W616",)


def of_loss_watch(interval_factor: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What it found of validation losses."""
    if interval_factor <= 1:
        return (), ()
    factor = f"widened by a factor of {interval_factor:.2g}"
    told = f"too few of the last validation losses came as forecast: intervals of loss are {factor}"
    return (told,), ("JPO-W816",)


def _name(row: int, candidates: Candidates) -> str:
    """What differs from today: "batch_size 128, gpus 2"."""
    now, there = candidates.parameters(candidates.current), candidates.parameters(row)
    return ", ".join(f"{name} {value:g}" for name, value in there.items() if value != now[name]) or "today's configuration"


def measured(row: int, candidates: Candidates, belief: Belief) -> str:
    """How a configuration that was run went, and what is expected of it against today's."""
    runs, failures, stopped = int(belief.runs[row]), int(belief.failures[row]), int(belief.stopped[row])
    badly = " and ".join(f"{how} {_times(n)}" for how, n in (("failed", failures), ("was stopped", stopped)) if n)
    difference = f"is expected to {_difference(row, candidates, belief)}"
    if not runs:
        return f"{badly} and {difference} when it ends well"
    return f"was run {_times(runs)}{f', {badly}' if badly else ''} and {difference}"


def _risk(row: int, promise: AcquisitionValues) -> str:
    return f"chance of being more than 10% worse than today: {_percent(promise.p_worse_today[row])}"


def _runs(n: float) -> str:
    """A number of runs: "0.6 runs", "1 run"."""
    told = f"{n:.1f}".removesuffix(".0")
    return f"{told} run{'' if told == '1' else 's'}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _difference(row: int, candidates: Candidates, belief: Belief) -> str:
    """The belief's mean against today: "take 21% less time and cost 5% more"."""
    time, cost, loss = (
        float(belief.weights @ (log[:, row] - log[:, candidates.current]))
        for log in (belief.log_time, belief.log_cost, belief.log_loss)
    )
    parts = [_change("take", time, "time")]
    if candidates.priced:
        parts.append(_change("cost", cost, ""))
    if belief.val_loss is not None and abs(loss) > NEARLY_NOTHING:
        parts.append(_change("end with", loss, "validation loss"))
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _change(verb: str, log_ratio: float, what: str) -> str:
    if abs(log_ratio) < NEARLY_NOTHING:
        return f"{verb} the same {what}".rstrip()
    share = abs(math.expm1(log_ratio))
    return f"{verb} {_percent(share)} {'less' if log_ratio < 0 else 'more'} {what}".rstrip()


def _percent(share: float) -> str:
    return "less than 1%" if 0 < share < NEARLY_NOTHING else f"{100 * share:.0f}%"
