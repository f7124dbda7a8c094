"""Units of traces: those that a column's name says, those that the size of a time says, and figures that no unit explains.

What can be known is converted to seconds, cores and bytes, and said; what cannot be known is read as it is, and said where it
makes no sense. Nothing is guessed from values of CPU and memory.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from jpo.errors import UsageError
from jpo.plugins.phases.traces import CPU, GPU_MEMORY, MEMORY, Floats
from jpo.tables import units
from jpo.tables.units import SHORT_TIMES

TIME = "time"
UNITS: Mapping[str, tuple[str, str, float]] = MappingProxyType(
    {
        **{f"time_{name}": (TIME, SHORT_TIMES[name], units.UNITS[name].parts) for name in ("ms", "us", "ns")},
        "cpu_millicores": (CPU, "millicores", units.UNITS["millicores"].parts),
        "cpu_percent": (CPU, "percent of one core", units.UNITS["percent"].parts),
        **{f"memory_{name.lower()}": (MEMORY, name, units.UNITS[name].parts) for name in ("KiB", "MiB", "GiB", "MB", "GB")},
        "gpu_memory_mib": (GPU_MEMORY, "MiB", units.UNITS["MiB"].parts),
    }
)
"""Other names of a quantity: which one, the unit in words, and how many of it make one second, core or byte."""
USUAL_UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{
            f"time_{unit}": tuple(f"{name}_{unit}" for name in ("timestamp", "time", "t", "ts", "unix", "epoch"))
            for unit in ("ms", "us", "ns")
        },
        "cpu_millicores": ("cpu_millicores", "cpu_m", "millicores"),
        "cpu_percent": ("cpu_percent",),
        "gpu_memory_mib": ("gpu_memory_mib", "gpu_mem_mib"),
        **{f"memory_{unit}": (f"memory_{unit}", f"mem_{unit}") for unit in ("kib", "mib", "gib", "mb", "gb")},
    }
)
LONG_SECONDS = 900.0
"""Between samples: phases of minutes are not seen any more."""
OFTEN_SECONDS = 0.05
"""Between samples, in the median: collectors look less often."""
LONGEST_SECONDS, SHORTEST_SECONDS = 86400.0, 1e-3
"""Between samples, in the median: nobody samples a run once a day or a thousand times a second."""
MOST_CORES = 512.0
"""Of a container: larger ones are none, or millicores, or percent."""
FEWEST_BYTES = 65536.0
"""At most, of a container's memory: less is no process, or MiB, or GiB."""
CODE = "JPO-I873"
ODD = "JPO-W874"


def in_seconds(times: Floats, is_date: NDArray[np.bool_], place: str, unit: str | None) -> tuple[Floats, str | None]:
    """Times of a file in seconds (dates are already), and what was done with them, None: nothing.

    `unit`: of UNITS, that the column's name says; None: seconds, or what the size of the times says.

    Raises UsageError: JPO-E730, some are too large for seconds, and others are not.
    """
    if is_date.all():
        return times, None
    numbers = np.abs(times[~is_date])
    if unit is not None:
        _, name, parts = UNITS[unit]
        return np.where(is_date, times, times / parts), f"times are in {name}, as their column says; read as seconds [{CODE}]"
    for short, name in SHORT_TIMES.items():
        least, parts = units.UNITS[short].since_1970, units.UNITS[short].parts
        if numbers.max() < least:
            continue
        if numbers.min() < least:
            finding = f"times differ too much to be of one unit: from {numbers.min():.15g} to {numbers.max():.15g}"
            raise UsageError(place, finding, "write all of them in Unix seconds", code="JPO-E730")
        said = f"times are too large for seconds, and are taken for {name} since 1970; read as seconds [{CODE}]"
        return np.where(is_date, times, times / parts), said
    return times, None


def require_interval(seconds: Floats, place: str) -> str | None:
    """What is odd about the seconds between each two samples of an execution, if anything.

    Raises UsageError: JPO-E730, nobody samples so rarely or so often.
    """
    median = float(np.median(seconds))
    if not SHORTEST_SECONDS <= median <= LONGEST_SECONDS:
        finding = f"samples are {median:.6g} s apart in the median, if its times are in seconds"
        names = " or ".join(units_of(TIME))
        remedy = f"name the unit: --column NAME=HEADER, {names}" if median > LONGEST_SECONDS else "write seconds"
        raise UsageError(place, finding, remedy, code="JPO-E730")
    if median < OFTEN_SECONDS:
        said = f"samples are {median:.6g} s apart in the median: collectors look less often. If times are seconds already:"
        return f"{said} --column time=HEADER; if they are hours or days: write seconds [{ODD}]"
    if median < LONG_SECONDS:
        return None
    said = f"samples are {median:.6g} s apart in the median: phases of minutes are not seen."
    return f"{said} If times are in milliseconds: --column time_ms=HEADER [{ODD}]"


def odd_figures(values: Floats, features: tuple[str, ...]) -> Iterator[str]:
    """What no container uses: so many cores, or so few bytes."""
    peaks = dict(zip(features, values.max(0).tolist(), strict=True))
    cores, size = " or ".join(units_of(CPU)), " or ".join(units_of(MEMORY))
    if (most := peaks.get(CPU, 0.0)) > MOST_CORES:
        yield f"{CPU} is up to {most:.6g}. If it is not a number of cores: --column NAME=HEADER, {cores} [{ODD}]"
    if 0 < (most := peaks.get(MEMORY, 0.0)) < FEWEST_BYTES:
        yield f"{MEMORY} is {most:.6g} at most. If it is not in bytes: --column NAME=HEADER, {size} [{ODD}]"


def said(name: str, unit: str) -> str:
    return f"{name} is read from {UNITS[unit][1]}, as its column says [{CODE}]"


def units_of(quantity: str) -> list[str]:
    return [name for name, (of, _, _) in UNITS.items() if of == quantity]


def parts(unit: str | None) -> float:
    """By which a measurement is divided; None: it is in seconds, cores or bytes already."""
    return UNITS[unit][2] if unit else 1.0
