"""Host memory: what a job needs of it, and that more than it needs changes nothing.

Where the peak was measured, runs that asked for different amounts above it are runs of one configuration, and one with more or
less of it is expected to do as well. The simulated jobs know nothing of the peak.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jpo.records import Belief, Candidates, Ints, Run, RunStatus

MEMORY = "memory_gib"
HEADROOM = 0.15
"""Share of the measured peak of memory that stays free above it, as in Kubernetes' Vertical Pod Autoscaler: by so much two runs
may differ."""


def memory_need_gib(runs: Sequence[Run]) -> float | None:
    """Highest measured host memory of the runs that came to their end, with headroom; None: not measured."""
    peaks = [run.outcome.memory_gib for run in runs if run.status is RunStatus.SUCCEEDED and run.outcome.memory_gib]
    return (1 + HEADROOM) * max(peaks) if peaks else None


def with_enough_memory(believe: Callable[[Sequence[Run]], Belief], candidates: Candidates, runs: Sequence[Run]) -> Belief:
    """What `believe` makes of the runs, where rows with enough memory that differ in nothing else are one and the same."""
    need = memory_need_gib(runs)
    if need is None or MEMORY not in candidates.names:
        return believe(runs)
    same = _twins(candidates, need)
    if (same == np.arange(len(same))).all():
        return believe(runs)
    memory = candidates.values[:, candidates.names.index(MEMORY)]
    now = candidates.parameters(candidates.current)
    rows = {tuple(values): row for row, values in enumerate(candidates.values)}
    pooled = []
    for run in runs:
        row = rows.get(tuple(run.parameters.get(name, now[name]) for name in candidates.names))
        moved = row is not None and run.status is RunStatus.SUCCEEDED and same[row] != row
        pooled.append(replace(run, parameters={**run.parameters, MEMORY: float(memory[same[row]])}) if moved else run)
    belief = believe(pooled)
    alike = {
        name: getattr(belief, name)[..., same] for name in ("log_time", "log_loss", "log_utilisation", "fails", "runs", "p_fail")
    }
    price = belief.log_cost - belief.log_time - candidates.log_rate
    loss_runs = None if belief.loss_runs is None else belief.loss_runs[same]
    return replace(belief, **alike, log_cost=alike["log_time"] + candidates.log_rate + price[:, same], loss_runs=loss_runs)


def _twins(candidates: Candidates, need: float) -> Ints:
    """For each row the first one that differs from it in memory alone where both have enough, else itself, shape (K,)."""
    at = candidates.names.index(MEMORY)
    others, enough = np.delete(candidates.values, at, axis=1), candidates.values[:, at] >= need
    first: dict[tuple[float, ...], int] = {}
    return np.array(
        [first.setdefault(tuple(values), row) if enough[row] else row for row, values in enumerate(others)], dtype=np.int64
    )
