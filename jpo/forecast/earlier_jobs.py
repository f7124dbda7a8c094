"""What the jobs of a store showed, as evidence of the next one: simulated jobs are weighed by what each would have done there.

What another job moved, against its first configuration, is placed among the candidates as the same move from this job's. A
simulated job that explains what came of it is likelier here too, as far as the jobs of the store are alike.

Source: predictive distribution of a Dirichlet process, Blackwell and MacQueen, "Ferguson Distributions via Polya Urn Schemes",
Annals of Statistics 1973; its concentration by leaving out one job after another.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from jpo.forecast.belief import at_rows, kind_of, posterior
from jpo.forecast.evidence.work import work_of
from jpo.forecast.weights import softmax
from jpo.records import Candidates, Draws, Floats, Ints, Parameters, Run
from jpo.records.runs import by_workload

MOST_OTHERS = 20
"""Other workloads that have a say in which jobs are simulated, and configurations of each: some ms a workload."""
CONCENTRATIONS = (0.3, 1.0, 3.0, 10.0, 30.0)
"""As how many jobs the simulator counts beside those of the store; as likely each before any job."""
STEPS = 2
"""Steps of expectation maximisation: what is likely here says what each job was like. More leave few simulated jobs."""

LOGS = ("log_time", "log_loss", "log_utilisation", "log_power", "log_throughput")

Moves = tuple[Floats, Sequence[Run]]
"""Configurations of another job as moves from this one's first, (M, P), its first one at their head, and its runs there."""


def moves_of(others: Sequence[Run], candidates: Candidates, first: Parameters) -> list[Moves]:
    """The moves of the newest other jobs, of those that moved something that can be moved here; runs oldest first.

    `first`: this job's first configuration, from which they are made.
    """
    today = candidates.parameters(candidates.current)
    begun = {name: first.get(name, value) for name, value in today.items()}
    newest = reversed([job for job in by_workload(others).values() if len(job) > 1])
    moved = (moves for job in newest if (moves := _moves(job, candidates, begun)))
    return [*islice(moved, MOST_OTHERS)][::-1]


def _moves(job: Sequence[Run], candidates: Candidates, begun: Parameters) -> Moves | None:
    first = next((run for run in job if run.ended_well and run.outcome.duration_seconds), None)
    if first is None or (start := _moved(first, first, candidates, begun)) is None:
        return None
    moved = [replace(run, parameters=there) for run in job if (there := _moved(first, run, candidates, begun)) is not None]
    placed = [tuple(place[name] for name in candidates.names) for place in (start, *(run.parameters for run in moved))]
    rows = [placed[0], *list(dict.fromkeys(row for row in placed if row != placed[0]))[: 1 - MOST_OTHERS : -1]]
    return (np.array(rows, dtype=np.float64), moved) if len(rows) > 1 else None


def _moved(first: Run, run: Run, candidates: Candidates, begun: Parameters) -> dict[str, float] | None:
    """This job's first values with what a run of another moved against its own: in proportion, GPUs in number. None where that
    is no move between the candidates.
    """
    was, now = first.parameters, {**first.parameters, **run.parameters}
    if any(now[name] != was.get(name) for name in now if name not in begun):
        return None
    there = dict(begun)
    for name in begun:
        if name == "gpus" and name in now:
            there[name] = now[name]
        elif name in was and now[name] != was[name]:
            if name in candidates.words or was[name] <= 0:
                return None
            there[name] = begun[name] * now[name] / was[name]
    row = np.array([there[name] for name in candidates.names])
    near = 1e-9 * np.abs(row)
    within = (row >= candidates.values.min(axis=0) - near) & (row <= candidates.values.max(axis=0) + near)
    return there if within.all() else None


def with_moves(candidates: Candidates, moves: Sequence[Moves]) -> Candidates:
    """Today's row, what spans the candidates, and behind that what other jobs ran: the same simulated jobs live there."""
    columns = candidates.values.T
    ends = [candidates.current, *(int(at) for column in columns for at in (column.argmin(), column.argmax()))]
    return _unpriced(candidates, np.concatenate([candidates.values[ends], *(values for values, _ in moves)]))


def _unpriced(candidates: Candidates, values: Floats) -> Candidates:
    rows = len(values)
    return replace(candidates, values=values, current=0, admissible=np.ones(rows, dtype=np.bool_), log_rate=np.zeros(rows))


def likely_here(draws: Draws, ran: Candidates, moves: Sequence[Moves], number: int, seed: int) -> Ints:
    """So many simulated jobs, drawn by how likely each is after what other jobs showed; `draws`: on `ran`, of `with_moves`."""
    weights, start = [], len(ran.values) - sum(len(values) for values, _ in moves)
    for values, runs in moves:
        rows = np.arange(start, start + len(values))
        weights.append(_explaining(at_rows(draws, rows), _unpriced(ran, values), runs))
        start += len(rows)
    likely = np.cumsum(mixture(np.array(weights)))
    drawn = np.searchsorted(likely, (np.arange(number) + 0.5) / number * likely[-1])
    return np.random.default_rng((seed, 5)).permutation(drawn)


def mixture(weights: Floats) -> Floats:
    """Probability of each simulated job for the next workload, (J,), from the posteriors of N others, (N, J).

    It is like one of them, or as the simulator has it; how often the former, those say that were there.
    """
    others, jobs = weights.shape
    alike = jobs * weights @ weights.T  # (N, N): how much likelier one is after the other
    np.fill_diagonal(alike, 0.0)
    counts = np.array(CONCENTRATIONS)
    chance = np.log((counts + alike.sum(axis=1)[:, None]) / (counts + others - 1)).sum(axis=0)
    share = float(softmax(chance) @ (others / (counts + others)))
    mixed = np.full(jobs, 1 / jobs)
    for _ in range(STEPS):
        after = weights * mixed
        mixed = (1 - share) / jobs + share * np.mean(after / after.sum(axis=1, keepdims=True), axis=0)
    return np.asarray(mixed)


def _explaining(draws: Draws, ran: Candidates, runs: Sequence[Run]) -> Floats:
    """How well each simulated job explains the runs, (J,); of the kind that theirs is not it is as likely as before."""
    logs = {name: getattr(draws, name) for name in LOGS}
    there = replace(draws, **{name: log - log[:, [0]] for name, log in logs.items() if log is not None})
    kept = kind_of(draws, work_of(runs))
    weights = np.full(len(kept), 1 / len(kept))
    weights[kept] = kept.mean() * posterior(there, ran, runs).weights
    return weights
