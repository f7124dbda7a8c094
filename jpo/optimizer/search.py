"""What a search knows of its candidates: a first step, and from two runs on a Gaussian process over what they measured.

The first step is the belief's where time or cost matter, of which it has physics, else to the middle. Later other jobs' surfaces
count as far as the runs are like them. The belief says what fails, and that the less the more runs end well: of failures and
losses it is too sure, and its expected improvement, alone or mixed in, left more of the way (decision 0114).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from jpo.agent.candidate_rows import least, rows_of_runs
from jpo.agent.comparison import Comparison
from jpo.agent.preference import FAILURE_CHARGE, scalarise
from jpo.agent.reward import objective, reward_vector
from jpo.agent.search.search_values import SearchValues
from jpo.forecast.gaussian_process import expected_improvement, process_after
from jpo.records import Candidates, Floats, Ints, Parameters, Preference, Run, RunStatus, TransferredSurfaces

CENTRES = 2
"""Best runs around which candidates lie."""
MOST_RUNS = 80
"""Runs that the process weighs, half of them the newest, half the best: its time grows with their cube."""


def search_values(comparison: Comparison, runs: Sequence[Run], horizon_runs: int | None) -> SearchValues:
    """Values of the candidates after the finished runs, oldest first."""
    candidates, belief, preference = comparison.candidates, comparison.belief, comparison.preference
    rows, values = objectives_of(candidates, runs, preference)
    ended_well = np.isin(np.arange(len(belief.runs)), rows) & (belief.runs > 0) & candidates.admissible
    points, knobs = places(candidates)
    if len(set(rows.tolist())) < 2 or not ended_well.any():
        best = least(comparison.weighed.expected, ended_well) if ended_well.any() else None
        if preference.time or preference.paid:
            return SearchValues(comparison.weighed.improvement, best, len(runs), horizon_runs)
        worded = [candidates.names[knob] in candidates.words for knob in knobs]
        middle = np.where(worded, points[candidates.current], 0.5)  # of the numbers, with today's words
        return SearchValues(-np.asarray(np.abs(points - middle).sum(axis=1)), best, len(runs), horizon_runs)
    recalled = belief.recalled
    surfaces, trust = (_surfaces(candidates, recalled, preference), recalled.trust) if recalled else (None, 0.0)
    mean, sd = process_after(points, knobs, rows, values, surfaces, trust=trust, seed=0)
    best = least(mean.mean(axis=0), ended_well)
    so_far = mean[:, np.flatnonzero(ended_well)].min(axis=1, keepdims=True)
    ended = [run.ended_well for run in runs if run.status is not RunStatus.STOPPED]
    fails = belief.p_fail * (1 + ended.count(False)) / (1 + len(ended))
    return SearchValues(expected_improvement(mean, sd, so_far).mean(axis=0) * (1 - fails), best, len(runs), horizon_runs)


def _surfaces(candidates: Candidates, recalled: TransferredSurfaces, preference: Preference) -> Floats:
    """What jobs like the other ones would measure of the preference here, (M, K)."""
    of = recalled.draws
    return scalarise(of.log_time, of.log_time + candidates.log_rate, of.log_utilisation, of.log_loss, preference)


def objectives_of(candidates: Candidates, runs: Sequence[Run], preference: Preference) -> tuple[Ints, Floats]:
    """Rows and log objectives of the runs that say what is searched for, (R,) each, against the first of them that ended well.

    A failed run counts as the worst of them, or as a failure costs.
    """
    ended = [run for run in runs if run.status is not RunStatus.STOPPED]
    where = rows_of_runs(candidates, ended)
    rows, known = where[where >= 0], [run for run, row in zip(ended, where, strict=True) if row >= 0]
    well = np.array([run.ended_well for run in known], dtype=np.bool_)
    if not well.any():
        return rows[:0], np.zeros(0)
    found = _objectives([run for run in known if run.ended_well], candidates.log_rate[rows[well]].tolist(), preference)
    values = np.full(len(rows), np.fmax.reduce(found, initial=math.log(FAILURE_CHARGE)))
    values[well] = found
    kept = np.flatnonzero(np.isfinite(values))
    if len(kept) > MOST_RUNS:
        best = kept[np.argsort(values[kept], kind="stable")][: MOST_RUNS // 2]
        kept = np.union1d(best, kept[-MOST_RUNS // 2 :])
    return rows[kept], values[kept]


def best_of(runs: Sequence[Run], preference: Preference, log_rate: Callable[[Parameters], float]) -> list[Parameters]:
    """The configurations of the best runs so far, at most CENTRES, the best first."""
    well = [run for run in runs if run.ended_well]
    if not well:
        return []
    found = _objectives(well, [log_rate(run.parameters) for run in well], preference)
    return [well[at].parameters for at in np.argsort(found, kind="stable")[:CENTRES]]  # what was not measured comes last


def _objectives(well: Sequence[Run], log_rates: Sequence[float], preference: Preference) -> Floats:
    """Log objective of each of these runs, which ended well, against the first, (R,); NaN: not measured."""
    by_energy, pairs = preference.energy > 0, zip(well, log_rates, strict=True)
    vectors = [reward_vector(run, well[0], rate - log_rates[0], by_energy=by_energy) for run, rate in pairs]
    return objective(np.stack(vectors), preference)


def places(candidates: Candidates) -> tuple[Floats, Ints]:
    """Places of the candidates, (K, C), each column 0..1, and the knob of each column, (C,); a word has a column per value."""
    columns, knobs = [], []
    for knob, (name, column) in enumerate(zip(candidates.names, candidates.values.T, strict=True)):
        each = [scaled(column)]
        if name in candidates.words:
            each = [(column == value) / math.sqrt(2) for value in sorted({*column.tolist()})]
        columns += each
        knobs += [knob] * len(each)
    return np.stack(columns, axis=1), np.array(knobs)


def scaled(column: Floats) -> Floats:
    """A column scaled to 0..1, on a logarithmic scale where the values are positive and span more than a factor of ten."""
    logarithmic = column.min() > 0 and column.max() / 10 > column.min()
    values = np.log(column) if logarithmic else column
    return np.asarray((values - values.min()) / (np.ptp(values) or 1.0))
