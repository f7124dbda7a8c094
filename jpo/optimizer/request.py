"""Request: what the user wants of the next run and what is allowed, from today's values to the SLA targets.

`jpo/project` reads jpo.toml and config.ini; what they say is one record here, which candidates, forecasts and decisions share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jpo.agent.budget import BUDGET
from jpo.agent.safety.queue_ahead import QueueAhead
from jpo.cost import Prices
from jpo.records import PARAMETERS, QUALITIES, USD, VAL_LOSS, Currency, Parameters, PolicyName, Preference, Quality, Terms


@dataclass(frozen=True, slots=True)
class Request:
    """Request of the user: what is wanted and allowed.

    Attributes:
        current: today's values by parameter name.
        free: parameters that may change.
        admissible: the guard's word on (today's, proposed) values.
        choices, scales, follow: see `CandidateRules`; choices of batch and GPUs in all.
        terms: in which config.ini says batch and GPUs.
        as_written: see `CandidateRules`.
        targets: SLA targets, by the names of [sla].
        currency: in which messages name amounts.
        explore, confidence: see `decide`.
        named: parameters whose largest value the user has named; of the others no more is asked for under "safe" than ever was.
        quality_floor, min_confidence: see `Problem`.
        quality_risk: chance to fall below the floor from which a trial is not written.
        nightly: whether runs are the nights of a pipeline: what a trial lost is forgotten with time, and `explore` "on" asks for
            something untried.
        measured_alone: values of which no run ended well are left for those of which one did; where none did, for
            `first_values`.
        horizon_runs: how many runs the job will have in all, those on record included; None = not known.
        exploration_runs: how many configurations besides the first are to be tried, even where none is expected to pay off.
        baseline_left: runs with today's values that are waited for before the first change, so that there is a "before".
        budget: how many runs of today's configuration exploring may cost in 20 runs.
        policy: who decides.
        resets: when the agent begins anew: on "evidence" that the world has changed, on a "broken-sla", or every so many seconds.
        usd_per_saved_hour: what an hour less is worth to the user; None = not said.
        as_run: parameters whose value in `current` is what runs have; config.ini says another, and keeps it. For each, what runs
            were seen to make of a value of config.ini.
        room_gib: the most host memory that one run may have, by [quota] or this machine.
        chosen: values set by hand; nothing else changes then but what follows them.
        queue: what the engine says of runs that are submitted now; None = there is none, or it was not asked.
        done_by: `time_max` among the targets is when a run must be done from now on, so that its wait counts.
        quality: by which the models of the workload are judged; `qualities`: all that it may measure.
    """

    current: Parameters
    free: Collection[str]
    admissible: Callable[[Parameters, Parameters], bool]
    preference: Preference
    prices: Prices = field(default_factory=Prices)
    choices: Mapping[str, Sequence[float]] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)
    follow: Mapping[str, str] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    as_written: Callable[[str, float], float] = lambda _, number: number
    targets: Mapping[str, float] = field(default_factory=dict)
    currency: Currency = USD
    explore: Literal["off", "safe", "on"] = "safe"
    confidence: float = 0.9
    named: Collection[str] = PARAMETERS
    quality_floor: float | None = None
    quality_risk: float = 0.2
    min_confidence: float = 0.0
    nightly: bool = False
    measured_alone: bool = False
    first_values: Parameters = field(default_factory=dict)
    horizon_runs: int | None = None
    exploration_runs: int = 0
    baseline_left: int = 0
    budget: float = BUDGET
    policy: PolicyName = "sac"
    resets: Literal["evidence", "broken-sla"] | float = "evidence"
    usd_per_saved_hour: float | None = None
    chosen: Parameters = field(default_factory=dict)
    room_gib: float = math.inf
    as_run: Mapping[str, Callable[[float], float | None]] = field(default_factory=dict)
    queue: QueueAhead | None = None
    done_by: bool = False
    quality: Quality = VAL_LOSS
    qualities: Sequence[Quality] = QUALITIES

    @property
    def metric(self) -> Quality | None:
        """The metric of the user's own, where there is one."""
        return next((quality for quality in self.qualities if quality not in QUALITIES), None)

    def really(self, in_file: Parameters) -> dict[str, float]:
        """Values of config.ini as runs have them, as far as that was seen."""
        return {
            name: value if name not in self.as_run or (seen := self.as_run[name](value)) is None else seen
            for name, value in in_file.items()
        }
