"""Plausibility of reported values: one absurd number must not move the forecasts of a workload.

A counter that starts anew, milliseconds for seconds, an exporter's sentinel: such values are finite and were put on record. They
stay there; what is forecast and chosen rests on the others. Two checks: limits beyond which no training job is, and the other
runs of the same workload, of the same configuration where there are any.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from statistics import median

import numpy as np

from jpo.forecast.measurements import FEWEST
from jpo.records import Bools, Floats, Ints, Run
from jpo.records.runs import Implausible
from jpo.wording.names import quantity as words_of
from jpo.wording.numbers import plain

CODE = "JPO-W118"
"""Values were left out; docs/codes.md."""

OUTCOME_LIMITS: Mapping[str, tuple[float, float]] = {
    "duration_seconds": (1e-6, 1e9),
    "cost_usd": (1e-12, 1e9),
    "energy_joules": (1e-9, 1e15),
    "samples": (1e-3, 1e18),
    "throughput_samples_per_second": (1e-9, 1e12),
    "train_loss": (1e-12, 1e12),
    "val_loss": (1e-12, 1e12),
    "memory_gib": (1e-9, 1e6),
    "gpu_memory_gib": (1e-9, 1e5),
    "cpu_cores_mean": (1e-9, 1e6),
    "cpu_cores_p95": (1e-9, 1e6),
    "memory_mean_gib": (1e-9, 1e6),
    "memory_p95_gib": (1e-9, 1e6),
}
"""Smallest and largest magnitude that a training job could have measured; zero says what it says of each quantity (mostly: not
measured) and passes. A duration of up to 30 years, and down to a microsecond for those who tune toys."""
PARAMETER_LIMITS: Mapping[str, tuple[float, float]] = {
    "batch_size": (1, 1e9),
    "learning_rate": (1e-15, 1e6),
    "num_layers": (1, 1e6),
    "epochs": (1, 1e9),
    "gpus": (1, 1e6),
    "cpus": (1e-3, 1e6),
    "memory_gib": (1e-6, 1e6),
}
"""The same of parameters; zero passes here, too (no GPUs)."""
REPEATS_DIFFER, CONFIGURATIONS_DIFFER = 20.0, 300.0
"""Factor by which runs of one configuration, and one configuration and the median of all, differ at most without being doubted.
Repeated runs of six recorded jobs differ by up to 1.6, their slowest and fastest configurations by up to 205; milliseconds for
seconds are 1,000. Losses may explode with the rate: a larger one is doubted only where other runs of its own configuration say
otherwise."""
_LOSSES = ("train_loss", "val_loss")
_SMALLEST, _LARGEST = np.array([*OUTCOME_LIMITS.values()]).T


def plausible(runs: Sequence[Run]) -> tuple[tuple[Run, ...], tuple[Implausible, ...]]:
    """The runs of one workload without what cannot be believed, and what that was.

    A value out of its limits, or far from all other runs, is left out as if it had not been measured; a run with an impossible
    parameter is left out as a whole, since nobody knows what was run. `runs`: of one workload, in any order, which is kept.
    Returns the runs, the same objects where nothing was doubted; and one entry per run of which something was left out, with the
    quantities, the values and why.
    """
    impossible = {at: names for at, run in enumerate(runs) if (names := _impossible(run.parameters))}
    believed = [run for at, run in enumerate(runs) if at not in impossible] if impossible else runs
    doubted: dict[str, dict[str, str]] = {
        runs[at].run_id: {name: f"{plain(runs[at].parameters[name])} cannot be" for name in names}
        for at, names in impossible.items()
    }
    reported = _Reported(believed)
    for name in reported.suspicious:
        for at, why in _doubtful(reported, name).items():
            doubted.setdefault(believed[at].run_id, {})[name] = why
    if not doubted:
        return tuple(runs), ()
    kept = (_without(run, doubted.get(run.run_id, {})) for run in believed)
    return tuple(kept), tuple(Implausible(run_id, _in_words(values)) for run_id, values in doubted.items())


class _Reported:
    """What N runs reported, as columns: thousands are looked through in every answer.

    `values`: (N,) by the names of OUTCOME_LIMITS, NaN where not measured; `well`: (N,), which ended well; `suspicious`: the names
    of which a value is beyond its limits, or values differ by REPEATS_DIFFER. Of the others nothing is doubted.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        table = np.array([_measured(run.outcome) for run in runs], dtype=np.float64).reshape(len(runs), len(OUTCOME_LIMITS))
        size = np.abs(table)
        within = (size >= _SMALLEST) & (size <= _LARGEST)
        least, most = np.where(within, size, np.inf), np.where(within, size, 0.0)
        apart = most.max(axis=0, initial=0) > least.min(axis=0, initial=np.inf) * REPEATS_DIFFER * 0.999  # logarithms are rounded
        suspicious = (~within & (size > 0)).any(axis=0) | apart
        self.suspicious = [name for name, out in zip(OUTCOME_LIMITS, suspicious, strict=True) if out]
        self.values: Mapping[str, Floats] = dict(zip(OUTCOME_LIMITS, table.T, strict=True))
        self.well = np.array([run.ended_well for run in runs], dtype=np.bool_)
        self._runs = runs

    @cached_property
    def configuration(self) -> Ints:
        """A number for each configuration, in the order in which they first ran, (N,)."""
        numbers: dict[frozenset[tuple[str, float]], int] = {}
        alike = [numbers.setdefault(frozenset(run.parameters.items()), len(numbers)) for run in self._runs]
        return np.array(alike, dtype=np.int64)


_measured = attrgetter(*OUTCOME_LIMITS)


def _impossible(values: Mapping[str, float]) -> list[str]:
    limited = [(name, abs(values[name]), *PARAMETER_LIMITS[name]) for name in values if name in PARAMETER_LIMITS]
    return [name for name, size, least, most in limited if size != 0 and not least <= size <= most]


def _doubtful(reported: _Reported, name: str) -> dict[int, str]:
    """Positions of the runs whose value of a quantity is not to be believed, and why."""
    values, (least, most) = reported.values[name], OUTCOME_LIMITS[name]
    size = np.abs(values)
    beyond = (size > 0) & ~((least <= size) & (size <= most))
    doubtful = {int(at): f"{plain(values[at])} cannot be" for at in np.flatnonzero(beyond)}
    places = np.flatnonzero((values > 0) & ~beyond)
    logs, well = np.log(values[places]), reported.well[places]
    if well.sum() < FEWEST - 1 or np.ptp(logs) <= math.log(REPEATS_DIFFER):
        return doubtful
    outliers = _outliers(logs, well, reported.configuration[places], losses=name in _LOSSES)
    return doubtful | {
        int(places[i]): f"{plain(math.exp(logs[i]))} is {_times(apart)} {others}" for i, (apart, others) in outliers.items()
    }


def _outliers(logs: Floats, well: Bools, configuration: Ints, *, losses: bool) -> dict[int, tuple[float, str]]:
    """Values that are far from those of the other runs, and that no others confirm: how far, and from which."""
    usual, far, enough = median(logs[well].tolist()), math.log(CONFIGURATIONS_DIFFER), int(well.sum())
    repeats = np.bincount(configuration[well], minlength=int(configuration.max()) + 1)
    high, low = np.full(len(repeats), -np.inf), np.full(len(repeats), np.inf)
    np.maximum.at(high, configuration[well], logs[well])
    np.minimum.at(low, configuration[well], logs[well])
    outliers: dict[int, tuple[float, str]] = {}
    differ = high - low > math.log(REPEATS_DIFFER)
    for one in dict.fromkeys(configuration[well & differ[configuration]].tolist()):
        alike = {int(at): float(logs[at]) for at in np.flatnonzero(well & (configuration == one))}
        outliers |= _among_repeats(alike, usual if enough >= FEWEST else None)
    for at in np.flatnonzero((np.abs(logs - usual) > far) & (~well | (repeats[configuration] == 1))):
        log = float(logs[at])
        seldom = enough >= FEWEST - (not well[at]) and _agreeing(log, logs) < FEWEST
        possible = log > usual if losses else log < usual and not well[at]  # what failed may be as short as it likes
        if seldom and not possible:
            outliers[int(at)] = (log - usual, "all other runs")
    return outliers


def _among_repeats(logs: Mapping[int, float], usual: float | None) -> dict[int, tuple[float, str]]:
    """Outliers among the runs of one configuration: how far they are from the median. Of two, it is the one that is farther from
    what is usual of all runs, where that is known."""
    near, values = math.log(REPEATS_DIFFER), sorted(logs.values())
    if values[-1] - values[0] <= near:
        return {}
    if len(values) > 2:
        middle = median(values)
        odd = {at for at, log in logs.items() if abs(log - middle) > near and _agreeing(log, np.array(values)) < FEWEST}
    elif usual is None:
        return {}
    else:
        odd = {max(logs, key=lambda at: abs(logs[at] - usual))}
        middle = next(log for at, log in logs.items() if at not in odd)
    return {at: (logs[at] - middle, "the other runs of this configuration") for at in sorted(odd)}


def _agreeing(log: float, others: Floats) -> int:
    """How many values are of the same size, itself included."""
    return int((np.abs(log - others) <= math.log(REPEATS_DIFFER)).sum())


def _times(log: float) -> str:
    apart = math.exp(abs(log))
    return f"{f'{apart:.3g}' if apart < 1000 else plain(apart)} times {'more' if log > 0 else 'less'} than"


def _without(run: Run, doubted: Mapping[str, str]) -> Run:
    """The run without some values; what was worked out from a duration or a loss goes with it."""
    if not doubted:
        return run
    names = set(doubted)
    if "duration_seconds" in names:
        names |= {"throughput_samples_per_second", "cost_usd", "cpu_cores_mean", "cpu_utilisation"}
    if "val_loss" in names:
        names |= {"loss_slope", "loss_slope_error"}
    return replace(run, outcome=replace(run.outcome, **dict.fromkeys(names)))  # type: ignore[arg-type]  # "metrics" is none


def _in_words(values: Mapping[str, str]) -> str:
    parts = (f"{words_of(name).short if name in OUTCOME_LIMITS else name} {why}" for name, why in values.items())
    return f"implausible: {'; '.join(parts)} [{CODE}]"
