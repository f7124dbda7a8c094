"""`jpo cluster train` and `jpo cluster test`: agents that manage a cluster, and how they do beside rules on sequences of jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jpo.errors import UsageError
from jpo.files import whole
from jpo.plugins.cluster.agents.anchor import MARGINS, anchor
from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent
from jpo.plugins.cluster.agents.contest import SequenceScores, batches, values_of_agent
from jpo.plugins.cluster.agents.guarded import AgentWatch, guarded
from jpo.plugins.cluster.agents.loaded import AgentFaults, load_agent
from jpo.plugins.cluster.agents.model import KINDS, load_weights, new_agent, read_agent, to_bytes
from jpo.plugins.cluster.agents.reserving import values_of_rule
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence
from jpo.plugins.cluster.agents.sequences import Sequences, SeveralWorkloads
from jpo.plugins.cluster.agents.training import reference, train_once
from jpo.plugins.cluster.environment.episode import EpisodeOptions
from jpo.plugins.cluster.environment.rewards import METERED, METRICS
from jpo.plugins.cluster.grid import Scenario, Site
from jpo.plugins.cluster.machine.placement import RESOURCES
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.queueing.selection import NAMES, SELECTIONS
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.standings import ContestResult
from jpo.plugins.cluster.story.scenarios import known_as
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.records import Spread, Track

SHORTEST = 2
"""Jobs of a sequence."""
VALIDATION, VALIDATED, EXAM_EVERY = 0.25, 24, 5
"""Share of what is learnt from that is kept for validation, if it is long enough; sequences of it; rounds between two looks."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Options of `jpo cluster train`; see its help."""

    kind: str
    options: EpisodeOptions
    objective: str
    tries: int
    rounds: int
    episodes: int
    length: int
    split: float
    hidden: int
    lr: float
    gamma: float
    seed: int


@dataclass(frozen=True, slots=True)
class OwnAgent:
    """`mine.py:Mine` as the command line names it, and how long each of its answers may take."""

    file: str
    limit_seconds: float


class Exam:
    """Sequences for validation, and the weights that did best there, without exploring."""

    def __init__(self, drawn: Sequence[JobSequence], agent: LearningAgent, objective: str) -> None:
        self._drawn, self.agent, self._objective = drawn, agent, objective
        self._scales = [reference(one, agent.options, objective) for one in drawn]
        self.best, self.score = agent.weights(), -np.inf

    def examine(self) -> None:
        sign = 1.0 if self._objective == "utilisation" else -1.0
        values = values_of_agent(self.agent, self._drawn, self._objective, batches(len(self._drawn)))
        score = float(np.mean(sign * values / self._scales))
        if score > self.score:
            self.best, self.score = self.agent.weights(), score


Try = tuple[float, bytes, list[dict[str, float]]]
"""How an agent did on validation at its best, its model as it was then, and the figures of each round."""


def train(
    scenarios: Sequence[Scenario],
    lessons: Lessons,
    output: Path,
    *,
    begin: Path | None,
    own: OwnAgent | None,
    spread: Spread,
    track: Track,
) -> tuple[str, str, str]:
    """Let an agent learn on the first part of the workloads, and keep what did best on sequences that it did not learn from.

    `begin`: a model to go on from; `own`: in place of an agent that comes along, all tries in one process. What came of it, in
    lines for people.
    """
    refuse_unknown(scenarios, lessons.objective)
    turns, numbers = range(lessons.rounds), range(lessons.tries)
    if own is None:
        learner = partial(_learner, begin=begin)
        with AgentFaults("the agent"):
            if lessons.tries == 1:
                tries = [_lived(scenarios, lessons, learner, track(turns, "train"), 0)]
            else:
                with spread(lessons.tries) as workers:
                    found = workers(_lived, ((scenarios, lessons, learner, turns, number) for number in numbers))
                    tries = [next(found) for _ in track(numbers, "train")]
    else:
        tries = guarded(
            lambda watch: [
                _lived(scenarios, lessons, lambda attempt: _own_learner(attempt, own, watch), watch.turns(turns), number)
                for number in numbers
            ],
            own.file,
            own.limit_seconds,
            track(range(lessons.tries * lessons.rounds), "train"),
        )
    score, data, rounds = max(tries, key=lambda one: one[0])
    with whole(output) as file:
        file.write(data)
    first, last = rounds[0]["return"], rounds[-1]["return"]
    said = f"mean return {first:.3f} in the first round, {last:.3f} in the last one"
    return said, f"{score:.3f} on validation (-1: as the rule)", f"kept in {output}"


def _lived(
    scenarios: Sequence[Scenario],
    lessons: Lessons,
    learner: Callable[[Lessons], tuple[LearningAgent, str]],
    turns: Iterable[int],
    number: int,
) -> Try:
    """One try; all of them are judged on the same sequences."""
    smallest = min(len(one.jobs) for one in scenarios)
    middle = lessons.split * (1 - VALIDATION) if lessons.split * VALIDATION * smallest > lessons.length else 0.0
    draw = sequences_of(scenarios, lessons.length, 0.0, middle or lessons.split)
    unseen = sequences_of(scenarios, lessons.length, middle, lessons.split) if middle else draw
    rng = np.random.default_rng(lessons.seed)
    drawn = [unseen(rng) for _ in range(VALIDATED)]
    rng = np.random.default_rng([lessons.seed, number]) if number else rng
    agent, kind = learner(replace(lessons, seed=lessons.seed + number))
    exam, rounds = Exam(drawn, agent, lessons.objective), list[dict[str, float]]()
    exam.examine()
    for turn in turns:
        rounds.append(train_once(agent, draw, rng, episodes=lessons.episodes, objective=lessons.objective))
        if turn % EXAM_EVERY == EXAM_EVERY - 1 or turn == lessons.rounds - 1:
            exam.examine()
    agent.load(exam.best)
    return float(exam.score), to_bytes(agent, kind), rounds


def _own_learner(lessons: Lessons, own: OwnAgent, watch: AgentWatch) -> tuple[LearningAgent, str]:
    with watch.asking():
        found = load_agent(own.file)
        if not issubclass(found, LearningAgent):
            finding, remedy = f"{found.__name__} does not learn", "jpo cluster test judges it as it is"
            raise UsageError("--agent", finding, remedy, code="JPO-E748")
        agent = found(hidden=lessons.hidden, lr=lessons.lr, gamma=lessons.gamma, seed=lessons.seed)
    return watch.over(agent), Path(own.file).name


def _learner(lessons: Lessons, begin: Path | None) -> tuple[LearningAgent, str]:
    if begin:
        return read_agent(begin, seed=lessons.seed)
    numbers = {"hidden": lessons.hidden, "seed": lessons.seed}
    return new_agent(lessons.kind, lessons.options, lr=lessons.lr, gamma=lessons.gamma, **numbers), lessons.kind


@dataclass(frozen=True, slots=True)
class ContestOptions:
    """What an agent is judged by: the metric, how many sequences of how many jobs, from which share of the workload on."""

    objective: str
    sequences: int
    length: int
    split: float


@dataclass(frozen=True, slots=True)
class Contestant:
    """An agent to be judged: of a model, of a user's file, or that with kept weights. `anchored`: as in anchor.py.

    Raises UsageError: JPO-E744, neither is named, or a user's agent is to be anchored.
    """

    own: OwnAgent | None
    model: Path | None
    seed: int
    anchored: bool = False

    def __post_init__(self) -> None:
        if self.anchored and self.own is not None:
            raise UsageError("--anchored", "is for models", "leave out --agent or --anchored", code="JPO-E744")
        if self.own is None and self.model is None:
            raise UsageError("jpo cluster test", "has no agent", "give --model or --agent", code="JPO-E744")


def test(
    scenarios: Sequence[Scenario], contestant: Contestant, rules: Sequence[Rule], by: ContestOptions, *, track: Track
) -> ContestResult:
    """An agent beside rules on sequences of the last part of the workloads."""
    refuse_unknown(scenarios, by.objective)
    own, seed = contestant.own, contestant.seed
    margin: float | None = None
    draw = sequences_of(scenarios, by.length, by.split, 1.0)
    rng = np.random.default_rng(seed)
    drawn = [draw(rng) for _ in range(by.sequences)]
    turns = batches(by.sequences)
    if own is None:
        assert contestant.model is not None
        agent, name = read_agent(contestant.model, seed=seed)[0], contestant.model.stem
        if contestant.anchored:
            _anchor(agent, scenarios, by, track)
            margin = agent.margin
        resources, found = agent.options.resources, values_of_agent(agent, drawn, by.objective, track(turns, "test"))
    else:
        name, resources, found = guarded(
            lambda watch: _own_values(own, contestant.model, drawn, by.objective, watch),
            own.file,
            own.limit_seconds,
            track(turns, "test"),
        )
    values = {name: found}
    for rule in rules:
        placed = rule if rule.resources else replace(rule, resources=resources)
        values[rule.name] = np.array([values_of_rule(placed, one, (by.objective,))[0] for one in drawn])
    workloads = tuple(one.name for one in scenarios)
    return ContestResult(SequenceScores(by.objective, values), name, by.sequences, by.length, workloads, margin)


def _anchor(agent: LearningAgent, scenarios: Sequence[Scenario], by: ContestOptions, track: Track) -> None:
    """Try an agent on the first part of the workloads; UsageError, JPO-E744: there is none, or the agent began with no rule."""
    if agent.options.mode == "pair" or not by.split:
        finding = "has no first part of the workload to try the agent on" if not by.split else "has no rule to go back to"
        remedy = "give a --split above 0" if not by.split else "use a model of mode backfill or job"
        raise UsageError("--anchored", finding, remedy, code="JPO-E744")
    past = sequences_of(scenarios, by.length, 0.0, by.split).one_after_the_other()
    anchor(agent, past, by.objective, track(range(1 + len(MARGINS)), "anchor"))


def _own_values(
    own: OwnAgent, model: Path | None, drawn: Sequence[JobSequence], objective: str, watch: AgentWatch
) -> tuple[str, str, NDArray[np.float64]]:
    """The name of a user's agent, its resource selection, and the metric of each sequence."""
    with watch.asking():
        found = load_agent(own.file)
        agent = found()
    if model is not None:
        if isinstance(agent, ClassicAgent):
            raise UsageError("--model", f"{found.__name__} learns nothing", "leave out one of them", code="JPO-E744")
        load_weights(agent, model)
    turns = watch.turns(batches(len(drawn)))
    return found.__name__, agent.options.resources, values_of_agent(watch.over(agent), drawn, objective, turns)


def sequences_of(scenarios: Sequence[Scenario], length: int, begin: float, end: float) -> SeveralWorkloads:
    """Draws sequences of a part of the workloads. Raises UsageError: JPO-E744, a part is shorter than a sequence."""
    several = []
    for scenario in scenarios:
        if int((end - begin) * len(scenario.jobs)) < max(length, SHORTEST):
            finding = f"has {len(scenario.jobs)} jobs, and a part of {end - begin:.0%} is shorter than {length}"
            raise UsageError(scenario.name, finding, "give a smaller --length, or more jobs", code="JPO-E744")
        site = scenario.site or Site(equal_processors(scenario.processors), one_core_each(scenario.jobs))
        several.append(Sequences(scenario.jobs, site.demand, site.platform, length, begin, end))
    return SeveralWorkloads(tuple(several))


def known_objective(name: str) -> str:
    if name not in METRICS:
        raise UsageError("--objective", f"{name!r:.40} is not a metric", f"name one of {', '.join(METRICS)}", code="JPO-E744")
    return name


def refuse_unknown(scenarios: Sequence[Scenario], objective: str) -> None:
    """Raise UsageError, JPO-E744, where an objective is about energy and nothing says what the processors draw."""
    if objective in METERED and not all(one.site and one.site.platform.metered for one in scenarios):
        finding = f"{objective} is unknown: nothing says what the processors draw"
        raise UsageError("--objective", finding, "give a --platform whose processors have watts", code="JPO-E744")


def lessons_of(given: Mapping[str, Any], seed: int) -> Lessons:
    """Options of the command line as lessons.

    Raises UsageError: JPO-E744, an unknown learner, objective, order or resource selection, or an order that changes with time.
    """
    order = known_as("--order", given["order"], NAMES)
    if order in SELECTIONS and SELECTIONS[order].timed:
        raise UsageError("--order", f"{order} changes with time", "name a selection whose keys stay, e.g. saf", code="JPO-E744")
    resources = known_as("--resource", given["resource"], RESOURCES)
    kinds = KINDS if given["mode"] == "backfill" else ("actor-critic", "reinforce")
    options = EpisodeOptions(given["mode"], given["slots"], order, resources, seed=seed)
    return Lessons(
        known_as("--learner", given["learner"] or kinds[0], kinds),
        options,
        known_objective(given["objective"]),
        **{name: given[name] for name in ("tries", "rounds", "episodes", "length", "split", "hidden", "lr", "gamma")},
        seed=seed,
    )
