"""Arrays that carry the belief from the simulator to the agent: J simulated jobs, K candidates, P parameters.

Numpy is imported by those who build them, not here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from jpo.records.quality import VAL_LOSS, Quality

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Bools: TypeAlias = "NDArray[np.bool_]"
Ints: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Candidate set: the configurations between which the agent chooses, together with those that have been run.

    Attributes:
        names: parameter names, the columns of `values`.
        values: shape (K, P), in JPO's units.
        current: row which config.ini holds today.
        admissible: shape (K,); False for rows that are known only because they were run once, and may not be proposed now.
        log_rate: shape (K,), natural log of a row's price per hour relative to the current row.
        priced: False if no prices are known and log_rate rests on relative weights of the resources.
        by_energy: what an hour costs is its energy; log_rate then is roughly its power, by those weights.
        words: of each parameter whose values are words, what its numbers stand for, as far as anybody asks; they have no order.
    """

    names: tuple[str, ...]
    values: Floats
    current: int
    admissible: Bools
    log_rate: Floats
    priced: bool = True
    by_energy: bool = False
    words: Mapping[str, Mapping[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        k = len(self.values)
        assert self.values.shape == (k, len(self.names))
        assert self.admissible.shape == self.log_rate.shape == (k,)
        assert 0 <= self.current < k

    def __eq__(self, other: object) -> bool:  # as keys of caches: what is believed of rows does not hang on which may be run
        return isinstance(other, Candidates) and self.values is other.values and self.current == other.current

    def __hash__(self) -> int:
        return id(self.values)

    def parameters(self, row: int) -> dict[str, float]:
        values = {name: float(value) for name, value in zip(self.names, self.values[row], strict=True)}
        return {**values, **{name: words.get(values[name], values[name]) for name, words in self.words.items()}}


@dataclass(frozen=True, eq=False, slots=True)
class Draws:
    """Draws of simulated jobs on the candidates: everything a prior says before the first run.

    All shape (J, K), natural logs relative to the current candidate (so that its column is 0), noise-free:
        log_time: duration of a run that ends well.
        log_loss: final validation loss.
        log_utilisation: busy share of what was allotted (GPUs, else CPUs).
        log_power: electric power of one accelerator.
        fails: True where the job diverges, runs out of memory or never reaches what it must.
        log_throughput: samples per second, so that log_time + log_throughput is the work; None: not told apart.
    and of shape (J,):
        to_target: True where the job ends at a target of its own, False after a fixed number of epochs; None: not told apart.
        loss_slope: d ln loss / d ln epochs after the first quarter of the current candidate's run, NaN where the job ends at a
            target; None: not told.
        loader_share: share of a step of the current candidate's run during which its CPUs load data, in 0..1, NaN where they
            compute; None: not told.
    """

    log_time: Floats
    log_loss: Floats
    log_utilisation: Floats
    log_power: Floats
    fails: Bools
    log_throughput: "Floats | None" = None
    to_target: "Bools | None" = None
    loss_slope: "Floats | None" = None
    loader_share: "Floats | None" = None


@dataclass(frozen=True, eq=False, slots=True)
class TransferredSurfaces:
    """Surfaces drawn for a new workload.

    Attributes:
        draws: shape (M, K).
        trust: prior probability that the new workload is like these, times the share of candidates inside the recorded ranges.
        seed: of the noise with which they are conditioned.
    """

    draws: Draws
    trust: float
    seed: int


@dataclass(frozen=True, eq=False, slots=True)
class Belief:
    """Belief about every candidate after the runs so far: weighted particles, already moved towards own measurements.

    Attributes:
        weights: shape (J,), sum 1.
        log_time, log_cost, log_loss, log_utilisation: shape (J, K), natural logs relative to the current candidate.
        fails: shape (J, K), where a particle fails.
        p_fail: shape (K,), probability that a run there fails.
        runs, failures, stopped: shape (K,), own runs there that ended well, that failed, and that were stopped from outside.
        noise, loss_noise: standard deviation of the natural log of a single run's duration, and of its loss.
        duration_seconds: what log_time = 0 means, None before the first finished run.
        val_loss: what log_loss = 0 means, None before the first validation loss.
        effective_share: effective sample size of the particles / J, in 0..1: small means that the prior does not fit.
        knows_utilisation: False while no run has measured any: log_utilisation is then the simulator's alone.
        loss_runs: shape (K,), how many of `runs` measured a validation loss; None: all of them.
        time_runs: shape (K,), how many runs say how long it takes there, where some parameters do not matter; None: `runs`.
        quality: what `val_loss` and `log_loss` are the error of, where the runs are not judged by their validation loss.
        besides: beliefs about other qualities that the runs measure, on the same candidates.
        recalled: surfaces of other workloads before this one's runs; None where none were recorded.
    """

    weights: Floats
    log_time: Floats
    log_cost: Floats
    log_loss: Floats
    log_utilisation: Floats
    fails: Bools
    p_fail: Floats
    runs: Ints
    failures: Ints
    stopped: Ints
    noise: float
    duration_seconds: float | None
    val_loss: float | None
    effective_share: float
    knows_utilisation: bool
    loss_runs: "Ints | None" = None
    time_runs: "Ints | None" = None
    loss_noise: float = 0.03
    quality: Quality = VAL_LOSS
    besides: "tuple[Belief, ...]" = ()
    recalled: TransferredSurfaces | None = None

    @property
    def tried(self) -> Bools:
        """Candidates that have been run, however it ended, shape (K,)."""
        return (self.runs + self.failures + self.stopped) > 0

    @property
    def only_failed(self) -> Bools:
        """Candidates that have failed and never ended well, shape (K,)."""
        failed: Bools = (self.failures > 0) & (self.runs == 0)
        return failed


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of a belief: how its last forecasts were met, each from the runs before it.

    `interval_factor`, `loss_interval_factor`: by how much it was too sure of durations (and costs) and of losses, at least 1: the
    distance of bounds from the middle is multiplied by them, on a log scale. `misses`: standardised errors of the durations,
    oldest first; None where a run had no forecast (see change_detection.py).
    """

    interval_factor: float = 1.0
    loss_interval_factor: float = 1.0
    misses: Sequence[float | None] = ()


CALIBRATED = Calibration()


@dataclass(frozen=True, eq=False, slots=True)
class Residuals:
    """Residuals of N configurations which jobs of one installation ran, against simulated jobs, relative to their references.

    Attributes:
        workloads: the jobs, by their identity as text.
        job: shape (N,), position in `workloads`.
        points: shape (N, C), where the configuration is, in doublings against the job's reference.
        log_time: shape (N,), natural log of the duration less what simulated jobs take on average; NaN where none ended well.
        sd: shape (N,), by how much simulated jobs differ there.
        failed: shape (N,), share of the runs that failed.
        p_fail: shape (N,), share of the simulated jobs that fail there.
    """

    workloads: tuple[str, ...]
    job: Ints
    points: Floats
    log_time: Floats
    sd: Floats
    failed: Floats
    p_fail: Floats
