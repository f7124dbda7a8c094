"""What an exported series measures: what the user says, else what its metric, its legend or its file is called.

A graph often shows requests and limits beside the usage, and memory in several ways: only usage is read, and of memory the
working set before all else. Values decide nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from jpo.errors import UsageError, quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.columns import EXECUTION, TIME, TraceColumns
from jpo.plugins.phases.files.series import ExportedSeries
from jpo.plugins.phases.traces import CPU, GPU, GPU_MEMORY, MEMORY

UNKNOWN = "JPO-E876"


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+|[0-9]+|%", text.lower())


BESIDE = frozenset(
    words_of(
        "request requests requested limit limits quota capacity allocatable spec periods throttled throttling failcnt failures "
        "faults cache swap mapped kernel restarts temp temperature power watts clock energy copy"
    )
)
"""Words of what stands beside the usage."""
PARTS = (frozenset(("user", "seconds")), frozenset(("system", "seconds")), frozenset(("load", "average")))
"""Words of a part of CPU time, and of what is no CPU time."""
MEASURES = frozenset(
    words_of(
        "cpu cpus cores core millicores memory mem rss gpu gpus container usage used use utilization utilisation util working "
        "set total seconds bytes byte b percent pct rate irate sum avg mean max value current by per in of s dcgm fi dev fb "
        "kib mib gib mb gb"
    )
)
"""Words of a legend that say what is measured, not of whom."""
UNIT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "millicores": "cpu_millicores",
        "percent": "cpu_percent",
        "pct": "cpu_percent",
        "%": "cpu_percent",
        **{word: f"memory_{word}" for word in ("kib", "mib", "gib", "mb", "gb")},
    }
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a series measures.

    Attributes:
        feature: of the traces.
        unit: of `units.UNITS`, that its values are in; None: the feature's own.
        is_counter: it grows, and its rate is what is used.
        rank: of several metrics of a feature the lowest is read.
        is_in_legend: the legend says it, beside whose it is.
    """

    feature: str
    unit: str | None = None
    is_counter: bool = False
    rank: int = 0
    is_in_legend: bool = False


def meanings(series: Sequence[ExportedSeries], columns: TraceColumns) -> list[Meaning | None]:
    """What each series of one file measures; None: something that traces do not have, such as limits.

    A legend counts before the file's name where all legends of the file say what they measure: a file "memory.csv" may have a
    container "cpu-worker".

    Raises UsageError: JPO-E876, nobody says what one of them measures.
    """
    own = [_named_meaning(one.name, one.unit) for one in series]
    beside = [_is_beside(one.name) for one in series]
    file = _named_meaning(Path(series[0].file).stem.partition("-data-")[0], None)
    by_legend = file is None or all(said or aside for said, aside in zip(own, beside, strict=True))
    found: list[Meaning | None] = []
    for one, said, aside in zip(series, own, beside, strict=True):
        meaning = _named(one, columns) or (None if aside else said if by_legend or (one.labels and said) else file)
        if meaning is None and not aside:
            finding = f"nothing says what {quoted(one.title)} measures"
            remedy = f"say it: --column {CPU}={one.file} or --column {MEMORY}={one.file}"
            raise UsageError(one.place, finding, remedy, code=UNKNOWN)
        if meaning is file and meaning is not None:
            meaning = replace(meaning, is_in_legend=False)
        found.append(meaning)
    if by_legend and file is not None and not any(one.labels for one in series):
        _require_agreement(series, file, {meaning.feature for meaning in found if meaning})
    return found


def _require_agreement(series: Sequence[ExportedSeries], file: Meaning, features: set[str]) -> None:
    """All legends say the same, and the file's name something else: containers may be called like it."""
    if len(features) == 1 and features != {file.feature} and len(series) > 1:
        (feature,) = features
        finding = f"has {file.feature} by its name and {feature} by its legends, e.g. {quoted(series[0].title)}"
        raise UsageError(series[0].file, finding, f"say which: --column {feature}={series[0].file}", code=UNKNOWN)


def _named(one: ExportedSeries, columns: TraceColumns) -> Meaning | None:
    called = {one.name, one.title, one.file, Path(one.file).name}
    for name, header in columns.named.items():
        if header not in called or name in (EXECUTION, TIME):
            continue
        feature, unit = (units.UNITS[name][0], name) if name in units.UNITS else (name, None)
        return Meaning(feature, unit, _is_counter(one.name), 0, is_in_legend=header == one.title and not one.labels)
    return None


def _named_meaning(name: str, unit: str | None) -> Meaning | None:
    """As the words of a name say, else as the unit of its values does."""
    words = words_of(name)
    said = set(words)
    if _is_beside(name):
        return None
    if said & {"gpu", "gpus", "dcgm"}:
        size = said & {"memory", "mem", "fb", "vram"}
        feature = (GPU_MEMORY if size else GPU) if size or said & {"util", "utilization", "utilisation", "usage", "gpu"} else None
    elif said & {"cpu", "cpus", "cores", "millicores"}:
        feature = CPU
    elif said & {"memory", "mem", "rss"} or {"working", "set"} <= said:
        feature = MEMORY
    else:
        return Meaning(unit) if unit in (CPU, MEMORY) else None
    if feature is None:
        return None
    rank = 0 if {"working", "set"} <= said else 2 if "rss" in said else 1
    if {"dcgm", "fb"} <= said:  # DCGM_FI_DEV_FB_USED
        return Meaning(feature, "gpu_memory_mib", is_in_legend=True)
    named = (UNIT_WORDS[word] for word in words if word in UNIT_WORDS)
    scaled = next((unit for unit in named if units.UNITS[unit][0] == feature), None)
    return Meaning(feature, scaled, _is_counter(name), rank, is_in_legend=True)


def _is_counter(name: str) -> bool:
    """A metric that only grows by its name, where no function and no recording rule is around it."""
    return name.endswith(("_total", "_seconds")) and "(" not in name and name.count(":") == 0


def _is_beside(name: str) -> bool:
    """Requests, limits, and parts of what is used."""
    said = set(words_of(name))
    known = said & {"cpu", "cpus", "cores", "memory", "mem", "gpu", "gpus", "dcgm"}
    return bool(said & BESIDE and (known or said <= BESIDE | MEASURES)) or any(part <= said for part in PARTS)
