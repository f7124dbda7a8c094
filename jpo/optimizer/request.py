"""Request: what the user wants of the next run and what is allowed, from today's values to the SLA targets.

`jpo/project` reads jpo.toml and config.ini; what they say is one record here, which candidates, forecasts and decisions share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jpo.agent.action import Allowed
from jpo.agent.budget import Boldness
from jpo.agent.safety.queue_waits import QueueWaits
from jpo.cost import Prices
from jpo.records import QUALITIES, USD, VAL_LOSS, Currency, Parameters, PolicyName, Preference, Quality


@dataclass(frozen=True, slots=True)
class Goals:
    """Goals of a run: what it is wanted to be like.

    Attributes:
        targets: SLA targets, by the names of [sla].
        done_by: `time_max` among the targets is when a run must be done from now on, so that its wait counts.
        usd_per_saved_hour: what an hour less is worth to the user; None = not said.
        quality: by which the models of the workload are judged; `qualities`: all that it may measure.
        quality_floor: see `Problem`; `quality_risk`: chance to fall below it from which something is not written.
    """

    preference: Preference
    targets: Mapping[str, float] = field(default_factory=dict)
    done_by: bool = False
    usd_per_saved_hour: float | None = None
    quality: Quality = VAL_LOSS
    qualities: Sequence[Quality] = QUALITIES
    quality_floor: float | None = None
    quality_risk: float = 0.2

    @property
    def metric(self) -> Quality | None:
        """The metric of the user's own, where there is one."""
        return next((quality for quality in self.qualities if quality not in QUALITIES), None)


@dataclass(frozen=True, slots=True)
class Request:
    """Request of the user: what is wanted and allowed.

    Attributes:
        current: today's values by parameter name.
        currency: in which messages name amounts.
        as_run: parameters whose value in `current` is what runs have; config.ini says another, and keeps it. For each, what runs
            were seen to make of a value of config.ini.
        horizon_runs: how many runs the job will have in all, those on record included; None = not known.
        policy: who decides.
        resets: when the agent begins anew: on "evidence" that the world has changed, on a "broken-sla", or every so many seconds.
        queue: what the engine says of runs that are submitted now; None = there is none, or it was not asked.
    """

    current: Parameters
    allowed: Allowed
    wanted: Goals
    boldness: Boldness = field(default_factory=Boldness)
    prices: Prices = field(default_factory=Prices)
    currency: Currency = USD
    as_run: Mapping[str, Callable[[float], float | None]] = field(default_factory=dict)
    horizon_runs: int | None = None
    policy: PolicyName = "sac"
    resets: Literal["evidence", "broken-sla"] | float = "evidence"
    queue: QueueWaits | None = None

    def preferring(self, preference: Preference) -> "Request":
        """The same request under another preference."""
        return replace(self, wanted=replace(self.wanted, preference=preference))

    def really(self, in_file: Parameters) -> dict[str, float]:
        """Values of config.ini as runs have them, as far as that was seen."""
        return {
            name: value if name not in self.as_run or (seen := self.as_run[name](value)) is None else seen
            for name, value in in_file.items()
        }
