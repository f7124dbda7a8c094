"""Candidate set of a request: the configurations between which is chosen, and single ones that are asked for."""

from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import islice

import numpy as np

from jpo.agent.action import followed, propose_candidates
from jpo.agent.candidate_rows import rows_of
from jpo.cost import NO_PRICES, Prices, log_rate, usd_per_hour
from jpo.optimizer.request import Request
from jpo.optimizer.search import best_of
from jpo.records import VAL_LOSS, Candidates, Ints, Parameters, Quality, Run, same

MOST_RUNS = 300
"""Newest runs that are weighed: what was measured before them counts less than a thousandth (forecast/measurements.py)."""
POOLED = frozenset({"learning_rate", "memory_gib"})
"""Parameters that may not matter to how long a run takes."""
BEST_BEFORE, BEFORE = 20, 2000
"""Runs of the last ones before them that stay known as tried, of least duration, cost and loss each."""


def weighed_runs(runs: Sequence[Run], today: Parameters, quality: Quality = VAL_LOSS) -> Sequence[Run]:
    """Runs that are weighed, oldest first: all; of more than MOST_RUNS the newest, the best before them, and today's last."""
    if len(runs) <= MOST_RUNS:
        return runs
    before = runs[-MOST_RUNS - BEFORE : -MOST_RUNS]
    well = [run for run in before if run.ended_well]
    kept = {run.run_id for run in islice((run for run in reversed(before) if same(run.parameters, today)), 1)}
    errors = [quality.error_of(run.outcome.of(quality.name)) for run in well]
    for values in ([run.outcome.duration_seconds for run in well], [run.outcome.cost_usd for run in well], errors):
        measured = [(value, at) for at, value in enumerate(values) if value is not None]
        kept |= {well[at].run_id for _, at in nsmallest(BEST_BEFORE, measured)}
    return [*(run for run in before if run.run_id in kept), *runs[-MOST_RUNS:]]


def collect(request: Request, runs: Sequence[Run], siblings: Sequence[Run] = ()) -> Candidates:
    """Candidate set of a workload with these finished runs, oldest first, and those of the same job on other hardware."""
    by_energy = request.wanted.preference.energy > 0
    prices = NO_PRICES if by_energy else request.prices

    def rate(values: Parameters) -> float:
        return log_rate(values, prices)

    searching, judged = request.boldness.goal == "search", request.wanted.quality.judged(runs)
    around = best_of(judged, request.wanted.preference, rate) if searching else ()
    candidates = propose_candidates(request.current, runs, request.allowed, log_rate=rate, siblings=siblings, around=around)
    return replace(candidates, priced=usd_per_hour(request.current, prices) is not None, by_energy=by_energy)


def admissible_of(candidates: Candidates) -> list[Parameters]:
    """The configurations that may be proposed."""
    return [candidates.parameters(int(row)) for row in np.flatnonzero(candidates.admissible)]


def rows_pooled_with(candidates: Candidates, rows: Ints) -> Ints:
    """These rows (below 0: none), today's, and those with which the belief takes them together, ascending.

    They differ in learning rate or host memory alone (forecast/evidence/duration.py, agent/safety/host_memory.py).
    """
    at = [i for i, name in enumerate(candidates.names) if name not in POOLED]
    _, alike = np.unique(candidates.values[:, at], axis=0, return_inverse=True)
    alike = alike.reshape(-1)
    return np.flatnonzero(np.isin(alike, alike[np.append(rows[rows >= 0], candidates.current)]))


def candidates_at(candidates: Candidates, rows: Ints) -> Candidates:
    """Some of the candidates, today's among them; whether money says what differs is asked of all of them."""
    return Candidates(
        candidates.names,
        candidates.values[rows],
        int(np.searchsorted(rows, candidates.current)),
        candidates.admissible[rows],
        candidates.log_rate[rows],
        priced=candidates.priced or bool(np.ptp(candidates.log_rate) > 0),
        by_energy=candidates.by_energy,
        words=candidates.words,
    )


def with_row(candidates: Candidates, values: Parameters, prices: Prices) -> Candidates:
    """The set with one more configuration, which is not admissible unless it was a candidate before."""
    if rows_of(candidates, values).size:
        return candidates
    now, prices = candidates.parameters(candidates.current), NO_PRICES if candidates.by_energy else prices
    words = {name: {**known, float(values[name]): values[name]} for name, known in candidates.words.items()}
    return replace(
        candidates,
        words=words,
        values=np.vstack([candidates.values, [values[name] for name in candidates.names]]),
        admissible=np.append(candidates.admissible, False),
        log_rate=np.append(candidates.log_rate, log_rate(values, prices) - log_rate(now, prices)),
    )


def with_followers(request: Request, chosen: Parameters) -> dict[str, float]:
    """Today's configuration with some values changed by hand, and what follows them."""
    allowed = request.allowed
    rules = {name: rule for name, rule in allowed.followers.items() if name not in chosen}
    return dict(followed(allowed.terms.with_chosen(request.current, chosen), request.current, rules))
