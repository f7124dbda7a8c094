"""Surrogate of a workload: the posterior over its candidates after its runs, and a forecast for each of them.

Here simulator, belief and prices meet: `advise` chooses from a surrogate, `jpo predict` and `jpo pareto` show it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.candidate_rows import row_of, rows_of_run, rows_of_runs
from jpo.agent.change_detection import forecast_error
from jpo.agent.policy_override import MORE_FAILURES
from jpo.agent.safety.failing import chance_of_failing
from jpo.agent.safety.host_memory import MEMORY
from jpo.cost import Prices, usd_per_hour
from jpo.forecast.belief import at_rows
from jpo.forecast.calibration import RUNS_REMEMBERED, WATCHED, interval_factor, one_step_forecasts
from jpo.forecast.demand import Band, demand, power_watts
from jpo.forecast.evidence.work import ALIKE, Work, samples_of, usual_samples_per_epoch, work_of
from jpo.forecast.predict import predict
from jpo.optimizer.candidates import candidates_at, collect, rows_pooled_with, weighed_runs, with_row
from jpo.optimizer.prior import FEW, Prior, believe, beside, prior_of, thinned, with_siblings
from jpo.optimizer.request import Request
from jpo.records import Belief, Calibration, Candidates, Forecast, Interval, Known, Parameters, Run, RunStatus, each_judged
from jpo.wording import numbers

if TYPE_CHECKING:
    from jpo.records import Floats, Preference


THROUGHPUT = "throughput_samples_per_second"
_OF_RUNS = ("demands", "memory_gib_there", "p_short_of_memory", "samples")
"""What a surrogate computes of runs and candidates, whatever is believed."""


@dataclass(frozen=True, slots=True)
class FailureChance:
    """Chance that a run fails, 0..1, and what it comes from."""

    probability: float
    basis: str

    def __str__(self) -> str:
        return f"{numbers.chance(self.probability)} ({self.basis})"


@dataclass(frozen=True, eq=False)
class Surrogate:
    """Surrogate: what is known and believed of a workload's candidates.

    Attributes:
        runs: the workload's finished runs that are weighed, oldest first.
        prior: what was believed before them.
        calibration: by how much the belief was too sure of itself.
        prices: what resources cost.
        room_gib: the most host memory that one run may have, whatever it asks for.
    """

    candidates: Candidates
    belief: Belief
    runs: Sequence[Run]
    prior: Prior
    calibration: Calibration
    prices: Prices
    room_gib: float = math.inf

    def forecast(self, row: int) -> Forecast:
        """Forecast of one run of a candidate, with 90% intervals."""
        demands = {name: _at(band, row) for name, band in self.demands.items()}
        rate = self.usd_per_hour(row)
        forecast = predict(self.belief, row, self.calibration, usd_per_hour=rate)
        time = forecast.duration_seconds
        if self.samples is not None and time:  # one forecast of speed, not two that contradict each other
            samples = float(self.samples[row])
            demands[THROUGHPUT] = Interval(samples / time.mean, samples / time.high, samples / time.low)
        if time and math.isfinite(watts := float(self._power_watts[row])):
            demands["energy_joules"] = Interval(*(watts * end for end in (time.mean, time.low, time.high)))
        for other in self.belief.besides:
            forecast = forecast.having({other.quality.name: predict(other, row, usd_per_hour=None).of(other.quality.name)})
        return forecast.having(demands)

    def failure_chance(self, row: int) -> FailureChance:
        """Chance that a run of a candidate fails. Where it never ran, simulated jobs that fit how runs ended say so."""
        belief = self.belief
        failed, there = int(belief.failures[row]), int(belief.failures[row] + belief.runs[row])
        if there:
            basis = f"{failed or 'none'} of {numbers.counted(there, 'run')} of it failed"
        else:
            ended = [run.ended_well for run in self.runs if run.status is not RunStatus.STOPPED]
            of_runs = f"; {ended.count(False) or 'none'} of {numbers.counted(len(ended), 'run')} here failed" if ended else ""
            short = float(self.p_short_of_memory[row])
            basis = f"from simulated jobs{of_runs}"
            basis += f"; {numbers.chance(short)} that host memory runs out" if short >= MORE_FAILURES else ""
        return FailureChance(float(belief.p_fail[row]), basis)

    def expected(self, quantity: str) -> "Floats | None":
        """Mean of a quantity of Forecast at every candidate, (K,); None where no run supports a number.

        A cost is NaN where a row has no price, and None where none has; a demand is NaN as in `Band`.
        """
        belief = self.belief
        if quantity in ("duration_seconds", "cost_usd"):
            if belief.duration_seconds is None:
                return None
            seconds = belief.duration_seconds * np.exp(belief.weights @ belief.log_time)
            if quantity == "duration_seconds":
                return seconds
            return None if np.isnan(self._rates).all() else seconds / 3600 * self._rates
        if quantity == "energy_joules" and (times := self.expected("duration_seconds")) is not None:
            return None if np.isnan(self._power_watts).all() else times * self._power_watts
        if judged := self.belief_about(quantity):
            assert judged.val_loss is not None
            errors = judged.val_loss * np.exp(judged.weights @ judged.log_loss)
            return np.array([judged.quality.value_of(error) for error in errors])
        if quantity == THROUGHPUT and self.samples is not None and (times := self.expected("duration_seconds")) is not None:
            return np.asarray(self.samples / times)
        return self.demands[quantity].mean if quantity in self.demands else None

    def belief_about(self, quantity: str) -> Belief | None:
        """The belief about a quality of the model; None where it is none, or no run measured it."""
        beliefs = (self.belief, *self.belief.besides)
        return next((each for each in beliefs if each.quality.name == quantity and each.val_loss is not None), None)

    @cached_property
    def samples(self) -> "Floats | None":
        """Samples of a run of each candidate, (K,), where all runs do the same work: only time then says how fast it is."""
        rows = len(self.candidates.values)
        today = self.candidates.parameters(self.candidates.current)
        if work_of(self.runs) is Work.FIXED and (usual := usual_samples_per_epoch(self.runs, today)):
            names = self.candidates.names
            return usual * (self.candidates.values[:, names.index("epochs")] if "epochs" in names else np.ones(rows))
        done = [samples for run in self.runs if run.ended_well and (samples := samples_of(run)) and run.outcome.duration_seconds]
        pairs = zip(self.candidates.names, self.candidates.values.T, strict=True)
        varied = any(name == "epochs" and np.ptp(column) > 0 for name, column in pairs)
        return np.full(rows, median(done)) if done and not varied and max(done) <= ALIKE * min(done) else None

    @cached_property
    def _rates(self) -> "Floats":
        return np.array([self.usd_per_hour(row) for row in range(len(self.candidates.values))], dtype=np.float64)  # NaN: none

    def usd_per_hour(self, row: int, prices: Prices | None = None) -> float | None:
        """Price of an hour of a candidate, by other prices if given; with its energy, as far as runs have measured any."""
        prices = prices or self.prices
        watts = math.nan if prices.usd_per_kwh is None else float(self._power_watts[row])
        power = watts if math.isfinite(watts) else None
        return usd_per_hour(self.candidates.parameters(row), prices, power_watts=power)

    @cached_property
    def _power_watts(self) -> "Floats":
        belief = self.belief
        relative = belief.weights @ (belief.log_cost - belief.log_time) if self.candidates.by_energy else None
        return power_watts(self.candidates, self.runs, relative)

    @property
    def measured_energy(self) -> bool:
        """Whether a run measured its energy: what is believed of it rests on guessed powers otherwise, which no report claims."""
        return any(run.outcome.energy_joules is not None for run in self.runs)

    def knows(self, preference: "Preference") -> bool:
        """Whether something is believed of all that a preference weighs: of money and energy it is one of them."""
        other = preference.cost if self.candidates.by_energy else preference.energy
        return not other and (self.belief.knows_utilisation or not preference.efficiency)

    @cached_property
    def demands(self) -> Mapping[str, Band]:
        """Throughput, memory and utilisation at every candidate, those that were measured; worked out when first asked for."""
        return demand(self.candidates, self.runs)

    @cached_property
    def memory_gib_there(self) -> "Floats":
        """The host memory that a run of each candidate may have, (K,): what it asks for, and the room that there is."""
        there = np.full(len(self.candidates.values), self.room_gib)
        names = self.candidates.names
        return np.minimum(there, self.candidates.values[:, names.index(MEMORY)]) if MEMORY in names else there

    @cached_property
    def p_short_of_memory(self) -> "Floats":
        """Chance that a run of each candidate needs more host memory than is allowed, (K,); 0 where no run measured any."""
        if not np.isfinite(self.memory_gib_there).any() or MEMORY not in self.demands:
            return np.zeros(len(self.candidates.values))
        return self.demands[MEMORY].p_above(self.memory_gib_there)

    def row(self, values: Parameters) -> int:
        """The candidate with these values, which must be there."""
        return row_of(self.candidates, values)


def _at(band: Band, row: int) -> Interval | None:
    interval = Interval(float(band.mean[row]), float(band.low[row]), float(band.high[row]))
    return interval if math.isfinite(interval.mean) else None


def surrogate_of(request: Request, known: Known, *, seed: int, asked: Sequence[Parameters] = ()) -> Surrogate:
    """Surrogate of a workload after its runs; those of others have a say in what is believed before, siblings a larger one.

    `asked`: configurations to look at whether or not they are admissible; each names all parameters of `request.current`.
    """
    quality = request.wanted.quality
    runs = weighed_runs(known.runs, request.current, quality)
    others, siblings = each_judged(known.others, request.wanted.qualities), quality.judged(known.siblings)
    candidates = collect(request, runs, siblings)
    for values in asked:
        candidates = with_row(candidates, values, request.prices)
    first = next((run.parameters for run in runs if run.ended_well), None)
    prior = with_siblings(prior_of(candidates, seed, others, first=first), candidates, siblings, seed)
    return after_runs(prior, candidates, runs, request)


def after_runs(prior: Prior, candidates: Candidates, runs: Sequence[Run], request: Request) -> Surrogate:
    """Surrogate that these runs make of a prior, with the calibration of the forecasts before each of the last."""
    quality = request.wanted.quality
    belief = beside(prior, candidates, runs, believe(prior, candidates, runs, quality), request.wanted.qualities)
    met = calibration(prior, candidates, quality.judged(runs), belief.loss_noise)
    return with_failures(Surrogate(candidates, belief, runs, prior, met, request.prices, request.allowed.room_gib))


def with_failures(surrogate: Surrogate) -> Surrogate:
    """The surrogate whose belief knows what host memory runs need, and what of their failures is chance.

    A run for which memory is too little fails. What simulated jobs say of a configuration counts as one run of it, and so does
    this; failures that are chance are as likely everywhere.
    """
    belief, short = surrogate.belief, surrogate.p_short_of_memory
    chance = chance_of_failing(belief.runs, belief.failures)
    if not short.any() and not np.nan_to_num(chance).any():
        return surrogate
    ended = belief.runs + belief.failures
    simulated = np.clip(belief.p_fail * (1 + ended) - belief.failures, 0.0, 1.0)
    before: Floats = 1 - (1 - simulated) * (1 - short)
    of_values = (before + np.where(np.isnan(chance), belief.failures, 0)) / (1 + ended)
    p_fail = 1 - (1 - of_values) * (1 - np.nan_to_num(chance))
    knowing = replace(surrogate, belief=replace(belief, p_fail=p_fail))
    vars(knowing).update({name: value for name, value in vars(surrogate).items() if name in _OF_RUNS})
    return knowing


def with_configuration(surrogate: Surrogate, values: Parameters, known: Known, *, seed: int) -> Surrogate:
    """The surrogate with one more configuration; the same one where it is a candidate.

    Simulated jobs depend on the candidates, so each is added by itself: what is said of it does not hang on what else is asked.
    """
    candidates = with_row(surrogate.candidates, values, surrogate.prices)
    if candidates is surrogate.candidates:
        return surrogate
    prior = with_siblings(prior_of(candidates, seed, known.others), candidates, known.siblings, seed)
    qualities = [each.quality for each in (surrogate.belief, *surrogate.belief.besides)]
    belief = beside(prior, candidates, surrogate.runs, believe(prior, candidates, surrogate.runs, qualities[0]), qualities)
    return with_failures(replace(surrogate, candidates=candidates, belief=belief, prior=prior))


def calibration(prior: Prior, candidates: Candidates, runs: Sequence[Run], loss_noise: float) -> Calibration:
    """Calibration of the last forecasts. Those of the loss have the noise that is known now: intervals which were too narrow for
    want of repeats have been widened by them already."""
    rows = rows_pooled_with(candidates, rows_of_runs(candidates, runs[-WATCHED - RUNS_REMEMBERED :]))
    ran, recalled = candidates_at(candidates, rows), prior.recalled
    recalled = recalled and replace(recalled, draws=at_rows(recalled.draws, rows))
    few = Prior(at_rows(thinned(prior, FEW).draws, rows), recalled)
    missed: dict[str, float | None] = {}

    def watch(earlier: Sequence[Run], belief: Belief, row: int, run: Run) -> None:
        if belief.runs[row]:  # as it was forecast then, when config.ini held what had run before
            now = rows_of_run(ran, earlier[-1])
            if now.size and now[0] != ran.current:
                belief = believe(few, replace(ran, current=int(now[0])), earlier)
            missed[run.run_id] = forecast_error(belief, row, run)

    def believed(earlier: Sequence[Run]) -> Belief:
        return replace(believe(few, ran, earlier), loss_noise=loss_noise)

    past = one_step_forecasts(believed, ran, runs, watch=watch)
    misses = tuple(missed.get(run.run_id) for run in runs[-WATCHED:])
    return Calibration(interval_factor(past["duration_seconds"]), interval_factor(past["val_loss"]), misses)
