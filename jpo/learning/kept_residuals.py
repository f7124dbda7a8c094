"""What the jobs of an installation showed, kept in its store: residuals by which the next job's decision is made better.

Each workload's part is worked out when its runs have changed. The history is the truth, this a cache. Needs no torch.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from jpo.agent.residuals import COORDINATES, joined
from jpo.agent.sealed import seal, unseal
from jpo.errors import StoreError
from jpo.forecast.evidence.plausibility import plausible
from jpo.history import Store
from jpo.learning.serving import CACHE_TROUBLE
from jpo.optimizer.installation import residuals_of_runs
from jpo.records import Identity, Residuals, Run
from jpo.records.runs import by_workload

RESIDUALS = "residuals"
FORMAT = "jpo residuals 2"
ARRAYS = tuple(f.name for f in fields(Residuals) if f.name != "workloads")
_ROWS = np.zeros(0)
NOTHING = Residuals((), np.zeros(0, dtype=np.int64), np.zeros((0, len(COORDINATES))), _ROWS, _ROWS, _ROWS, _ROWS)
"""What is saved where no job said anything: which runs these were is worth knowing, or they would be worked out every time."""
MOST_NEW = 20
"""Workloads that are worked out in one suggestion: some ms each."""
Digests = Mapping[str, Sequence[str]]
"""Of each run from which a workload's part was made."""


def residuals_here(store: Store, identity: Identity, runs: Sequence[Run], *, learn: bool) -> Residuals | None:
    """Residuals of all jobs of this installation but this workload; None where there are none.

    `runs`: newest ones of all workloads, oldest first; of a long history the older ones may be missing. `learn`: work out what is
    new, and save it.
    """
    saved = store.load_agent(RESIDUALS)
    residuals, digests = _read(saved[0]) if saved else (None, {})
    if learn:
        residuals, current = _brought_up(residuals, digests, runs, store)
        if current != digests:
            try:
                store.save_agent(RESIDUALS, _written(residuals, current), expected_version=saved[1] if saved else 0)
            except StoreError as error:
                if error.code not in CACHE_TROUBLE:
                    raise
    return None if residuals is None else _without(residuals, {str(identity)})


def _brought_up(
    residuals: Residuals | None, digests: Digests, runs: Sequence[Run], store: Store
) -> tuple[Residuals | None, Digests]:
    """The residuals with the parts of workloads that have a run which is new, or was changed."""
    workloads = by_workload(runs)
    known = {name: set(of_runs) for name, of_runs in digests.items()}
    changed = [each for each, some in workloads.items() if not known.get(str(each), set()).issuperset(map(_digest, some))]
    if not changed:
        return residuals, digests
    whole = {str(each): _whole(store, each, workloads[each]) for each in changed[:MOST_NEW]}
    old = None if residuals is None else _without(residuals, set(whole))
    current = {**digests, **{name: [_digest(run) for run in several] for name, several in whole.items()}}
    return joined([old, *map(residuals_of_runs, whole.values())]), current


def _whole(store: Store, identity: Identity, newest: Sequence[Run]) -> Sequence[Run]:
    """All runs of a workload that can be believed: its reference may be older than the newest ones."""
    recorded, _ = plausible(store.runs_of(identity))
    return newest if len(recorded) < len(newest) else recorded


def _without(residuals: Residuals, workloads: set[str]) -> Residuals | None:
    kept = np.array([residuals.workloads[job] not in workloads for job in residuals.job], dtype=np.bool_)
    if not kept.any():
        return None
    arrays: dict[str, Any] = {name: getattr(residuals, name)[kept] for name in ARRAYS}
    return Residuals(residuals.workloads, **arrays)


def _digest(run: Run) -> str:
    text = repr((run.run_id, run.status, run.outcome.duration_seconds, sorted(run.parameters.items())))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
