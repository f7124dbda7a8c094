"""Candidate set of a space: all feasible configurations while they are few, and others that have been run."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from jpo.advisor.space import NumberedSpace
from jpo.agent.action import Allowed, propose_candidates
from jpo.cost import NO_PRICES, log_rate
from jpo.optimizer.search import best_of
from jpo.records import RESOURCES, Candidates, Floats, Parameters, Preference, Run

LARGEST = 2500
"""Most configurations of a space that is weighed whole; from a larger one, moves around the best known ones are taken."""
MOST_OUTSIDE, FASTEST = 200, 50
"""Most configurations outside the space, or anywhere in a large one, whose runs count, since each is one more to weigh: the
newest, and in a large space also the fastest."""


def candidates_among(
    choices: NumberedSpace,
    current: Mapping[str, float],
    runs: Sequence[Run],
    siblings: Sequence[Run] = (),
    searched_for: Preference | None = None,
) -> Candidates:
    """The candidate set of a space: all of it while it is small, else as `propose_candidates` says.

    `searched_for`: the preference of a search, which has candidates near the best of these runs.
    `siblings`: runs of the same job on other hardware, with a value for every parameter like `runs`.
    """
    listed = None if choices.listed is None else [tuple(row.values()) for row in choices.listed]
    if listed is None and math.prod(map(len, choices.ladders.values())) <= LARGEST:
        listed = list(itertools.product(*(choices.ladders[name] for name in choices.names)))
    words: dict[str, dict[float, float]] = {name: {} for name in choices.worded}

    def feasible(today: Parameters, values: Parameters) -> bool:
        return (values == today and choices.holds(today)) or all(values[name] in choices.ladders[name] for name in choices.names)

    if listed is None:
        candidates = propose_candidates(
            current,
            _newest_and_fastest(runs),
            Allowed(choices.names, feasible, choices.ladders),
            log_rate=lambda values: log_rate(values, NO_PRICES),
            siblings=siblings,
            around=[] if searched_for is None else best_of(runs, searched_for, lambda values: log_rate(values, NO_PRICES)),
        )
        return replace(candidates, words=words)
    rows = dict.fromkeys(listed, True)
    now = tuple(current.values())
    rows.setdefault(now, choices.holds(current))
    outside = dict.fromkeys(
        row for row in (tuple(run.parameters.values()) for run in reversed([*siblings, *runs])) if row not in rows
    )
    rows.update(dict.fromkeys(itertools.islice(outside, MOST_OUTSIDE), False))
    grid = np.array(list(rows), dtype=np.float64)
    rates = _log_rates(choices.names, grid)
    today = list(rows).index(now)
    return Candidates(choices.names, grid, today, np.array(list(rows.values())), rates - rates[today], priced=False, words=words)


def _log_rates(names: Sequence[str], rows: Floats) -> Floats:
    """Natural log of the price per hour of each row, (K,); each combination of resources is priced once."""
    resources = [name for name in names if name in RESOURCES]
    if not resources:
        return np.zeros(len(rows))
    allotted = [tuple(row) for row in rows[:, [names.index(name) for name in resources]].tolist()]
    rates = {row: log_rate(dict(zip(resources, row, strict=True)), NO_PRICES) for row in set(allotted)}
    return np.array([rates[row] for row in allotted])


def _newest_and_fastest(runs: Sequence[Run]) -> Sequence[Run]:
    """One run of each configuration that counts, the oldest first."""
    newest = {tuple(run.parameters.values()): run for run in reversed(runs)}
    if len(newest) <= MOST_OUTSIDE:
        return runs
    timed = (run for run in newest.values() if run.ended_well and run.outcome.duration_seconds)
    fastest = sorted(timed, key=lambda run: run.outcome.duration_seconds or math.inf)[:FASTEST]
    kept = {run.run_id for run in (*itertools.islice(newest.values(), MOST_OUTSIDE), *fastest)}
    return [run for run in runs if run.run_id in kept]
