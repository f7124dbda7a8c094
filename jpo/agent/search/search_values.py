"""Search for the best model of N runs: what its runs cost counts only as far as the preference weighs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jpo.records import Note

if TYPE_CHECKING:
    from jpo.records import Floats


@dataclass(frozen=True, eq=False, slots=True)
class SearchValues:
    """Values of the candidates in a search.

    Attributes:
        promise: shape (K,), what a run is expected to improve the best by, or, where too little ran, how much it tells.
        best: the row of the best that was found, by all runs together; None while none has measured what is searched for.
        runs, of: finished runs, and how many there will be; None: not said.
    """

    promise: Floats
    best: int | None
    runs: int
    of: int | None = None

    @property
    def over(self) -> bool:
        """Whether no run is left."""
        return self.of is not None and self.runs >= self.of


def search_note(values: SearchValues) -> Note:
    """That this is a search, and how far it is."""
    if values.over:
        return Note("JPO-I674", f"the search is over: this is the best of {values.runs} runs, by all of them together")
    of = "" if values.of is None else f" of {values.of}"
    return Note("JPO-I674", f"search, run {values.runs + 1}{of}: the best model counts, not what each run costs")
