"""All replays of a comparison: every policy on every workload, for every objective and seed, spread over processes.

The work is cut into pieces of a few seeds and given to joblib, which also hands it to a Ray cluster. A piece is a pure function
of what it is given, so the result does not depend on who computed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jpo.replay.extras import need
from jpo.replay.metrics import Score, over_workloads, score
from jpo.replay.play import Make, Objective, Problem, Replay, play
from jpo.replay.policies.simple import Default
from jpo.replay.traces import Trace

Backend = Literal["loky", "threading", "ray"]
Track = Callable[[Sequence[int], str], Iterable[int]]
"""Goes through numbers and shows how far it is."""
SEEDS_PER_PIECE, PIECES_PER_WORKER = 5, 4
"""How the work is cut: small enough to be spread and to show progress, large enough that handing it out costs little."""


@dataclass(frozen=True, slots=True)
class Contest:
    """What is compared.

    Attributes:
        makes: policies by name.
        horizons: numbers of runs at which the cumulative cost is told, ascending; the last one is played.
        seeds: replays of each policy on each workload, with seeds from `first_seed` on.
    """

    traces: tuple[Trace, ...]
    makes: Mapping[str, Make]
    objectives: tuple[Objective, ...]
    horizons: tuple[int, ...]
    seeds: int
    first_seed: int = 0

    @property
    def runs(self) -> int:
        return self.horizons[-1]


@dataclass(frozen=True, slots=True)
class Standing:
    """A policy's score under one objective, over all workloads and on each of them by name."""

    overall: Score
    by_workload: Mapping[str, Score]


Result = Mapping[Objective, Mapping[str, Standing]]
"""By objective and policy, both in the order in which they were asked for."""


@dataclass(frozen=True, slots=True)
class _Piece:
    trace: Trace
    make: Make
    objective: Objective
    runs: int
    seeds: range


def hold(contest: Contest, *, jobs: int, backend: Backend, track: Track) -> Result:
    """Play everything and keep the score.

    Args:
        jobs: processes or threads at once; -1: one per core. With Ray: tasks at once.

    Raises:
        UsageError: JPO-E703, a package is missing.
    """
    need("jpo replay", "joblib")
    for make in contest.makes.values():  # what a policy lacks is told before the others have played for minutes
        make(Problem(contest.traces[0].configurations, contest.traces[0].default, contest.objectives[0], contest.first_seed))
    pieces = [piece for trace in contest.traces for piece in _pieces(contest, trace)]
    replays: dict[tuple[str, Objective, Make], list[Replay]] = {}
    for piece, several in zip(pieces, _played(pieces, jobs=jobs, backend=backend, track=track), strict=True):
        replays.setdefault((piece.trace.name, piece.objective, piece.make), []).extend(several)
    return {
        objective: {
            name: _standing({trace.name: _score(replays, trace.name, objective, make) for trace in contest.traces})
            for name, make in contest.makes.items()
        }
        for objective in contest.objectives
    }


def _score(
    replays: Mapping[tuple[str, Objective, Make], Sequence[Replay]], trace: str, objective: Objective, make: Make
) -> Score:
    return score(replays[trace, objective, make], replays[trace, objective, Default])


def _standing(by_workload: Mapping[str, Score]) -> Standing:
    return Standing(over_workloads(list(by_workload.values())), by_workload)


def _pieces(contest: Contest, trace: Trace) -> Iterable[_Piece]:
    """Never changing anything is always played: harm is measured against it."""
    end = contest.first_seed + contest.seeds
    for make in dict.fromkeys([Default, *contest.makes.values()]):
        for objective in contest.objectives:
            for start in range(contest.first_seed, end, SEEDS_PER_PIECE):
                yield _Piece(trace, make, objective, contest.runs, range(start, min(start + SEEDS_PER_PIECE, end)))


def _play(piece: _Piece) -> list[Replay]:
    return [play(piece.trace, piece.make, piece.objective, runs=piece.runs, seed=seed) for seed in piece.seeds]


def _played(pieces: Sequence[_Piece], *, jobs: int, backend: Backend, track: Track) -> Iterable[list[Replay]]:
    """The pieces' replays in their order."""
    import joblib  # type: ignore[import-untyped]

    if backend == "ray":
        need("--backend ray", "ray")
        from ray.util.joblib import register_ray  # type: ignore[import-not-found,unused-ignore]

        register_ray()
    with joblib.parallel_config(backend=backend), joblib.Parallel(n_jobs=jobs) as workers:
        batch = PIECES_PER_WORKER * joblib.effective_n_jobs(jobs)  # Ray's backend cannot report piece by piece
        for start in track(range(0, len(pieces), batch), "replay"):
            yield from workers(joblib.delayed(_play)(piece) for piece in pieces[start : start + batch])
