"""A fitted model that learns new traces: the phases it has keep their numbers and levels, what is new gets numbers behind them.

Samples that no phase explains become phases of their own where there are enough of them. A phase may be split in two on
request: the half nearer to its old level keeps its number. How phases follow each other is learnt from both, the old weighing
as it was seen.
"""

from dataclasses import replace

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.best_path import viterbi
from jpo.plugins.phases.chain import Chain, Ints, smooth
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.levels import FINEST, find_levels
from jpo.plugins.phases.markov import PASSES, RARE, STICKY
from jpo.plugins.phases.model import MostUsed, PhaseModel, with_needs
from jpo.plugins.phases.requests.caution import LADDER, LITTLE, untried
from jpo.plugins.phases.requests.demand import join, thinned
from jpo.plugins.phases.traces import Floats, Traces

UNEXPLAINED = 4.0
"""Standard deviations from every phase, in some feature, from which a sample is explained by none."""
ENOUGH = 5
"""Samples without which there is no new phase: two minutes at the usual interval."""
LEVEL = 0.05
"""Share of a phase's new samples that its smaller half must have."""


def expand(model: PhaseModel, traces: Traces, *, split: int | None = None, seed: int = 0) -> PhaseModel:
    """The model with what is new in these traces; `split`: a phase that becomes two.

    Raises UsageError: JPO-E733, scikit-learn is not installed; JPO-E734, there is no such phase, or it cannot be split.
    """
    need("a model that learns new traces", "sklearn")
    traces = traces.narrowed(tuple(dict.fromkeys((*traces.features, *model.scaler.names))))
    scaled = model.scaler.transform(traces.narrowed(model.scaler.names).stacked)
    chain = model.chain if split is None else _split(model, scaled, traces, split, seed)
    chain = _with_new_phases(chain, scaled, seed)
    chain = _learnt(chain, model, scaled, traces)
    seen = with_needs(model.method, model.scaler, chain, traces)
    needs = seen.needs if model.needs is None else model.needs if seen.needs is None else thinned(join([model.needs, seen.needs]))
    executions, samples = model.executions + seen.executions, model.samples + seen.samples
    was_tried = max(model.caution) < len(LADDER)
    careful = untried(executions, samples)
    return replace(
        seen,
        needs=needs,
        caution=model.caution if was_tried else (careful, careful),
        most=MostUsed(*map(np.maximum, model.most, seen.most)),
        least_density=min(model.least_density, seen.least_density),
        executions=executions,
        samples=samples,
        notes=(
            *(note for note in model.notes if LITTLE not in note),
            f"{chain.phases - model.chain.phases} of the {chain.phases} phases are new, from {traces.place}",
        ),
        weights=model.weights,
        misses=model.misses,
    )


def _split(model: PhaseModel, scaled: Floats, traces: Traces, phase: int, seed: int) -> Chain:
    chain = model.chain
    if not 0 <= phase < chain.phases:
        known = f"the model has phases 0 to {chain.phases - 1}"
        raise UsageError("--split", f"there is no phase {phase}", known, code="JPO-E734")
    inside = scaled[viterbi(chain, chain.log_emissions(scaled), traces.lengths) == phase]
    halves = find_levels(inside, 2, seed) if len(np.unique(inside, axis=0)) >= 2 else np.zeros(len(inside), dtype=np.int64)
    if len(inside) < 2 * ENOUGH or np.bincount(halves, minlength=2).min() < max(2, LEVEL * len(inside)):
        finding = f"phase {phase} has {len(inside)} samples in these traces, and no two levels among them"
        raise UsageError("--split", finding, "split another one, or name traces with more of it", code="JPO-E734")
    means = np.array([inside[halves == half].mean(0) for half in (0, 1)])
    order = np.argsort(np.linalg.norm(means - chain.means[phase], axis=1))
    split = replace(chain, means=np.array([means[order[0]] if at == phase else mean for at, mean in enumerate(chain.means)]))
    return _appended(split, means[order[1:]], np.maximum(inside[halves == order[1]].var(0), FINEST**2)[None, :])


def _with_new_phases(chain: Chain, scaled: Floats, seed: int) -> Chain:
    """The chain with levels for the samples that none explains."""
    away = np.abs(scaled[:, None, :] - chain.means) / np.sqrt(chain.variances)  # (samples, phases, features)
    strange = scaled[away.max(2).min(1) > UNEXPLAINED]
    if len(strange) < ENOUGH:
        return chain
    labels: Ints = find_levels(strange, None, seed) if len(np.unique(strange, axis=0)) > 1 else np.zeros(len(strange), np.int64)
    found = [strange[labels == label] for label in np.unique(labels)]
    found = [samples for samples in found if len(samples) >= ENOUGH]
    if not found:
        return chain
    variances = np.array([np.maximum(samples.var(0), FINEST**2) for samples in found])
    return _appended(chain, np.array([samples.mean(0) for samples in found]), variances)


def _appended(chain: Chain, means: Floats, variances: Floats) -> Chain:
    """The chain with more phases behind its own, into which and out of which any change is rare."""
    k, new = chain.phases, len(means)
    counts = np.full((k + new, k + new), RARE)
    counts[:k, :k] += STICKY * k * chain.transitions
    counts[range(k, k + new), range(k, k + new)] += STICKY
    start = np.r_[chain.start, np.full(new, RARE / (k + new))]
    return Chain(
        start / start.sum(),
        counts / counts.sum(1, keepdims=True),
        np.concatenate([chain.means, means]),
        np.concatenate([chain.variances, variances]),
    )


def _learnt(chain: Chain, model: PhaseModel, scaled: Floats, traces: Traces) -> Chain:
    """How phases follow each other, from what the model saw and what is new."""
    k = model.chain.phases
    seen = np.zeros((chain.phases, chain.phases))
    seen[:k, :k] = model.chain.transitions * model.samples / k
    firsts = np.cumsum([0, *traces.lengths])[:-1]
    for _ in range(PASSES):
        weights, counts = smooth(chain, chain.log_emissions(scaled), traces.lengths)
        transitions = seen + counts + RARE + STICKY * np.eye(chain.phases)
        start = np.r_[model.chain.start * model.executions, np.zeros(chain.phases - k)] + weights[firsts].sum(0) + RARE
        chain = replace(chain, start=start / start.sum(), transitions=transitions / transitions.sum(1, keepdims=True))
    return chain
