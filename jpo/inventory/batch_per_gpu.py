"""Batch per GPU: more GPUs with the same batch leave each fewer samples, and from some point on that deserves a note.

It is not a rule of the guard: a card with too few samples is slow, not in danger, and the surrogate predicts how slow.
"""

from collections.abc import Mapping, Sequence

from jpo.records import Run

FEW = 0.5
"""Share of the smallest batch per GPU that ran well. Half of that is one doubling of the GPUs beyond what was measured."""


def thinned_out(current: Mapping[str, float], proposed: Mapping[str, float], runs: Sequence[Run]) -> str | None:
    """A note where another number of GPUs leaves each far less of the global batch than runs that ended well had; else None."""
    gpus, share = proposed.get("gpus", 0.0), _batch_per_gpu(proposed)
    if share is None or gpus < 2 or gpus == current.get("gpus"):
        return None
    ran_well = [each for run in runs if run.ended_well and (each := _batch_per_gpu(run.parameters)) is not None]
    if not ran_well or share >= FEW * min(ran_well):
        return None
    few = f"gpus = {gpus:g} leave {share:.3g} samples of the batch to each; the smallest share that ran well is"
    return f"{few} {min(ran_well):.3g}, and with much less a card may wait more than it computes"


def _batch_per_gpu(values: Mapping[str, float]) -> float | None:
    batch, gpus = values.get("batch_size"), values.get("gpus", 0.0)
    return batch / gpus if batch is not None and gpus >= 1 else None
