"""Numbers as programs write them, and nothing else: what Python would read as well ("٣٢", "3_2", " 32 ", "+5") is no number here.

A text that a person or another program reads as something else must not become a value on record.
"""

from __future__ import annotations

import math
import re

LONGEST = 64
"""Characters; `repr` of a float has at most 24. An exporter may print all the digits of 1e21."""
FINITE = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)


def number(text: str) -> float:
    """The number of a text in ASCII digits; NaN and infinity where they are written out.

    Raises:
        ValueError: it is none, is longer than LONGEST, or is too large for a float (1e400 is not infinity).
    """
    if len(text) <= LONGEST:
        if FINITE.fullmatch(text):
            value = float(text)
            if math.isfinite(value):
                return value
        elif NOT_FINITE.fullmatch(text):
            return float(text)
    raise ValueError(f"{text[:LONGEST]!r} is not a number")
