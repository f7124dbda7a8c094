"""Search for the best model of N runs: what its runs cost counts only as far as the preference weighs it."""

from dataclasses import dataclass

from jpo.records import Floats, Note, Preference
from jpo.wording import numbers


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
        return self.of is not None and self.runs >= self.of


def search_note(values: SearchValues, preference: Preference, *, best: bool) -> Note:
    """That this is a search, how far it is, and what counts; `best`: whether the best so far is the answer."""
    if best and values.best is None:
        text = f"search: none of {numbers.counted(values.runs, 'run')} reported what is searched for, so there is no best yet"
    elif best:
        text = "the search is over: this is" if values.over else "search: this is"
        text += f" the best of {numbers.counted(values.runs, 'run')}, judged by all of them together"
    else:
        of = "" if values.of is None else f" of {values.of}"
        counts = "the best model counts" if preference.loss else "the best run counts, by a preference without loss"
        text = f"search, run {values.runs + 1}{of}: {counts}, not what each run costs"
    return Note("JPO-I674", text)
