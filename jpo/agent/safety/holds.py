"""Holds: what keeps candidates from being run now, each with its reason; the same for belief rule and policy.

A hold is a set of rows. Today's row is held by the validation loss alone: keeping needs no excuse.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.rows import base_row
from jpo.agent.safety.claim import p_loss_worse
from jpo.agent.safety.memory import HEADROOM, MEMORY, memory_need_gib
from jpo.agent.safety.recovery import cause_of, ruled_out

if TYPE_CHECKING:
    from jpo.records import Belief, Bools, Candidates, Run

RESOURCES = ("gpus", "cpus", "memory_gib")


@dataclass(frozen=True, eq=False, slots=True)
class Hold:
    """Hold on some candidates.

    Attributes:
        rows: shape (K,), True = must not be run now.
        why: what it is about, after the name of a configuration: "asks for more gpus than ...".
        code: stable reason code.
        lasting: it counts where anything may be explored, too.
    """

    rows: Bools
    why: str
    code: str
    lasting: bool = True


def holds_of(candidates: Candidates, runs: Sequence[Run], named: Collection[str]) -> tuple[Hold, ...]:
    """What the runs so far, oldest first, and the lack of limits hold back.

    Args:
        named: parameters whose largest value the user has named.
    """
    failing = ruled_out(candidates, runs) if any(not run.ended_well for run in runs) else _none(candidates)
    held = [Hold(failing, "asks for no less than what failed", "JPO-I620"), *_memory(candidates, runs, named)]
    for name in RESOURCES:
        if name in candidates.names and name not in named:
            column = candidates.values[:, candidates.names.index(name)]
            most = _most(name, candidates, runs)
            words = f"asks for more {name} than any run so far, and [parameters] {name} names no max or choices"
            held.append(Hold(column > most * (1 + 1e-9), words, "JPO-I622", lasting=False))
    today = np.arange(len(candidates.values)) == candidates.current
    return tuple(Hold(hold.rows & ~today, hold.why, hold.code, hold.lasting) for hold in held)


def _none(candidates: Candidates) -> Bools:
    return np.zeros(len(candidates.values), dtype=np.bool_)


def _most(name: str, candidates: Candidates, runs: Sequence[Run]) -> float:
    """The most of a resource that was ever asked for; where host memory ran out, as much as one step allows."""
    if name == "memory_gib" and any(cause_of(run) in ("host memory", "memory") for run in runs if not run.ended_well):
        return math.inf
    now = candidates.parameters(candidates.current)[name]
    return max(now, *(run.parameters.get(name, now) for run in runs), now)


def _memory(candidates: Candidates, runs: Sequence[Run], named: Collection[str]) -> Iterator[Hold]:
    """Less host memory than the highest that was measured and some headroom; less than today where none was."""
    if "memory_gib" not in candidates.names:
        return
    column = candidates.values[:, candidates.names.index("memory_gib")]
    less = column < column[candidates.current] * (1 - 1e-9)
    need = memory_need_gib(runs)
    if need is None and MEMORY in named:
        return
    if need is None:
        yield Hold(less, "asks for less memory_gib than today, and no run has measured what it uses", "JPO-I621", lasting=False)
    else:
        words = f"asks for less memory_gib than the {need:.3g} that runs need with a headroom of {HEADROOM:.0%}"
        yield Hold(less & (column < need), words, "JPO-I621")


def held(holds: Iterable[Hold], *, lasting: bool = False) -> Bools | np.bool_:
    """Rows that any of these holds, (K,); `lasting`: those alone that count where anything may be explored."""
    rows = [hold.rows for hold in holds if hold.lasting or not lasting]
    return np.asarray(np.logical_or.reduce(rows), dtype=np.bool_) if rows else np.bool_(False)


LOSS_RISK = 0.2
"""Chance of a validation loss below the floor from which a value is not written."""
MUCH = 5.0
"""A trial must be likelier than not to keep the floor, and risk no more than LOSS_RISK of a loss this many times farther below:
what one run will show, no belief knows, and a floor that forbids what was never run forbids learning."""
LIKELIER = 0.5
"""Today's values are given up for their loss, and a trial is not run, when it is likelier below the floor than not."""


def of_loss(
    candidates: Candidates,
    belief: Belief,
    reference: int | None,
    floor: float | None,
    loss_interval_factor: float = 1.0,
    *,
    trial_risk: float = LOSS_RISK,
) -> tuple[Hold, ...]:
    """The quality floor: what is likely to end with a validation loss worse than the reference's by more than `floor`.

    What was never run must be likelier than not to keep it, and a much worse loss unlikely. Nothing is held where there is no
    floor, or no loss was ever measured.

    Args:
        trial_risk: the chance of a much worse loss from which something that was never run is held.
    """
    if floor is None or belief.val_loss is None:
        return ()
    now = candidates.current
    base = base_row(candidates, reference)
    below = p_loss_worse(belief, candidates, base, floor, loss_interval_factor)
    much_below = p_loss_worse(belief, candidates, base, MUCH * floor, loss_interval_factor)
    rows = np.where(belief.tried, below > LOSS_RISK, (below > LIKELIER) | (much_below > trial_risk))
    rows[now] = below[now] > LIKELIER
    rows[base] = False
    words = f"is likely to end with a validation loss more than {floor:.0%} worse"
    return (Hold(rows, words, "JPO-I623"),)
