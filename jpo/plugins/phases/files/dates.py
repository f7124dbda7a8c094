"""When: times as numbers, as ISO 8601 and as dashboards write them in local time; and the hour that comes twice in autumn."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from jpo.errors import quoted
from jpo.files import reading
from jpo.plugins.phases.files.rows import malformed
from jpo.plugins.phases.traces import Floats

LATEST = 1e19
"""Of any time: nanoseconds of the year 2286."""
LONGEST = 64
LOCAL = re.compile(
    r"(?P<a>[0-9]{1,4})(?P<sign>[./])(?P<b>[0-9]{1,2})[./](?P<c>[0-9]{1,4}),? "
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.][0-9]+)?)?(?: ?(?P<half>[AaPp])[.]?[Mm][.]?)?"
)
"""2024/5/31 13:00:00, 31.5.2024 13:00, 5/31/2024, 1:00:00 PM."""
HOUR_SECONDS = 3600.0
STEPS = 5.0
"""Median steps by which two samples around the end of summer time may be apart."""
SUMMER_TIME = "JPO-W879"


class Moment(NamedTuple):
    """A time in Unix seconds, or a number of any unit; whether it was a date, and one that says no zone."""

    value: float
    is_date: bool
    is_local: bool = False


def moment(where: str, text: str, *, day_first: bool | None = None) -> Moment:
    """A number of any unit, or a date with a time, UTC unless it says otherwise; `day_first`: of slashes, None: nobody knows.

    Raises UsageError: JPO-E730, it is neither.
    """
    try:
        value = reading.number(text)
    except ValueError:
        found = _date(text, day_first)
        if found is not None:
            return found
        value = np.nan
    if not abs(value) <= LATEST:  # NaN too
        unknown = " whose day and month are known" if day_first is None and LOCAL.fullmatch(text[:LONGEST]) else ""
        finding = f"time = {quoted(text)} is neither a number of seconds nor a date{unknown}"
        raise malformed(where, finding, "write Unix seconds or ISO 8601")
    return Moment(value, False)


def is_day_first(texts: Iterable[str]) -> bool | None:
    """Whether dates with slashes begin with the day, None: none of them says; a part above 12 does, and so do AM and PM."""
    for text in texts:
        found = LOCAL.fullmatch(text.strip()) if len(text) <= LONGEST and "/" in text else None
        if found is None or len(found["a"]) > 2:
            continue
        if int(found["a"]) > 12:
            return True
        if int(found["b"]) > 12 or found["half"]:
            return False
    return None


def _date(text: str, day_first: bool | None) -> Moment | None:
    """A date with a time; Go's "+0000 UTC" too."""
    if len(text) > LONGEST:
        return None
    text = re.sub(r"\s([+-][0-9]{2}:?[0-9]{2})$", r"\1", re.sub(r"\sUTC$", "", text.replace("\u202f", " ").replace("\xa0", " ")))
    try:
        found = datetime.fromisoformat(text) if len(text) > 10 else None
    except ValueError:
        found = _written(text, day_first)
    if found is None:
        return None
    return Moment((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), True, is_local=found.tzinfo is None)


def _written(text: str, day_first: bool | None) -> datetime | None:
    found = LOCAL.fullmatch(text)
    if found is None:
        return None
    a, b, c = (int(found[part]) for part in "abc")
    if len(found["a"]) == 4:
        year, month, day = a, b, c
    elif found["sign"] == ".":
        year, month, day = c, b, a
    elif day_first is None:
        return None
    else:
        year, month, day = (c, b, a) if day_first else (c, a, b)
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    try:
        return datetime(year, month, day, hour, int(found["minute"]), int(found["second"] or 0), tzinfo=None)  # noqa: DTZ001
    except ValueError:
        return None


def unfolded(times: Floats, is_local: bool) -> tuple[Floats, int | None]:
    """Times with the hour that clocks are set back counted twice, and the place of the first one behind it; None: there is none.

    `times`: Unix seconds of one execution; `is_local`: all of them were written without a zone.
    """
    steps = np.diff(times)
    back = np.flatnonzero(steps < 0)
    if not is_local or len(back) != 1 or len(steps) < 2:
        return times, None
    at, usual = int(back[0]), float(np.median(steps[steps > 0]))
    if not 0 < steps[at] + HOUR_SECONDS <= STEPS * usual:
        return times, None
    return np.r_[times[: at + 1], times[at + 1 :] + HOUR_SECONDS], at + 1


def summer_time(what: str) -> str:
    return f"{what}: local times go back by an hour once: the end of summer time; read as continuous [{SUMMER_TIME}]"
