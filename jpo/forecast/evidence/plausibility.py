"""Plausibility of reported values: one absurd number must not move the forecasts of a workload.

A counter that starts anew, milliseconds for seconds, an exporter's sentinel: such values are finite and were put on record. They
stay there; what is forecast and chosen rests on the others. Two checks: limits beyond which no training job is, and the other
runs of the same workload, of the same configuration where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median

from jpo.records import Run, Skipped
from jpo.wording.names import quantity as words_of

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
CONFIRMED = 3
"""Runs that agree, within REPEATS_DIFFER, are no mistake but a change of the job."""
_FEWEST = 3
"""With two runs, either could be the absurd one."""
_LOSSES = ("train_loss", "val_loss")


def plausible(runs: Sequence[Run]) -> tuple[tuple[Run, ...], tuple[Skipped, ...]]:
    """The runs of one workload without what cannot be believed, and what that was.

    A value out of its limits, or far from all other runs, is left out as if it had not been measured; a run with an impossible
    parameter is left out as a whole, since nobody knows what was run.

    Args:
        runs: of one workload, in any order, which is kept.

    Returns:
        The runs, the same objects where nothing was doubted; and one entry per run of which something was left out, with the
        quantities, the values and why.
    """
    believed = [run for run in runs if not _impossible(run.parameters, PARAMETER_LIMITS)]
    doubted: dict[str, dict[str, str]] = {
        run.run_id: {name: f"{run.parameters[name]:g} cannot be" for name in impossible}
        for run in runs
        if (impossible := _impossible(run.parameters, PARAMETER_LIMITS))
    }
    for name in OUTCOME_LIMITS:
        for run, why in _doubtful(believed, name).items():
            doubted.setdefault(believed[run].run_id, {})[name] = why
    if not doubted:
        return tuple(runs), ()
    kept = (_without(run, doubted.get(run.run_id, {})) for run in believed)
    return tuple(kept), tuple(Skipped(run_id, _in_words(values)) for run_id, values in doubted.items())


def _impossible(values: Mapping[str, float], limits: Mapping[str, tuple[float, float]]) -> list[str]:
    return [name for name, value in values.items() if name in limits and not _within(value, limits[name])]


def _within(value: float, limits: tuple[float, float]) -> bool:
    return value == 0 or limits[0] <= abs(value) <= limits[1]


def _doubtful(runs: Sequence[Run], name: str) -> dict[int, str]:
    """Positions of the runs whose value of a quantity is not to be believed, and why."""
    doubtful: dict[int, str] = {}
    logs: dict[int, float] = {}
    for at, run in enumerate(runs):
        value = getattr(run.outcome, name)
        if not value:
            continue
        if not _within(value, OUTCOME_LIMITS[name]):
            doubtful[at] = f"{value:.4g} cannot be"
        elif value > 0:
            logs[at] = math.log(value)
    well = {at: log for at, log in logs.items() if runs[at].ended_well}
    if len(well) < _FEWEST - 1 or max(logs.values()) - min(logs.values()) <= math.log(REPEATS_DIFFER):
        return doubtful
    return doubtful | _outliers(runs, name, logs, well)


def _outliers(runs: Sequence[Run], name: str, logs: Mapping[int, float], well: Mapping[int, float]) -> dict[int, str]:
    """Values that are far from those of the other runs, and that no others confirm."""
    usual, far = median(well.values()), math.log(CONFIGURATIONS_DIFFER)
    repeats: dict[frozenset[tuple[str, float]], list[int]] = {}
    for at in well:
        repeats.setdefault(frozenset(runs[at].parameters.items()), []).append(at)
    outliers: dict[int, tuple[float, str]] = {}
    for alike in repeats.values():
        if len(alike) > 1:
            outliers |= _among_repeats({at: well[at] for at in alike}, usual if len(well) >= _FEWEST else None)
    lone = {alike[0] for alike in repeats.values() if len(alike) == 1}
    for at, log in logs.items():
        if abs(log - usual) <= far or not (at in lone or at not in well):
            continue
        seldom = len(well) >= _FEWEST - (at not in well) and _agreeing(log, logs.values()) < CONFIRMED
        possible = log > usual if name in _LOSSES else log < usual and at not in well  # what failed may be as short as it likes
        if seldom and not possible:
            outliers[at] = (log - usual, "all other runs")
    return {at: f"{math.exp(logs[at]):.4g} is {_times(apart)} {others}" for at, (apart, others) in outliers.items()}


def _among_repeats(logs: Mapping[int, float], usual: float | None) -> dict[int, tuple[float, str]]:
    """Outliers among the runs of one configuration: how far they are from the median. Of two, it is the one that is farther from
    what is usual of all runs, where that is known."""
    near, values = math.log(REPEATS_DIFFER), sorted(logs.values())
    if values[-1] - values[0] <= near:
        return {}
    if len(values) > 2:
        middle = median(values)
        odd = {at for at, log in logs.items() if abs(log - middle) > near and _agreeing(log, values) < CONFIRMED}
    elif usual is None:
        return {}
    else:
        odd = {max(logs, key=lambda at: abs(logs[at] - usual))}
        middle = next(log for at, log in logs.items() if at not in odd)
    return {at: (logs[at] - middle, "the other runs of this configuration") for at in odd}


def _agreeing(log: float, others: Collection[float]) -> int:
    """How many values are of the same size, itself included."""
    return sum(abs(log - other) <= math.log(REPEATS_DIFFER) for other in others)


def _times(log: float) -> str:
    return f"{math.exp(abs(log)):.3g} times {'more' if log > 0 else 'less'} than"


def _without(run: Run, doubted: Mapping[str, str]) -> Run:
    """The run without some values; what was worked out from a duration or a loss goes with it."""
    if not doubted:
        return run
    names = set(doubted)
    if "duration_seconds" in names:
        names |= {"throughput_samples_per_second", "cost_usd", "cpu_cores_mean", "cpu_utilisation"}
    if "val_loss" in names:
        names |= {"loss_slope", "loss_slope_error"}
    return replace(run, outcome=replace(run.outcome, **dict.fromkeys(names, None)))


def _in_words(values: Mapping[str, str]) -> str:
    parts = (f"{words_of(name).short if name in OUTCOME_LIMITS else name} {why}" for name, why in values.items())
    return f"implausible: {'; '.join(parts)} [{CODE}]"
