"""Why: the decision in plain sentences with numbers, and the stable codes that stand for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.prospects import HORIZON_RUNS, Prospects

if TYPE_CHECKING:
    from jpo.records import Belief, Candidates

NEARLY_NOTHING = 0.005
"""Half a percent: less is told as "the same"."""


def without_evidence(runs_finished: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why nothing can be said before the first run that ended well."""
    if not runs_finished:
        told = "no finished run of this workload is known yet; one run with today's values is needed as reference"
        return (told,), ("JPO-I601",)
    return (f"of {runs_finished} finished runs none ended well; one that does is needed as reference",), ("JPO-I610",)


def tell(
    choice: int,
    candidates: Candidates,
    belief: Belief,
    promise: Prospects,
    *,
    explore: str,
    confidence: float,
    spent: bool,
    by: str,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences, most important first, and reason codes for a choice that was made with evidence."""
    told: list[tuple[str, str]] = []
    if choice == candidates.current:
        better = "to pay off" if by == "sac" else "to be better than today's values"
        told.append((f"nothing that may be tried is expected {better}", "JPO-I602"))
    elif belief.runs[choice] + belief.failures[choice] > 0:
        told.append((f"{_name(choice, candidates)} {_measured(choice, candidates, belief)}", "JPO-I603"))
    else:
        risk = _percent(promise.p_worse_today[choice])
        text = (
            f"is expected to {_difference(choice, candidates, belief)}; chance of being more than 10 % worse than today: {risk}"
        )
        told.append((f"{_name(choice, candidates)} was not run yet and {text}", "JPO-I604"))
        if promise.expected[choice] > promise.expected[promise.incumbent] and by == "belief":
            told.append((f"trying it may cost a little now and can save over the next {HORIZON_RUNS} runs", "JPO-I605"))
    if belief.runs[candidates.current] == 0:
        told.append(("today's values were not run yet: what is expected of them rests on runs of other ones", "JPO-W612"))
    if not candidates.admissible[candidates.current]:
        told.append(("today's values are expected to break the SLA", "JPO-W609"))
    if spent:
        told.append(("recent runs cost more than always keeping would have; only measured values are used for now", "JPO-W606"))
    elif explore == "off" and choice == candidates.current:
        told.append(("exploring is off: only measured values are considered", "JPO-I607"))
    elif explore == "safe" and (held := _held_back(choice, candidates, promise, confidence)) is not None:
        chance = _percent(promise.p_worse[held])
        base = "today" if promise.incumbent == candidates.current else "the best that was run"
        told.append(
            (
                f"{_name(held, candidates)} looks promising but may be more than 10 % worse than {base} (chance {chance})",
                "JPO-I608",
            )
        )
    texts, codes = zip(*told, strict=True)
    return texts, codes


def _held_back(choice: int, candidates: Candidates, promise: Prospects, confidence: float) -> int | None:
    """The row which the belief rule would take, were it not too risky for `explore = "safe"`."""
    first = int(np.argmin(np.where(candidates.admissible, promise.score, np.inf)))
    return first if first != choice and promise.p_worse[first] > 1 - confidence else None


def _name(row: int, candidates: Candidates) -> str:
    """What differs from today: "batch_size 128, gpus 2"."""
    now, there = candidates.parameters(candidates.current), candidates.parameters(row)
    return ", ".join(f"{name} {value:g}" for name, value in there.items() if value != now[name]) or "today's configuration"


def _measured(row: int, candidates: Candidates, belief: Belief) -> str:
    runs, failures = int(belief.runs[row]), int(belief.failures[row])
    failed = f", failed {_times(failures)}" if failures else ""
    if not runs:
        return f"failed {_times(failures)} and is expected to {_difference(row, candidates, belief)} when it does not"
    return f"was run {_times(runs)}{failed} and is expected to {_difference(row, candidates, belief)}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _difference(row: int, candidates: Candidates, belief: Belief) -> str:
    """The belief's mean against today: "take 21 % less time and cost 5 % more"."""
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
    return "less than 1 %" if 0 < share < NEARLY_NOTHING else f"{100 * share:.0f} %"
