"""Series of several quantities and files as executions: rates of counters, sums of a container's parts, and values of all
features at the same times.

The first feature's times count. Another one has its last value there, as far as that is not long ago; nothing is made up between.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.cells import PERCENT, CellValue, in_base
from jpo.plugins.phases.files.columns import EXECUTION, TraceColumns, features_of
from jpo.plugins.phases.files.executions import executions
from jpo.plugins.phases.files.quantities import Meaning, meanings
from jpo.plugins.phases.files.series import ExportedSeries
from jpo.plugins.phases.traces import CPU, GPU, SHOWN_COLUMNS, ExecutionTrace, Floats, Traces

LEFT_OUT, READ_AS = "JPO-W877", "JPO-I878"
OLDEST_STEPS = 3.0
"""Median steps of a quantity after which its last value says nothing any more."""
LOOKBACK_SECONDS = 300.0
"""Prometheus' default; cAdvisor's series have times of their own, so that their end is not marked."""
REPLICAS = frozenset(("prometheus", "prometheus_replica", "replica", "receive_replica"))
"""Labels of two servers that measure the same: one of them counts."""


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """What one file says of one feature of an execution.

    `execution`: "": the file has one, and does not name it. `times`, `values`: shape (n,), Unix seconds, ascending; in the
    feature's unit.
    """

    file: str
    execution: str
    feature: str
    times: Floats
    values: Floats


def last_values(times: Floats, own: Floats, values: Floats) -> Floats:
    """The last values that were measured (at `own`) by these times, NaN where there is none, or it is long ago."""
    if not len(own):
        return np.full(len(times), np.nan)
    at = np.searchsorted(own, times, side="right") - 1
    step = float(np.median(np.diff(own))) if len(own) > 1 else np.inf
    fresh = (at >= 0) & (times - own[np.maximum(at, 0)] <= OLDEST_STEPS * step)
    return np.where(fresh, values[np.maximum(at, 0)], np.nan)


def lived(times: Floats, counter: Floats) -> int:
    """Samples until a counter ended; Prometheus repeats the last one of a series that ended for as long as it looks back.

    A counter that stands still for just so long at its end is taken for one that ended: no container uses nothing at all.
    """
    moved = np.flatnonzero(np.diff(counter))
    last = int(moved[-1]) + 1 if len(moved) else 0
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    repeated = LOOKBACK_SECONDS - 2 * step <= times[-1] - times[last] <= LOOKBACK_SECONDS if len(times) else False
    return last + 1 if repeated else len(times)


def rates(times: Floats, counter: Floats) -> tuple[Floats, Floats]:
    """What a counter grew by per second until each of its times but the first; one that fell began anew from 0."""
    grown = np.diff(counter)
    return times[1:], np.where(grown < 0, counter[1:], grown) / np.diff(times)


def measured_of(files: Sequence[Sequence[ExportedSeries]], columns: TraceColumns) -> tuple[list[Measured], list[str]]:
    """What the series of files say of whom, and what there is to say of each file.

    Raises UsageError: JPO-E876, nobody says what they measure; JPO-E730, a unit is none of its feature.
    """
    meant = [(one, meaning) for series in files for one, meaning in zip(series, meanings(series, columns), strict=True)]
    known = [(one, meaning) for one, meaning in meant if meaning is not None]
    whose = executions([one for one, _ in known], [meaning for _, meaning in known], columns.named.get(EXECUTION))
    parts: dict[tuple[str, str, str], list[tuple[ExportedSeries, Meaning]]] = defaultdict(list)
    for (one, meaning), execution in zip(known, whose, strict=True):
        if execution is not None:
            parts[one.file, execution, meaning.feature].append((one, meaning))
    notes: list[str] = []
    for file in dict.fromkeys(one.file for one, _ in meant):
        of_file = {(execution, feature): pairs for (of, execution, feature), pairs in parts.items() if of == file}
        here = [pair for pair in meant if pair[0].file == file]
        said = [*_left_out(here, sum(map(len, of_file.values()))), *_read_as(of_file)]
        notes += [f"{file}: {note}" for note in said]
    return [_together(execution, of_it) for (_, execution, _), of_it in parts.items()], notes


def _together(execution: str, parts: Sequence[tuple[ExportedSeries, Meaning]]) -> Measured:
    """The sum of a feature's series of one execution, the mean of GPUs' use; of several metrics the best."""
    best = min(meaning.rank for _, meaning in parts)
    first, meaning = next((one, meaning) for one, meaning in parts if meaning.rank == best)
    alone = {_without_replicas(one): (one, how) for one, how in reversed(parts)}.values()
    measured = [_in_its_unit(one, how) for one, how in alone if how.rank == best and (one.name == first.name or not one.labels)]
    times, at = np.unique(np.concatenate([times for times, _ in measured]), return_inverse=True)
    values = np.bincount(at, np.concatenate([values for _, values in measured]), len(times))
    count = np.bincount(at, minlength=len(times)) if meaning.feature == GPU else 1
    return Measured(first.file, execution, meaning.feature, times, values / count)


def _without_replicas(one: ExportedSeries) -> tuple[str, frozenset[tuple[str, str]]]:
    """What tells a series from others but not from the same of another server."""
    labels = frozenset((label, text) for label, text in one.labels.items() if label not in REPLICAS)
    return (one.name if one.labels else one.title), labels


def _in_its_unit(one: ExportedSeries, meaning: Meaning) -> tuple[Floats, Floats]:
    size = in_base(one.place, meaning.feature, CellValue(1.0, one.unit)) if one.unit else 1 / units.parts(meaning.unit)
    end = lived(one.times, one.values)
    times, values = rates(one.times[:end], one.values[:end]) if meaning.is_counter else (one.times, one.values)
    return times, values * size


def _left_out(meant: Sequence[tuple[ExportedSeries, Meaning | None]], taken: int) -> Iterator[str]:
    beside = [one.title for one, meaning in meant if meaning is None]
    if beside:
        yield f"left out, no usage: {_some(beside)} [{LEFT_OUT}]"
    if others := len(meant) - len(beside) - taken:
        yield f"left out: {others} series of whole pods or of none, next to their containers [{LEFT_OUT}]"


def _read_as(parts: Mapping[tuple[str, str], Sequence[tuple[ExportedSeries, Meaning]]]) -> Iterator[str]:
    every = [(execution, one, meaning) for (execution, _), pairs in parts.items() for one, meaning in pairs]
    counters = [(execution, one) for execution, one, meaning in every if meaning.is_counter]
    for name in dict.fromkeys(one.name for _, one in counters):
        yield f"{name} is a counter: read as its growth per second [{READ_AS}]"
    if ended := [execution for execution, one in counters if lived(one.times, one.values) < len(one.times)]:
        yield f"left out, five minutes at the end, in which Prometheus repeats a counter: {_some(ended)} [{LEFT_OUT}]"
    scaled = dict.fromkeys(meaning.unit for _, one, meaning in every if meaning.unit and not one.unit)
    if any(one.unit == PERCENT and meaning.feature == CPU for _, one, meaning in every):
        scaled["cpu_percent"] = None
    yield from (units.said(units.UNITS[unit][0], unit) for unit in scaled)
    if added := [execution for (execution, _), pairs in parts.items() if len(pairs) > 1]:
        yield f"several series of one quantity are taken together: {_some(added)} [{READ_AS}]"


def joined(measured: Sequence[Measured], columns: TraceColumns, place: str) -> Traces:
    """Executions of which all features were measured.

    Raises UsageError: JPO-E735, there is none; JPO-E730, two files have the same of one.
    """
    needed, optional = features_of(columns)
    named = _named_all(measured)
    together: dict[str, dict[str, Measured]] = {one.execution: {} for one in named}
    for one in sorted(named, key=lambda one: float(one.times[0]) if len(one.times) else np.inf):
        of_it = together[one.execution]
        of_it[one.feature] = _continued(of_it[one.feature], one) if one.feature in of_it else one
    whole = {execution: has for execution, has in together.items() if set(needed) <= set(has)}
    features = (*needed, *(name for name in optional if whole and all(name in has for has in whole.values())))
    found = {execution: aligned(execution, [has[name] for name in features]) for execution, has in whole.items()}
    kept = tuple(execution for execution in found.values() if execution)
    if not kept:
        has = _some([f"{execution or 'one'} has {' and '.join(of_it)}" for execution, of_it in together.items()])
        finding = f"no execution has two samples of {' and '.join(needed)} at like times: {has or 'nothing was measured'}"
        raise UsageError(place, finding, "name the files of all of them, with the same names of executions", code="JPO-E735")
    lost = [execution for execution in together if not found.get(execution)]
    notes = [f"left out, not all of {', '.join(needed)} were measured: {_some(lost)} [{LEFT_OUT}]"] if lost else []
    of_some = [name for name in optional if name not in features and any(name in has for has in whole.values())]
    notes += [f"left out, not measured of all executions: {', '.join(of_some)} [{LEFT_OUT}]"] if of_some else []
    rare = units.require_interval(np.concatenate([np.diff(execution.times) for execution in kept]), place)
    stacked = np.concatenate([execution.values for execution in kept])
    notes += [*([rare] if rare else []), *units.odd_figures(stacked, features)]
    return Traces(features, kept, place, tuple(f"{place}: {note}" for note in notes))


def _continued(had: Measured, one: Measured) -> Measured:
    """The same of two files, of which one goes on as the other ends; JPO-E730 where it does not: these may be two executions."""
    step = float(np.median(np.diff(had.times))) if len(had.times) > 1 else 0.0
    if not (len(one.times) and len(had.times) and 0 < one.times[0] - had.times[-1] <= OLDEST_STEPS * step):
        finding = f"has {one.feature} of execution {quoted(one.execution)}, as {had.file} has, but does not start where that ends"
        raise UsageError(one.file, finding, "name one of the files, or give executions names of their own", code="JPO-E730")
    return replace(one, times=np.r_[had.times, one.times], values=np.r_[had.values, one.values])


def _named_all(measured: Sequence[Measured]) -> list[Measured]:
    """Those of nobody get names: of different features they are of one execution, else each file is one."""
    unnamed = [one for one in measured if not one.execution]
    features = [one.feature for one in unnamed]
    is_one = len(set(features)) == len(features)
    names = {one.file: Path(unnamed[0].file if is_one else one.file).stem for one in unnamed}
    return [one if one.execution else replace(one, execution=names[one.file]) for one in measured]


def aligned(execution: str, features: Sequence[Measured]) -> ExecutionTrace | None:
    """The samples of the first feature at which all others are known; None for fewer than two."""
    times = features[0].times
    values = np.stack([last_values(times, one.times, one.values) for one in features], axis=1)
    known = np.isfinite(values).all(1)
    return ExecutionTrace(execution, times[known], values[known]) if known.sum() >= 2 else None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return ", ".join(f"{name:.80}" if name.isprintable() else f"{name!r:.80}" for name in names[:SHOWN_COLUMNS]) + more
