"""A contest of policies: all replays on every workload, for every objective and seed, spread over processes.

The work is cut into pieces of a few seeds. A piece is a pure function of its arguments, so the result does not depend on where it
was computed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from jpo.plugins.lab.replay.metrics import Score, over_workloads, score
from jpo.plugins.lab.replay.play import Objective, PolicyFactory, Replay, ReplayProblem, play
from jpo.plugins.lab.replay.policies.simple import Default
from jpo.plugins.lab.replay.traces import Trace
from jpo.records import Spread, Track

SEEDS_PER_PIECE = 5
"""Size of the pieces: small enough to be spread and to show progress, large enough that distributing them costs little."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The plan of a comparison.

    Attributes:
        factories: of the policies, by name.
        horizons: numbers of runs at which the cumulative cost is reported, ascending; the last one is played.
        seeds: of the replays of each policy on each workload.
    """

    traces: tuple[Trace, ...]
    factories: Mapping[str, PolicyFactory]
    objectives: tuple[Objective, ...]
    horizons: tuple[int, ...]
    seeds: range

    @property
    def runs(self) -> int:
        return self.horizons[-1]


@dataclass(frozen=True, slots=True)
class Standing:
    """A policy's score under one objective, over all workloads and on each of them by name."""

    overall: Score
    by_workload: Mapping[str, Score]


Result = Mapping[Objective, Mapping[str, Standing]]
"""Standings by objective and policy, both in the order of the plan."""
Replays = dict[tuple[str, PolicyFactory, Objective], list[Replay]]
Piece = tuple[Trace, PolicyFactory, Objective, range]


def hold(contest: Contest, *, spread: Spread, track: Track) -> Result:
    """The result of a contest: every replay played and scored.

    Raises UsageError: JPO-E703, a package is missing.
    """
    first = contest.traces[0]
    for factory in contest.factories.values():  # a missing package is reported before the others play for minutes
        factory(ReplayProblem(first.configurations, first.default, contest.objectives[0], contest.seeds[0]))
    pieces, replays = list(_pieces(contest)), Replays()
    with spread(len(pieces)) as workers:
        played = workers(_play, ((*piece, contest.runs) for piece in pieces))
        for place in track(range(len(pieces)), "replay"):
            trace, factory, objective, _ = pieces[place]
            replays.setdefault((trace.name, factory, objective), []).extend(next(played))
    return {
        objective: {name: _standing(contest, replays, factory, objective) for name, factory in contest.factories.items()}
        for objective in contest.objectives
    }


def _standing(contest: Contest, replays: Replays, factory: PolicyFactory, objective: Objective) -> Standing:
    names = [trace.name for trace in contest.traces]
    by_workload = {name: score(replays[name, factory, objective], replays[name, Default, objective]) for name in names}
    return Standing(over_workloads(list(by_workload.values())), by_workload)


def _pieces(contest: Contest) -> Iterable[Piece]:
    """The pieces of a contest; the default policy is always played, because harm is measured against it."""
    some = [contest.seeds[at : at + SEEDS_PER_PIECE] for at in range(0, len(contest.seeds), SEEDS_PER_PIECE)]
    return product(contest.traces, dict.fromkeys([Default, *contest.factories.values()]), contest.objectives, some)


def _play(trace: Trace, factory: PolicyFactory, objective: Objective, seeds: range, runs: int) -> list[Replay]:
    return [play(trace, factory, objective, runs=runs, seed=seed) for seed in seeds]
