"""Recovery of a job whose runs fail: what to change while none has ended well, and what no run need try again.

Why a run failed is read from what is on record of it; where that does not say, batch size and learning rate take turns. Each step
is taken from today's values, so they add up: half at first, a quarter from the second failure on. After four, or at the smallest
value, it is said that the cause may be another one, and the next parameter is tried. What is left for later is the
way up again, which the ordinary decision finds, without what is ruled out here.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from jpo.agent.candidate_rows import least, logs_of, rows_of_runs
from jpo.agent.safety.failing import often_failing
from jpo.agent.safety.risk import WORSE
from jpo.records import Belief, Bools, Candidates, Floats, Note, Run, RunStatus
from jpo.wording import numbers

Cause = Literal["GPU memory", "host memory", "memory", "divergence", "time", "cut off", "unknown"]
NOTHING_HELPS = "JPO-I610"
FULL = 0.9
"""A run that was killed for memory and used this share of what it asked for on the host has run out of that, else of a GPU's."""
FIRST_STEP, NEXT_STEPS = 2.0, 4.0
"""Factors of the first step and of those after it: from far outside, halving alone would fail for many nights."""
LIKELY_TO_FAIL = 0.3
"""Chance from which on values are no choice, whatever they would take and cost if they ended well."""
WELL_ON = 0.2
"""Share of its epochs from which on a run that failed for no known reason had been doing well: that it met a time limit is
likelier than that its batch or rate ended it then, and a faster run does no harm."""
MOST_STEPS = 4
"""Steps of one parameter after which, if they all failed for the same cause, the next one comes first, if there is one."""
KNOBS: dict[Cause, tuple[str, ...]] = {
    "GPU memory": ("batch_size",),
    "host memory": ("memory_gib", "batch_size"),
    "memory": ("batch_size", "memory_gib"),
    "divergence": ("learning_rate", "batch_size"),
    "unknown": ("batch_size", "learning_rate", "memory_gib"),
}
"""What helps against a cause, the likeliest first: what comes later is tried when steps of the earlier ones have failed. Host
memory goes up, and the batch of what diverges, since its gradient is less noisy then; everything else goes down."""
OTHER_CAUSES: dict[Cause, str] = {
    "GPU memory": "the model alone may not fit, another process may use memory, or the host's ran out unseen",
    "host memory": "the job may leak memory, or its data may not fit, however much it asks for",
    "memory": "the model or the data alone may not fit, or the job may leak memory",
    "divergence": "the data, the loss or number formats (float16) may be the reason, not the rate",
    "time": "the job may be waiting for something else: data, a lock, other jobs",
    "cut off": "the job itself may be broken: read its log",
    "unknown": "the job itself may be broken: read its log",
}
"""What else it may be, once steps have failed."""
PREVENTABLE: tuple[Cause, ...] = ("GPU memory", "host memory", "memory", "divergence")
"""What other values help against, as far as a record can say."""
TAKING_TURNS: tuple[Cause, ...] = ("memory", "unknown")
SENTENCES: dict[Cause, str] = {
    "GPU memory": "{run} ran out of GPU memory",
    "host memory": "{run} ran out of host memory",
    "memory": "{run} ran out of memory (of the GPU or of the host: not measured)",
    "divergence": "{run} diverged",
    "time": "{run} was stopped before it was done",
    "cut off": "{run} ended early for no recorded reason, as at a time limit",
    "unknown": "the reason why {run} did not end well is not recorded",
}


def cause_of(run: Run) -> Cause:
    """Why a run did not end well, as far as its record says."""
    if run.status is RunStatus.OOM_KILLED:
        asked, used = run.parameters.get("memory_gib"), run.outcome.memory_gib
        if run.parameters.get("gpus") == 0:
            return "host memory"
        return "memory" if not asked or used is None else "host memory" if used >= FULL * asked else "GPU memory"
    causes: dict[RunStatus, Cause] = {RunStatus.DIVERGED: "divergence", RunStatus.STOPPED: "time"}
    asked, did = run.parameters.get("epochs"), run.outcome.epochs
    return causes.get(run.status, "cut off" if asked and did is not None and WELL_ON * asked <= did < asked else "unknown")


def cause_of_last(runs: Sequence[Run]) -> Cause:
    """Why the last run did not end well, with those before it: what ends in the same epoch at another
    speed, by more than a tenth, met no time limit."""
    last, cause = runs[-1], cause_of(runs[-1])
    if cause != "cut off":
        return cause
    alike = [run.outcome.duration_seconds for run in runs if run.outcome.epochs == last.outcome.epochs and cause_of(run) == cause]
    seconds = [duration for duration in alike if duration]
    return "unknown" if seconds and max(seconds) > math.exp(WORSE) * min(seconds) else cause


def step_out(candidates: Candidates, belief: Belief, runs: Sequence[Run]) -> int | None:
    """Row to run next after these, oldest first, of which none ended well; None: nothing that may change would help.

    Never what failed, nor what is certain to fail for the same cause; epochs and layers stay, they are what is wanted.
    """
    cause, failures = cause_of_last(runs), len(runs)
    logs = logs_of(candidates)
    logs = logs - logs[candidates.current]
    work = [at for at, name in enumerate(candidates.names) if name in ("epochs", "num_layers")]
    same_work = (logs[:, work] == 0).all(axis=1)
    open_rows = candidates.admissible & ~ruled_out(candidates, runs) & ~belief.tried & same_work
    if cause in ("time", "cut off"):
        faster: Floats = belief.weights @ belief.log_time  # (K,)
        rows = open_rows & (faster < 0) & (belief.p_fail < LIKELY_TO_FAIL)
        cheap = rows & (candidates.log_rate <= 0)  # for the same money an hour, as far as that goes
        rows = cheap if cheap.any() else rows
        return least(faster, rows) if rows.any() else None
    knobs = [name for name in KNOBS[cause] if name in candidates.names]
    if cause in TAKING_TURNS and failures % 2 == 0:
        knobs[:2] = knobs[1::-1]
    for name in sorted(knobs, key=lambda name: _steps(runs, name) >= MOST_STEPS):  # what did not help comes last
        at = candidates.names.index(name)
        later = name not in KNOBS[cause][:2] and not _steps(runs, name)
        wanted = math.log(FIRST_STEP if failures == 1 or later else NEXT_STEPS) * _direction(name, cause)
        rows = open_rows & (np.sign(logs[:, at]) == np.sign(wanted))
        others = np.abs(np.delete(logs, at, axis=1)).sum(axis=1)  # first what changes nothing else but what follows it
        if rows.any():
            changes = others.round(9)  # the least change of others is 0, unless one follows
            return int(np.lexsort((np.abs(logs[:, at] - wanted), changes > changes[rows].min(), ~rows))[0])
    return None


def _direction(name: str, cause: Cause) -> int:
    return 1 if name == "memory_gib" or (cause, name) == ("divergence", "batch_size") else -1


def _steps(runs: Sequence[Run], name: str) -> int:
    """How many steps of a parameter have failed for the cause of the last run."""
    alike = {run.parameters[name] for run in runs if name in run.parameters and cause_of(run) == cause_of(runs[-1])}
    return max(0, len(alike) - 1)


def _given_up(candidates: Candidates, runs: Sequence[Run], row: int | None) -> Iterator[str]:
    """What was changed against the last cause, and is not any more: after MOST_STEPS, or at its smallest or largest value."""
    cause, now = cause_of_last(runs), candidates.current
    for name in KNOBS.get(cause, ()):
        steps = _steps(runs, name)
        if not steps or name not in candidates.names:
            continue
        at = candidates.names.index(name)
        moves = row is not None and candidates.values[row, at] != candidates.values[now, at]
        if steps >= MOST_STEPS:
            yield f"{numbers.counted(steps, 'step')} of {name} did not help"
        elif not moves and (row is None or cause not in TAKING_TURNS):
            end = "largest" if _direction(name, cause) > 0 else "smallest"
            yield f"{name} {numbers.plain(float(candidates.values[now, at]))} is the {end} value that may be tried"


def ruled_out(candidates: Candidates, runs: Sequence[Run]) -> Bools:
    """Rows that ask no less than what ran out of memory or diverged, shape (K,), until a run that does so ends well, and does
    not fail more often than it should.

    GPU memory: the batch on each GPU, and layers; host memory: memory asked for, batch size and GPUs; divergence: a learning rate
    no smaller at a batch no larger. Of a failure without a known cause: that configuration alone.
    """
    values = {name: candidates.values[:, at] for at, name in enumerate(candidates.names)}
    zero: Floats = np.zeros(len(candidates.values))
    out: Bools = zero > 0

    def more(**signs: int) -> list[Floats]:
        return [sign * values[name] for name, sign in signs.items() if name in values]

    of_gpu = [values.get("batch_size", zero) / np.maximum(values.get("gpus", zero + 1.0), 1.0), values.get("num_layers", zero)]
    demands = {
        "GPU memory": of_gpu,
        "host memory": more(memory_gib=-1, batch_size=1, gpus=1),
        "divergence": more(learning_rate=1, batch_size=-1),
        "memory": of_gpu + more(memory_gib=-1),
    }
    placed = [(row, run) for row, run in zip(rows_of_runs(candidates, runs).tolist(), runs, strict=True) if row >= 0]
    failed = [(row, run) for row, run in placed if not run.ended_well and run.status is not RunStatus.STOPPED]
    runs_well = np.bincount([row for row, run in placed if run.ended_well], minlength=len(out))
    well = (runs_well > 0) & ~often_failing(runs_well, np.bincount([row for row, _ in failed], minlength=len(out)))
    for row, cause in {(row, cause_of(run)) for row, run in failed}:
        alike = demands.get(cause, [])
        no_less = np.logical_and.reduce([demand >= demand[row] for demand in alike]) if alike else np.arange(len(out)) == row
        if not (well & no_less).any():
            out |= no_less
    return out


def recovery_reason(candidates: Candidates, runs: Sequence[Run], row: int | None) -> Note:
    cause = cause_of_last(runs)
    finding = f"no run has ended well yet ({len(runs)} did not), and {SENTENCES[cause].format(run='the last run')}"
    if given_up := [*_given_up(candidates, runs, row)]:
        finding = f"{finding}; {', '.join(given_up)}, so {OTHER_CAUSES[cause]}"
    if row is None:
        return Note(NOTHING_HELPS, f"{finding}; no change that is allowed is expected to help")
    return Note("JPO-W618", f"{finding}: {step(candidates, row)}")


def step(candidates: Candidates, row: int) -> str:
    """What a step changes: "batch_size 64 -> 32"."""
    now, there = candidates.parameters(candidates.current), candidates.parameters(row)
    changed = ((name, now[name], value) for name, value in there.items() if value != now[name])
    return ", ".join(f"{name} {numbers.plain(old)} -> {numbers.plain(new)}" for name, old, new in changed)
