"""What becomes of an answer: it is accepted, or it is trouble that passes, a query that was too large, or another TelemetryError.

Which it is, each kind of server has its own function to say (session.Service).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from jpo.errors import TelemetryError

LOGIN_SECONDS = 60.0
"""Longest wait for a program by which somebody logs in, for which clients of Kubernetes and AWS would wait without end."""
LONGEST_SECONDS = 300.0
"""Longest wait for all that clients of their own do for one answer, what they try again included."""
BUSY = (408, 429, 500, 502, 503, 504)
"""HTTP statuses of temporary trouble."""


def seconds_to_wait(headers: Mapping[str, str]) -> float:
    """What a server asks for by Retry-After; 0 where it says no number of seconds."""
    said = headers.get("Retry-After", "")
    return float(said) if re.fullmatch("[0-9]{1,12}", said) else 0.0


class PassingTrouble(TelemetryError):
    """Temporary trouble, worth another attempt: the answer was cut off, the connection was reset."""

    pauses: ClassVar[tuple[float, ...]] = (0.5,)
    """Seconds to wait before each further try."""


class Busy(PassingTrouble):
    """The server cannot answer now: it restarts, or one of several behind a balancer does."""

    pauses = (0.5, 1.0, 2.0)


class TooMuch(TelemetryError):
    """A query that is too large: the server gave it up, it met a limit, or its answer is too large; a narrower query helps.

    Codes JPO-E103, E105 and E109. The deadline over all requests (JPO-E103 as well) is not among it.
    """


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that was accepted: an object or a list, and what the server warned of: it may be partial."""

    data: Mapping[str, object] | Sequence[object]
    warnings: tuple[str, ...] = ()
