"""Holds: what keeps candidates from being run now, each with its reason; the same for belief rule and policy.

A hold is a set of rows. Today's row is held by the validation loss, and by failures that are no chance: keeping needs no excuse.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jpo.agent.candidate_rows import base_row, least, models_of
from jpo.agent.safety import failing
from jpo.agent.safety.confidence import LIKELIER, p_loss_worse
from jpo.agent.safety.host_memory import HEADROOM, MEMORY, memory_need_gib
from jpo.agent.safety.recovery import cause_of, ruled_out
from jpo.records import RESOURCES, Belief, Bools, Candidates, Floats, PhaseNeeds, Run
from jpo.wording.qualities import worse_than

TOO_LITTLE_MEMORY = "JPO-I648"
MUCH = 5.0
"""A trial must be likelier than not to keep the floor, and risk a loss this many times farther below no more than `quality_risk`:
what one run will show, no belief knows, and a floor that forbids what was never run forbids learning. That is said of small steps
from what ended well; a larger one is held as what was run is."""
STEP = 2.0
"""Factor of batch size, learning rate and the like within which a trial is a small step from what ended well, or near what did
not: less than a rung of the ladder of batch sizes, one of learning rates (docs/decisions/0092)."""


@dataclass(frozen=True, eq=False, slots=True)
class Veto:
    """Veto on some candidates.

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


def vetoes(candidates: Candidates, runs: Sequence[Run], named: Collection[str]) -> tuple[Veto, ...]:
    """What the runs so far, oldest first, and the lack of limits hold back.

    `named`: parameters whose largest value the user has named.
    """
    held = [
        Veto(ruled_out(candidates, runs), "asks for at least as much as what failed", "JPO-I620"),
        *_memory(candidates, runs, named),
        *_cpus(candidates, runs),
    ]
    for name in RESOURCES:
        if name in candidates.names and name not in named:
            column = candidates.values[:, candidates.names.index(name)]
            most = _most(name, candidates, runs)
            words = f"asks for more {name} than any run had: [parameters] {name} has no max"
            held.append(Veto(column > most * (1 + 1e-9), words, "JPO-I622", lasting=False))
    today = np.arange(len(candidates.values)) == candidates.current
    return tuple(replace(hold, rows=hold.rows & ~today) for hold in held)


def _most(name: str, candidates: Candidates, runs: Sequence[Run]) -> float:
    """The most of a resource that was ever asked for; where host memory ran out, as much as one step allows."""
    if name == "memory_gib" and any(cause_of(run) in ("host memory", "memory") for run in runs if not run.ended_well):
        return math.inf
    now = candidates.parameters(candidates.current)[name]
    return max(now, *(run.parameters.get(name, now) for run in runs), now)


def _memory(candidates: Candidates, runs: Sequence[Run], named: Collection[str]) -> Iterator[Veto]:
    """Less host memory than the highest that was measured and some headroom; less than today where none was."""
    if "memory_gib" not in candidates.names:
        return
    column = candidates.values[:, candidates.names.index("memory_gib")]
    less = column < column[candidates.current] * (1 - 1e-9)
    need = memory_need_gib(runs)
    if need is None and MEMORY in named:
        return
    if need is None:
        yield Veto(less, "asks for less memory_gib than today, and no run has measured what it uses", "JPO-I621", lasting=False)
    else:
        words = f"asks for less memory_gib than the {need:.3g} that runs need with a headroom of {HEADROOM:.0%}"
        yield Veto(less & (column < need), words, "JPO-I621")


def _cpus(candidates: Candidates, runs: Sequence[Run]) -> Iterator[Veto]:
    """Fewer CPUs than runs like today's kept busy on the mean, with no smaller batch and no fewer GPUs: their work takes time.

    CPUs that compute are left out: how well they share the work, the forecast knows.
    """
    if "cpus" not in candidates.names or candidates.parameters(candidates.current).get("gpus", 0) < 1:
        return
    demands = [name for name in ("batch_size", "gpus") if name in candidates.names]
    now = candidates.parameters(candidates.current)
    alike = [run for run in runs if run.ended_well and all(run.parameters.get(name, now[name]) == now[name] for name in demands)]
    shares = [(run.outcome, run.outcome.cpu_utilisation, run.parameters.get("cpus")) for run in alike]
    cores = [out.cpu_cores_mean or (share * cpus if share is not None and cpus else None) for out, share, cpus in shares]
    busy = [each for each in cores if each]
    if busy:
        column = candidates.values[:, candidates.names.index("cpus")]
        at = [candidates.names.index(name) for name in demands]
        as_much = (candidates.values[:, at] >= candidates.values[candidates.current, at]).all(axis=1)
        words = f"asks for fewer cpus than the {min(busy):.3g} that runs keep busy"
        yield Veto(as_much & (column < min(busy)), words, "JPO-I637")


def too_little_memory_vetoes(
    candidates: Candidates, belief: Belief, p_short: Floats, need: Floats, there: Floats
) -> tuple[Veto, ...]:
    """What host memory is likelier than not to be too little for, before a run is killed for it; not what has ended well already.

    A smaller chance is weighed with all others: memory may not grow with the batch at all, and only a run shows that.

    `p_short`: chance of it, shape (K,); `need`, `there`: GiB that a run is expected to take, and may have, (K,).
    """
    rows = (p_short > LIKELIER) & (belief.runs == 0) & (np.arange(len(p_short)) != candidates.current)
    if not rows.any():
        return ()
    first = least(need, rows)
    words = f"needs about {need[first]:.3g} GiB of host memory or more, and {there[first]:.3g} GiB are allowed"
    return (Veto(rows, words, TOO_LITTLE_MEMORY, lasting=False),)


def failing_vetoes(candidates: Candidates, belief: Belief) -> tuple[Veto, ...]:
    """What fails more often than chance would have it, and what goes as far away from what ends well and was not seen to do so;
    today's values too, where what ended well may be gone back to."""
    often, now, rows = failing.often_failing(belief.runs, belief.failures), candidates.current, np.arange(len(candidates.values))
    leaves = belief.runs[now] and (candidates.admissible & failing.known_to_end_well(candidates, belief.runs, often)).any()
    beyond = "asks for at least as much as values that "
    held = []
    for row in map(int, np.flatnonzero(often)):
        says, no_less = failing.words(belief, row), failing.no_less_than(candidates, belief, row, often)
        held += [Veto((rows == row) & (leaves or row != now), says, failing.CODE)]
        held += [Veto(no_less & ~often & (rows != now), beyond + says, failing.CODE)]
    return tuple(hold for hold in held if hold.rows.any())


def phase_vetoes(candidates: Candidates, needs: PhaseNeeds | None) -> tuple[Veto, ...]:
    """Fewer CPUs or less memory than today that are below the peaks of the last runs' phases and some headroom."""
    held = []
    for name, need in (("cpus", needs.cpus), ("memory_gib", needs.memory_gib)) if needs else ():
        if name in candidates.names:
            column = candidates.values[:, candidates.names.index(name)]
            rows = (column < column[candidates.current] * (1 - 1e-9)) & (column < need * (1 - 1e-9))
            held.append(Veto(rows, f"asks for less {name} than the {need:.3g} that the phases of the last runs need", "JPO-I870"))
    return tuple(held)


def held(holds: Iterable[Veto], *, lasting: bool = False) -> "Bools | np.bool_":
    """Rows that any of these holds, (K,); `lasting`: those alone that count where anything may be explored."""
    rows = [hold.rows for hold in holds if hold.lasting or not lasting]
    return np.asarray(np.logical_or.reduce(rows), dtype=np.bool_) if rows else np.bool_(False)


def loss_vetoes(
    candidates: Candidates,
    belief: Belief,
    reference: int | None,
    floor: float | None,
    loss_interval_factor: float = 1.0,
    *,
    quality_risk: float,
) -> tuple[Veto, ...]:
    """The quality floor: what is likely to end with a validation loss worse than the reference's by more than `floor`.

    What was never run must be likelier than not to keep it, and a much worse loss unlikely, if it is a small step. Nothing is
    held where there is no floor, or no loss was ever measured.
    `quality_risk`: the chance of a loss below the floor from which it is held, of what was never run of a much worse one.
    """
    if floor is None or belief.val_loss is None:
        return ()
    now = candidates.current
    base = base_row(candidates, reference)
    below = p_loss_worse(belief, candidates, base, floor, loss_interval_factor)
    much_below = p_loss_worse(belief, candidates, base, MUCH * floor, loss_interval_factor)
    lenient = ~belief.tried & _small_steps(candidates, belief)
    rows = np.where(lenient, (below > LIKELIER) | (much_below > quality_risk), below > quality_risk)
    rows[now] = below[now] > LIKELIER
    rows[base] = False
    level = belief.val_loss * math.exp(float(belief.weights @ belief.log_loss[:, base]))
    words = f"is likely to end with {worse_than(belief.quality, level, floor)}"
    return (Veto(rows, words, "JPO-I623"),)


def unmeasured_vetoes(candidates: Candidates, belief: Belief, reference: int | None) -> tuple[Veto, ...]:
    """Models whose loss nobody would see: where runs report none, only those are run of which some run measured one, today's, and
    the reference's. Hardware is no part of the model. A job that only ever failed has none to lose."""
    now = candidates.current
    if belief.only_failed[now]:
        return ()
    known = np.zeros(len(candidates.values), dtype=np.bool_) if belief.loss_runs is None else belief.loss_runs > 0
    known[[now, base_row(candidates, reference)]] = True
    model = models_of(candidates)
    rows = ~np.isin(model, model[known])
    return (Veto(rows, "trains another model, and the runs do not report how good it is", "JPO-I660"),)


def _small_steps(candidates: Candidates, belief: Belief) -> Bools:
    """Rows within a STEP of one that ended well in everything but hardware, shape (K,)."""
    at = [i for i, name in enumerate(candidates.names) if name not in RESOURCES]
    places, where = np.unique(np.log2(np.maximum(candidates.values[:, at], 1e-9)), axis=0, return_inverse=True)
    well = np.flatnonzero(np.bincount(where.reshape(-1)[belief.runs > 0]))
    apart = np.abs(places[:, None, :] - places[None, well, :]).max(axis=2, initial=0.0)  # (G, W)
    return np.asarray((apart <= math.log2(STEP) + 1e-6).any(axis=1)[where.reshape(-1)])
