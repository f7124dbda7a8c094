"""What the jobs of an installation showed, kept in its store: residuals by which the next job's decision is made better.

Each workload's part is worked out when its runs have changed. The history is the truth, this a cache. Needs no torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from jpo.agent.residuals import COORDINATES, joined
from jpo.agent.sealed import seal, unseal
from jpo.errors import StoreError
from jpo.history import Store
from jpo.learning.continual import CACHE_TROUBLE
from jpo.optimizer.installation import residuals_of_runs
from jpo.records import Identity, Residuals, Run

RESIDUALS = "residuals"
"""Name under which the store keeps them."""
FORMAT = "jpo residuals 1"
ARRAYS = tuple(f.name for f in fields(Residuals) if f.name != "workloads")
_ROWS = np.zeros(0)
NOTHING = Residuals((), np.zeros(0, dtype=np.int64), np.zeros((0, len(COORDINATES))), _ROWS, _ROWS, _ROWS, _ROWS)
"""What is saved where no job said anything: which runs these were is worth knowing, or they would be worked out every time."""
MOST_NEW = 20
"""Workloads that are worked out in one suggestion: some ms each."""

Digests = Mapping[str, str]
"""Of the runs from which each workload's part was made."""


def residuals_here(store: Store, identity: Identity, runs: Sequence[Run], *, learn: bool) -> Residuals | None:
    """Residuals of all jobs of this installation but this workload; None where there are none.

    Args:
        runs: of all workloads, oldest first.
        learn: work out what is new, and save it.
    """
    saved = store.load_agent(RESIDUALS)
    residuals, digests = _read(saved[0]) if saved else (None, {})
    if learn:
        residuals, current = _brought_up(residuals, digests, runs)
        if current != digests:
            try:
                store.save_agent(RESIDUALS, _written(residuals, current), expected_version=saved[1] if saved else 0)
            except StoreError as error:
                if error.code not in CACHE_TROUBLE:
                    raise
    return None if residuals is None else _without(residuals, {str(identity)})


def _brought_up(residuals: Residuals | None, digests: Digests, runs: Sequence[Run]) -> tuple[Residuals | None, Digests]:
    """The residuals with the parts of workloads whose runs have changed."""
    by_workload: dict[str, list[Run]] = {}
    for run in runs:
        by_workload.setdefault(str(run.identity), []).append(run)
    current = {name: _digest(several) for name, several in by_workload.items()}
    changed = [name for name, digest in current.items() if digests.get(name) != digest][:MOST_NEW]
    if not changed:
        return residuals, digests
    new = [part for name in changed if (part := residuals_of_runs(by_workload[name])) is not None]
    old = None if residuals is None else _without(residuals, set(changed))
    parts = [*([old] if old is not None else []), *new]
    return joined(parts) if parts else None, {**digests, **{name: current[name] for name in changed}}


def _without(residuals: Residuals, workloads: set[str]) -> Residuals | None:
    kept = np.array([residuals.workloads[job] not in workloads for job in residuals.job], dtype=np.bool_)
    if not kept.any():
        return None
    arrays: dict[str, Any] = {name: getattr(residuals, name)[kept] for name in ARRAYS}
    return Residuals(residuals.workloads, **arrays)


def _digest(runs: Sequence[Run]) -> str:
    text = repr([(run.run_id, run.status, run.outcome.duration_seconds, sorted(run.parameters.items())) for run in runs])
    return hashlib.sha256(text.encode()).hexdigest()


def _written(residuals: Residuals | None, digests: Digests) -> bytes:
    kept = residuals or NOTHING
    header = {"format": FORMAT, "coordinates": COORDINATES, "workloads": kept.workloads, "digests": dict(digests)}
    return seal({name: np.ascontiguousarray(getattr(kept, name)) for name in ARRAYS}, header)


def _read(data: bytes) -> tuple[Residuals | None, Digests]:
    """Nothing where it is damaged, or of another version: it is worked out anew."""
    try:
        tensors, header = unseal(data)
    except StoreError:
        return None, {}
    if header.get("format") != FORMAT or header.get("coordinates") != list(COORDINATES) or set(tensors) != set(ARRAYS):
        return None, {}
    arrays: dict[str, Any] = dict(tensors)
    return (Residuals(tuple(map(str, header["workloads"])), **arrays) if tensors["job"].size else None), header["digests"]
