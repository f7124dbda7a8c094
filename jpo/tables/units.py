"""Units: what one of each is in JPO's own, and how people and tools spell it.

JPO's own are seconds, bytes, cores, ratios, joules and USD. Which unit a cell may have, its reader says: "m" are minutes of a
duration and thousandths of a core.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

Measure = Literal["time", "size", "cores", "share", "energy", "money"]


class Unit(NamedTuple):
    """Unit.

    Attributes:
        size: what one of it is in JPO's own unit.
        spelt: how people write it, in small letters.
        since_1970: from which value on a time is in this unit: the same number of seconds lies thousands of years ahead.
    """

    measure: Measure
    size: float
    spelt: tuple[str, ...] = ()
    since_1970: float = math.inf

    @property
    def parts(self) -> float:
        """How many of it make one of JPO's own."""
        return 1 / self.size if self.size >= 1 else round(1 / self.size)


UNITS: Mapping[str, Unit] = {
    "s": Unit("time", 1.0, ("s", "sec", "secs", "second", "seconds")),
    "ms": Unit("time", 1e-3, ("ms", "msec", "milliseconds"), since_1970=1e11),
    "us": Unit("time", 1e-6, ("us",), since_1970=1e14),
    "ns": Unit("time", 1e-9, ("ns",), since_1970=1e17),
    "min": Unit("time", 60.0, ("m", "min", "mins", "minute", "minutes")),
    "h": Unit("time", 3600.0, ("h", "hr", "hrs", "hour", "hours")),
    "d": Unit("time", 86400.0, ("d", "day", "days")),
    "B": Unit("size", 1.0, ("b", "byte", "bytes")),
    "KiB": Unit("size", 2.0**10, ("ki", "kib")),
    "MiB": Unit("size", 2.0**20, ("mi", "mib")),
    "GiB": Unit("size", 2.0**30, ("gi", "gib")),
    "TiB": Unit("size", 2.0**40, ("ti", "tib")),
    "KB": Unit("size", 1e3, ("kb",)),
    "MB": Unit("size", 1e6, ("mb",)),
    "GB": Unit("size", 1e9, ("gb",)),
    "TB": Unit("size", 1e12, ("tb",)),
    "cores": Unit("cores", 1.0, ("core", "cores", "cpu", "cpus", "vcpu", "vcpus")),
    "millicores": Unit("cores", 1e-3, ("m", "millicore", "millicores", "mcores", "mcpu")),
    "ratio": Unit("share", 1.0, ("ratio", "fraction", "share")),
    "percent": Unit("share", 0.01, ("percent", "pct", "perc", "%")),
    "J": Unit("energy", 1.0, ("j", "joule", "joules")),
    "kJ": Unit("energy", 1e3, ("kj",)),
    "Wh": Unit("energy", 3600.0, ("wh",)),
    "kWh": Unit("energy", 3.6e6, ("kwh",)),
    "USD": Unit("money", 1.0, ("usd", "dollar", "dollars", "$")),
}
"""By the name that JPO writes."""
SHORT_TIMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds"}
"""Units of times that are too large to be seconds, in words; the shortest first."""


def time_unit_in_words(value: float) -> str | None:
    """The unit that a time since 1970 cannot but be in; None where it can be in seconds."""
    return next((words for name, words in SHORT_TIMES.items() if UNITS[name].since_1970 <= abs(value) < math.inf), None)
