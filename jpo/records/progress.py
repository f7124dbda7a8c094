"""Progress: how a long loop shows to those who wait how far it is, and who computes its steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import starmap
from typing import Any

Track = Callable[[Sequence[int], str], Iterable[int]]
"""Goes through numbers and shows how far it is: `track(range(10), "reading logs")`."""
Workers = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], Iterator[Any]]
"""Calls a function with the arguments of each piece of work, here or elsewhere; the results come in the order of the pieces."""
Spread = Callable[[int], AbstractContextManager[Workers]]
"""Opens the workers for so many pieces."""


def silently(numbers: Sequence[int], _what: str) -> Iterable[int]:
    """Track of a loop that shows no progress."""
    return numbers


def in_turn(_pieces: int) -> AbstractContextManager[Workers]:
    """Spread over nothing: this process takes one piece after the other."""
    return nullcontext(starmap)
