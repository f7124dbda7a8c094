"""Progress: how a long loop shows to those who wait how far it is, and who computes its steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import starmap
from typing import Any, Protocol, TypeVar

R = TypeVar("R")
Track = Callable[[Sequence[int], str], Iterable[int]]
"""Goes through numbers and shows how far it is: `track(range(10), "reading logs")`."""


def silently(numbers: Sequence[int], _what: str) -> Iterable[int]:
    """Track of a loop that shows no progress."""
    return numbers


class Workers(Protocol):
    """Calls a function with each piece of work, here or in other processes; the results come in the order of the pieces."""

    def __call__(self, function: Callable[..., R], pieces: Iterable[Sequence[Any]], /) -> Iterator[R]: ...


Spread = Callable[[int], AbstractContextManager[Workers]]
"""Opens the workers for so many pieces."""


def in_turn(_pieces: int) -> AbstractContextManager[Workers]:
    """Spread over nothing: one piece after the other, in this process."""
    return nullcontext(starmap)
