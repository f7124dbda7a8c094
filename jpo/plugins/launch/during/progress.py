"""A run so far, and the run to beat: all that decisions during a run see."""

from dataclasses import dataclass

from jpo.forecast.curves.curve import Curve
from jpo.records import Interval


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """What a run was given of one resource and has used, over a window of several epochs. None: not measured, not asked for.

    Attributes:
        resource: "gpus", "cpus" or "memory_gib".
        peak: the highest use in the window; of GPUs, those that were busy at any time.
        looks: how many measurements the window holds.
        epochs: how many epochs passed in it; None: not known.
    """

    resource: str
    given: float
    peak: float
    looks: int
    epochs: float | None = None


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run that goes on. None: not known.

    Attributes:
        elapsed_seconds: since its start.
        total_seconds: how long it will take in all, if it goes on.
        curve: of its errors so far; None also before the first.
        diverged: its losses are no numbers any more (divergence.py).
        epochs: those that it will have in all.
        share_done: of its work, 0..1.
        began_at: epochs that were done when it started; above 0: it was resumed, and its time is that of a part.
    """

    elapsed_seconds: float
    total_seconds: Interval | None = None
    usd_per_hour: float | None = None
    curve: Curve | None = None
    diverged: bool = False
    epochs: float | None = None
    share_done: float | None = None
    began_at: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        return None if self.total_seconds is None else max(0.0, self.total_seconds.mean - self.elapsed_seconds)

    def usd(self, seconds: float) -> float | None:
        return None if self.usd_per_hour is None else self.usd_per_hour * seconds / 3600


@dataclass(frozen=True, slots=True)
class Rival:
    """The run to beat: the best of the workload's runs that ended well, under the preference.

    Attributes:
        error: of its model, that is to be made small; None: not measured.
        usual: what a run of the best configuration costs on average, in runs of this one: the shortest of several was lucky.
    """

    run_id: str
    seconds: float
    usd: float | None = None
    error: float | None = None
    usual: float = 1.0
