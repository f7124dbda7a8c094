"""A fit from traces to a model by one of the methods, with the caution that executions left out ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.chain import Chain, Ints
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.features import fit_scaler
from jpo.plugins.phases.levels import MOST_SAMPLES, find_levels
from jpo.plugins.phases.markov import fit_chain
from jpo.plugins.phases.methods.changepoint import levelled
from jpo.plugins.phases.methods.crbm import CENTRES, CrbmOptions, cluster, nearest, train_crbm
from jpo.plugins.phases.methods.hmm import fit_hmm
from jpo.plugins.phases.model import HORIZON_SECONDS, PhaseModel, with_needs
from jpo.plugins.phases.parts import Parts
from jpo.plugins.phases.requests.allocate import LeftOut
from jpo.plugins.phases.requests.caution import FOLDS, MISSES, PROVABLE, Caution, Pair, StepTrial, cheapest, little_known
from jpo.plugins.phases.traces import ExecutionTrace, Floats, Traces
from jpo.records import Track, silently

Method = Literal["markov", "hmm", "changepoint", "crbm-kmeans"]
METHODS: tuple[Method, ...] = ("markov", "hmm", "changepoint", "crbm-kmeans")
PHASES_OF_AI4DL = 5
"""Clusters of hidden units where nobody says how many."""
MOST_TRIED = 1200
"""Samples of executions left out on which caution is tried, in all."""
MOST_OF_ONE = 2000
"""Of a longer one, with some 50 kB of what is known after each."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How phases are found.

    Attributes:
        method: one of METHODS.
        n_phases: how many; None: as the traces have them.
        seed: same seed and traces, same model.
        crbm: of the method crbm-kmeans.
        parts: of earlier models, which this one takes over.
        misses: share of the samples whose demand requests may miss.
    """

    method: Method = "markov"
    n_phases: int | None = None
    seed: int = 0
    crbm: CrbmOptions = field(default_factory=CrbmOptions)
    parts: Parts = field(default_factory=Parts)
    misses: float = MISSES

    def __post_init__(self) -> None:
        if self.parts.crbm is not None and self.method != "crbm-kmeans":
            finding = f"is not a part of the method {self.method}"
            raise UsageError("--crbm", finding, "say --method crbm-kmeans", code="JPO-E734")


def fit_model(traces: Traces, options: FitOptions | None = None, track: Track = silently) -> PhaseModel:
    """Phases, what they need, and how much caution requests ask for.

    Raises UsageError: JPO-E733, a package is not installed; JPO-E735, every feature is constant.
    """
    options = options or FitOptions()
    model = fit_phases(traces, options, track)
    caution = caution_of(traces, model, options, track)
    known = little_known(len(traces.executions), traces.samples, caution)
    return replace(model, caution=caution.steps, notes=(*model.notes, *known))


def fit_phases(traces: Traces, options: FitOptions | None = None, track: Track = silently) -> PhaseModel:
    """The same with the caution that nobody has tried."""
    options = options or FitOptions()
    need("a fit of phases", "sklearn")
    first, *others = traces.executions
    some = f"{traces.place}: execution {first.name:.80}" + (f" and {len(others)} more" if others else "")
    scaler = options.parts.scaler or fit_scaler(traces.stacked, traces.features, some)
    chain, weights = _found(scaler.transform(traces.narrowed(scaler.names).stacked), traces, options, track)
    return replace(with_needs(options.method, scaler, chain, traces), weights=weights, misses=options.misses)


def _found(scaled: Floats, traces: Traces, options: FitOptions, track: Track) -> tuple[Chain, Mapping[str, Floats]]:
    k, seed, lengths = options.n_phases, options.seed, traces.lengths
    if options.method == "crbm-kmeans":
        parts = options.parts
        crbm = parts.crbm or train_crbm(scaled, lengths, replace(options.crbm, seed=seed), track)[0]
        activations = crbm.activations(scaled, lengths)
        if parts.clusters is None:
            phases, centres = cluster(activations, k or PHASES_OF_AI4DL, seed)
        else:  # those that no sample of these traces is in are no phases of this model
            used, phases = np.unique(nearest(activations, parts.clusters), return_inverse=True)
            centres = parts.clusters[used]
        return fit_chain(scaled, phases, lengths), {**crbm.arrays(), CENTRES: centres}
    labels = find_levels(levelled(scaled, lengths) if options.method == "changepoint" else scaled, k, seed)
    return fit_hmm(scaled, labels, lengths, seed) if options.method == "hmm" else fit_chain(scaled, labels, lengths), {}


def caution_of(traces: Traces, model: PhaseModel, options: FitOptions, track: Track = silently) -> Caution:
    """The steps for CPU and memory that kept the promise on what was left out; the model's own where there are fewer than FOLDS
    executions or blocks of one, fewer samples than could prove anything, or nothing that keeps it.

    `markov` is fitted anew without it. Other methods, whose fits take longer, keep their phases and lose what was left out
    said of how phases follow each other and what they need.
    """
    whole, traces = len(traces.executions), in_blocks(traces, options.misses)
    if len(traces.executions) < FOLDS or traces.samples < PROVABLE or model.needs is None:
        return Caution(model.caution)
    again = replace(options, n_phases=model.chain.phases)
    are_blocks = len(traces.executions) > whole
    if are_blocks:  # in two of three blocks nothing may change
        again = replace(again, parts=replace(options.parts, scaler=model.scaler))
    phases = traces.split(model.predict(traces)) if options.method != "markov" else []
    tried_on = []
    for fold in track(range(FOLDS), "caution on what is left out"):
        left_out = traces.executions[fold::FOLDS]
        kept = [at for at in range(len(traces.executions)) if at % FOLDS != fold]
        kept = kept[:: max(1, min(-(-traces.samples // MOST_SAMPLES), len(kept) // FOLDS))]  # of many as much as k-means sees
        few = np.cumsum(traces.lengths[fold::FOLDS]) <= MOST_TRIED / FOLDS
        tried = tuple(execution for execution, is_few in zip(left_out, few, strict=True) if is_few)
        rest = replace(traces, executions=tuple(traces.executions[at] for at in kept))
        if options.method == "markov":
            other = fit_phases(rest, again)
        else:
            other = _without(rest, np.concatenate([phases[at] for at in kept]), model)
        tried_on.append(LeftOut(other, replace(traces, executions=tried or (left_out[0].part(0, MOST_OF_ONE),))))

    def try_out(pairs: Sequence[Pair]) -> StepTrial:
        first, *others = (left_out.on(pairs) for left_out in tried_on)
        trial = reduce(StepTrial.with_, others, first)
        return trial if are_blocks else replace(trial, spells=trial.either)  # executions do not depend on each other

    found = cheapest(try_out, options.misses)
    return Caution(found or model.caution, try_out([found]) if found and are_blocks else None)


def in_blocks(traces: Traces, misses: float = MISSES) -> Traces:
    """What can be left out: executions, and FOLDS blocks of one that is long and has half of all samples or more.

    Long: what another one misses before its first resize, since nobody knows how they differ, is half of what may be missed.
    """
    if 2 * max(traces.lengths) < traces.samples:
        return traces
    blocks: list[ExecutionTrace] = []
    for execution in traces.executions:
        n = len(execution.times)
        parts = FOLDS if execution.seconds >= 2 * HORIZON_SECONDS / misses and 2 * n >= traces.samples >= PROVABLE else 1
        blocks += (execution.part(n * part // parts, n * (part + 1) // parts) for part in range(parts))
    return replace(traces, executions=tuple(blocks))


def _without(rest: Traces, phases: Ints, model: PhaseModel) -> PhaseModel:
    """A model of executions whose phases are known; those that none of them has are no phases of it."""
    _, known = np.unique(phases, return_inverse=True)
    scaler = model.scaler
    scaled = scaler.transform(rest.narrowed(scaler.names).stacked)
    chain = fit_chain(scaled, known, rest.lengths)
    return replace(with_needs("markov", scaler, chain, rest), misses=model.misses)
