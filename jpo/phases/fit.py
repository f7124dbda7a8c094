"""A fit from traces to a model by one of the methods, with the caution that executions left out ask for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jpo.phases.allocate import on_all_steps
from jpo.phases.caution import cheapest
from jpo.phases.model import PhaseModel, fit_markov
from jpo.phases.traces import Traces

FOLDS = 3
"""Parts of the executions that are left out one after the other."""
MOST_TRIED = 1200
"""Samples of executions left out on which caution is tried, in all."""


def fit_model(traces: Traces, *, n_phases: int | None = None, seed: int = 0) -> PhaseModel:
    """Phases, what they need, and how much caution allocations ask for.

    Raises:
        UsageError: JPO-E733, a package is not installed; JPO-E735, every feature is constant.
    """
    model = fit_markov(traces, n_phases=n_phases, seed=seed)
    return replace(model, caution=caution_of(traces, model, seed))


def caution_of(traces: Traces, model: PhaseModel, seed: int) -> tuple[int, int]:
    """The steps for CPU and memory that kept the promise on executions left out; the model's own without any to leave out."""
    if len(traces.courses) < FOLDS or model.needs is None:
        return model.caution
    trials = []
    for fold in range(FOLDS):
        left_out = traces.courses[fold::FOLDS]
        rest = [course for at, course in enumerate(traces.courses) if at % FOLDS != fold]
        few = np.cumsum([len(course.times) for course in left_out]) <= MOST_TRIED / FOLDS
        tried = tuple(course for course, is_few in zip(left_out, few, strict=True) if is_few) or left_out[:1]
        other = fit_markov(replace(traces, courses=tuple(rest)), n_phases=model.chain.phases, seed=seed)
        trials.append(on_all_steps(other, replace(traces, courses=tried)))
    total = trials[0]
    for trial in trials[1:]:
        total = total.with_(trial)
    return cheapest(total)
