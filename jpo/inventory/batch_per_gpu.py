"""More GPUs with the same batch leave each of them fewer samples: from when on that deserves a word.

It is no rule of the guard: a card with too few samples is slow, not in danger, and how slow is the belief's to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jpo.records import Run

FEW = 0.5
"""Share of the smallest batch per GPU that ran well. Half of that is one doubling of the GPUs beyond what was measured."""


def thinned_out(current: Mapping[str, float], proposed: Mapping[str, float], runs: Sequence[Run]) -> str | None:
    """A sentence where another number of GPUs leaves each far fewer samples than any run that ended well had; else None.

    Args:
        current, proposed: configurations by parameter name; batch_size is global.
        runs: finished runs of the workload.
    """
    gpus, each = proposed.get("gpus", 0.0), _samples_on_each(proposed)
    known = [there for run in runs if run.ended_well and (there := _samples_on_each(run.parameters)) is not None]
    if each is None or not known or gpus < 2 or gpus == current.get("gpus") or each >= FEW * min(known):
        return None
    few = f"gpus = {gpus:g} leave {each:.3g} samples of the batch to each; the smallest share that ran well is {min(known):.3g}"
    return f"{few}, and with much less a card may wait more than it computes"


def _samples_on_each(values: Mapping[str, float]) -> float | None:
    batch, gpus = values.get("batch_size"), values.get("gpus", 0.0)
    return batch / gpus if batch is not None and gpus >= 1 else None
