"""JPO as a library: ask for the next configuration, tell what came of it. What notebooks, replays and comparisons use.

    advisor = Advisor({"batch_size": [32, 64, 128], "gpus": [1, 2, 4]}, current={"batch_size": 32, "gpus": 1})
    while True:
        suggestion = advisor.ask()
        advisor.tell(suggestion.parameters, Outcome(duration_seconds=train(**suggestion.parameters)))

It knows no file, no store and no clock; `jpo suggest` puts the same questions to the same belief and agent (`advise`). That also
watches the calibration of its last forecasts, which takes 20 beliefs more than an answer here may take.
What `ask` answers rests on durations: a run told without one says whether it ended well and what loss it had, no more.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.advisor.candidates import candidates_among
from jpo.advisor.inputs import budget_of, goal_of, identity_of, policy_of, preference_of, quality_of, status_of, whole_number
from jpo.advisor.space import Configuration, Space, numbered_space
from jpo.agent.action import Allowed
from jpo.agent.budget import BUDGET, BUDGET_RUNS, Boldness, Goal
from jpo.agent.comparison import Comparison
from jpo.agent.policy import Policy
from jpo.agent.problem import Problem
from jpo.errors import UsageError
from jpo.forecast.evidence.plausibility import plausible
from jpo.forecast.predict import predict
from jpo.optimizer.advise import advise_among
from jpo.optimizer.installation import residuals_of_workloads
from jpo.optimizer.prior import FEW, Prior, believe, prior_of, with_siblings
from jpo.optimizer.request import Goals, Request
from jpo.optimizer.search import search_values
from jpo.records import (
    QUALITIES,
    Belief,
    Candidates,
    Decision,
    Forecast,
    Identity,
    Known,
    Note,
    Outcome,
    PolicyName,
    Preference,
    Quality,
    Residuals,
    Run,
    RunStatus,
    each_judged,
    own_quality,
    quality_measured,
    same,
    texts_of,
)
from jpo.wording import numbers

if TYPE_CHECKING:
    import pandas

Workload = str | Mapping[str, str | None] | Identity
"""A name ("dataset/model/framework" where it has three parts), or its parts by name, with the hardware where it is known."""
FinishedRun = Run | tuple[Configuration, Outcome] | tuple[Workload, Configuration, Outcome]
"""A finished run: of this workload as (parameters, outcome), of any one as (workload, parameters, outcome), or as recorded."""


@dataclass(frozen=True, slots=True, repr=False)
class NextConfiguration:
    """Configuration to run next, with its forecast and the reasons.

    Attributes:
        parameters: in the caller's own values.
        forecast: what is expected of one run with them; None where no evidence supports a number.
        reasons: one sentence for each thing that decided it, most important first.
        confidence: probability, under the belief, that it is not worse than `current` by more than a tenth; None if unknown.
        decided_by: "sac", "belief", another policy, or "no evidence" (then `parameters` is `current`: it gives the reference).
        codes: stable reason codes (docs/codes.md).
    """

    parameters: dict[str, object]
    forecast: Forecast
    reasons: tuple[str, ...]
    confidence: float | None
    decided_by: str
    codes: tuple[str, ...]

    def __repr__(self) -> str:
        known = {name: f"{each.mean:.4g} ({each.low:.4g} to {each.high:.4g})" for name, each in self.forecast.known.items()}
        shown = {"parameters": self.parameters, "forecast": known, "reasons": self.reasons, "confidence": self.confidence}
        return f"NextConfiguration({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


class Advisor:
    """Optimizer of one recurring job: it is asked for the next configuration and told what came of it.

    Args:
        space: parameter -> choices or `Range`, or a list of all feasible configurations. Any name may be a parameter; those of
            `jpo.records.PARAMETERS` have a meaning to JPO (batch_size is global, memory in GiB).
        current: today's configuration, the reference of everything. It may be outside the space: then it is suggested only until
            it has ended well once, and with explore = "off" until a configuration of the space has.
        preference: "time", "cost", "efficiency", "balanced", or weights of time, cost, efficiency and loss that sum to 1.
        workload: see `Workload`, by which runs of this job are told from others in `history`. Those of the same job on other
            hardware count almost like its own, relative to each other.
        seed: of the simulated jobs, at least 0. The same seed and runs give the same answer, in every process.
        explore: "off", "safe" or "on", see `jpo.agent.decide`.
        horizon_runs: how many runs the job will have in all, those told included; None: not known.
        exploration_runs: how many configurations besides the first are to be tried, even where none is expected to pay off.
        budget: how many runs of today's configuration exploring may cost in 20 runs.
        history: runs told before this one, of this workload or of others, oldest first.
        policy: the trained agent, e.g. of `jpo.agent.policy.load_policy`, or the name of one ([agent] in docs/jpo-toml.md;
            "shipped" is "sac"); None: the belief rule decides.
        metric: a metric of the caller's own in `Outcome.metrics`: {"name": "f1", "direction": "max"}, with the value of a perfect
            model as "best" where that is not 1.
        quality: by what models are judged: "val_loss", "val_accuracy" or the name of `metric`; None: the first that runs measure.
        goal: "recurring", where what all runs cost counts, or "search", where the best model of them does; None: see `goal_of`.
        prior: what is believed before the first run, from candidates, seed and the runs of other workloads; for comparisons.
            None: simulated jobs, see `prior_of`.

    Raises:
        UsageError: JPO-E720 for a space, configuration, history or other argument that cannot be used.
        StoreError: JPO-E601, JPO-E602 for a shipped policy that is damaged or of another version.
        ValueError: a preference whose weights do not sum to 1. (An `Outcome` with a NaN or a negative duration raises it, too.)
    """

    def __init__(
        self,
        space: Space,
        current: Configuration,
        preference: str | Mapping[str, float] | Preference = "balanced",
        workload: Workload | None = None,
        seed: int = 0,
        explore: Literal["off", "safe", "on"] = "safe",
        history: Iterable[FinishedRun] = (),
        *,
        horizon_runs: int | None = None,
        exploration_runs: int = 0,
        budget: float = BUDGET,
        policy: Policy | PolicyName | Literal["shipped"] | None = "shipped",
        metric: Mapping[str, object] | None = None,
        quality: str | None = None,
        goal: Goal | None = None,
        prior: Callable[[Candidates, int, Sequence[Run]], Prior] | None = None,
    ) -> None:
        self._space = numbered_space(space).knowing(current)
        self._current = self._space.numbers(current)
        missing = [name for name in self._space.names if name not in self._current]
        if missing:
            raise UsageError("current", f"does not say {missing[0]}", "give today's value of every parameter", code="JPO-E720")
        if explore not in ("off", "safe", "on"):
            raise UsageError("explore", f"{explore!r} is unknown", "write off, safe or on", code="JPO-E720")
        self._today = {name: current[name] for name in self._space.names}
        self._preference = preference_of(preference)
        self._identity = identity_of(workload)
        self._seed = whole_number("seed", seed)
        self._explore = explore
        self._horizon_runs = None if horizon_runs is None else whole_number("horizon_runs", horizon_runs, at_least=1)
        self._exploration_runs = whole_number("exploration_runs", exploration_runs)
        self._goal = goal_of(goal, self._preference, asked_for=explore == "on" and horizon_runs is not None)
        self._budget = budget_of(budget)
        self._policy = policy_of(policy)
        self._asked_quality, self._metric = quality_of(quality, metric)
        self._prior = prior or (partial(prior_of, particles=FEW) if self._goal == "search" else prior_of)
        self._runs: list[Run] = []
        self._believable: tuple[Run, ...] | None = None
        self._others: list[Run] = []
        self._siblings: list[Run] = []
        self._believed: tuple[bytes, Prior] | None = None
        self._residuals: tuple[int, Residuals | None] = (0, None)
        if not isinstance(history, Iterable):
            raise UsageError("history", f"is {history!r:.80}", "give a list of finished runs", code="JPO-E720")
        for entry in history:
            self._take_in(entry)

    def __repr__(self) -> str:
        told = f"{numbers.counted(len(self._runs), 'run')} told"
        return f"<Advisor of {', '.join(self._space.names)}: {self._goal}, {told}, current={self._today!r}>"

    @property
    def runs(self) -> list[tuple[dict[str, object], Outcome]]:
        """What was told of this workload, oldest first, as `history` takes it."""
        return [(self._space.meaning(run.parameters), run.outcome) for run in self._runs]

    def to_dataframe(self) -> "pandas.DataFrame":
        """The runs as a table: a row each, oldest first; a column per parameter, and per quantity that any run measured."""
        import pandas

        told = ((parameters, outcome.known, {"stopped": True} if outcome.stopped else {}) for parameters, outcome in self.runs)
        return pandas.DataFrame([{**parameters, **known, **end} for parameters, known, end in told])

    def ask(self) -> NextConfiguration:
        """The next configuration. Changes nothing: asked again, it answers the same.

        It answers `current` while no run with a duration has ended well. What did not end well in its last two runs is not asked
        for again while there is anything else, but the most promising of that; only with explore = "off" there is nothing else.
        """
        candidates, belief = self._posterior()
        explore = self._explore
        if not candidates.admissible[candidates.current] and not belief.runs[candidates.admissible].any():
            # Nothing within the space is known, so nothing there is known to be safe.
            if explore == "off":  # then today's configuration may stay
                todays = np.arange(len(candidates.values)) == candidates.current
                candidates = replace(candidates, admissible=candidates.admissible | todays)
            else:
                explore = "on"
        request = Request(
            self._current,
            Allowed(candidates.names),
            Goals(self._preference, quality=belief.quality, qualities=self._qualities),
            Boldness(explore, budget=self._budget, exploration_runs=self._exploration_runs, goal=self._goal),
            horizon_runs=self._horizon_runs,
        )
        elsewhere = (run for run in self._evidence[-BUDGET_RUNS:] if not same(run.parameters, self._current))
        followed_up = tuple((run, self._current) for run in elsewhere)  # keeping today's explores nothing, even if it fails
        if self._policy is not None and self._residuals[0] != len(self._others):
            self._residuals = len(self._others), residuals_of_workloads(self._others)
        known = Known(self._evidence, followed_up=followed_up, residuals=self._residuals[1])
        decision, forecast = advise_among(candidates, belief, request, known, self._policy)
        if explore != "off" and (other := self._instead(decision.choice, candidates, belief)) is not None:
            values = ", ".join(f"{name} = {value}" for name, value in self._meaning(decision.choice, candidates).items())
            failed = f"the last two runs with {values} did not end well"
            decision = Decision(other, None, "belief", (Note("JPO-W721", f"{failed}; this is tried instead"),))
            forecast = predict(belief, other, usd_per_hour=None)
        parameters = self._meaning(decision.choice, candidates)
        reasons = texts_of(decision.reasons)
        return NextConfiguration(parameters, forecast, reasons, decision.confidence, decision.decided_by, decision.codes)

    def tell(self, parameters: Configuration, outcome: Outcome) -> None:
        """Take in what came of a run, the newest one. A configuration outside the space is evidence too, and is never suggested.

        Runs may contradict each other: equal ones that differ widely make the forecast wide. A duration of 0 is none.

        Raises UsageError: JPO-E720, a parameter that the space does not know; one that is left out had today's value.
        """
        if not isinstance(outcome, Outcome):
            raise UsageError("tell", f"was given {outcome!r:.80}", "give an Outcome", code="JPO-E720")
        self._space = self._space.knowing(parameters)
        self._add(self._space.numbers(parameters), outcome, status_of(outcome))

    @property
    def incumbent(self) -> dict[str, object]:
        """The best configuration so far under the preference, in a search by all runs; `current` while nothing has ended well."""
        candidates, belief = self._posterior()
        comparison = Comparison(candidates, belief, self._preference)
        best: int | None = Problem(comparison).acquisition.incumbent
        if self._goal == "search":
            best = search_values(comparison, belief.quality.judged(self._evidence), None).best
        return self._meaning(candidates.current if best is None else best, candidates)

    @property
    def _evidence(self) -> tuple[Run, ...]:
        """The runs without what cannot be believed of them."""
        if self._believable is None:
            self._believable, _ = plausible(self._runs)
        return self._believable

    def _posterior(self) -> tuple[Candidates, Belief]:
        """Candidates, and the belief about them after the runs. The prior is kept while the candidates stay the same."""
        asked = (each for each in self._qualities if each.name == self._asked_quality)
        quality = next(asked, None) or quality_measured(self._evidence, self._qualities)
        wanted = self._preference if self._goal == "search" else None
        runs = quality.judged(self._evidence) if wanted else self._evidence
        candidates = candidates_among(self._space, self._current, runs, self._siblings, wanted)
        candidates = replace(candidates, by_energy=self._preference.energy > 0)
        key = candidates.values.tobytes() + repr(quality if self._siblings else "").encode()
        if self._believed is None or self._believed[0] != key:
            prior = self._prior(candidates, self._seed, each_judged(self._others, self._qualities))
            self._believed = key, with_siblings(prior, candidates, quality.judged(self._siblings), self._seed)
        return candidates, believe(self._believed[1], candidates, self._evidence, quality)

    @property
    def _qualities(self) -> tuple[Quality, ...]:
        return (*QUALITIES, own_quality(*self._metric, self._evidence)) if self._metric else QUALITIES

    def _instead(self, choice: int, candidates: Candidates, belief: Belief) -> int | None:
        """What to run rather than a choice that keeps failing; None where it does not, or everything else does as well."""
        bad = belief.failures + belief.stopped >= 2
        for row in np.flatnonzero(bad):
            parameters = candidates.parameters(int(row))
            last = itertools.islice((run for run in reversed(self._runs) if same(run.parameters, parameters)), 2)
            bad[row] = not any(run.ended_well for run in last)
        rows = candidates.admissible & ~bad
        if not bad[choice] or not rows.any():
            return None
        expected = Problem(Comparison(candidates, belief, self._preference)).acquisition.expected
        return int(np.argmin(np.where(rows, expected, np.inf)))

    def _meaning(self, row: int, candidates: Candidates) -> dict[str, object]:
        return dict(self._today) if row == candidates.current else self._space.meaning(candidates.parameters(row))

    def _take_in(self, entry: object) -> None:
        """One entry of the history, see `FinishedRun`."""
        if isinstance(entry, Run):
            values = {name: value for name, value in entry.parameters.items() if name in self._space.names}
            if entry.identity == self._identity:
                self._add(values, entry.outcome, entry.status)
            elif entry.identity.is_sibling_of(self._identity):
                self._siblings.append(replace(entry, parameters={**self._current, **values}))
            else:
                self._others.append(entry)
            return
        if not isinstance(entry, tuple) or len(entry) not in (2, 3) or not isinstance(entry[-1], Outcome):
            finding = f"contains {entry!r:.80}, which is not a finished run"
            raise UsageError("history", finding, "give (parameters, Outcome) or (workload, parameters, Outcome)", code="JPO-E720")
        *workload, parameters, outcome = entry
        identity = identity_of(*workload) if workload else self._identity
        if identity == self._identity:
            self.tell(parameters, outcome)
            return
        self._space = self._space.knowing(parameters)
        ours = {name: value for name, value in parameters.items() if name in self._space.names}
        numbers, number = self._space.numbers(ours), len(self._others) + len(self._siblings)
        run = Run(str(number), identity, numbers, status_of(outcome), None, float(number), outcome, "told")
        if identity.is_sibling_of(self._identity):
            self._siblings.append(run.completed(self._current))
        else:
            self._others.append(run)

    def _add(self, values: Mapping[str, float], outcome: Outcome, status: RunStatus) -> None:
        """The order in which runs are told is their age: recorded times and told runs are not compared."""
        number = len(self._runs)
        run = Run(str(number), self._identity, {**self._current, **values}, status, None, float(number), outcome, "told")
        self._runs.append(run)
        self._believable = None
