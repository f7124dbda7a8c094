"""When a search is over, and what it says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.agent.search.search_values import SearchValues, search_note
from jpo.records import Preference

LOSS, TIME = Preference(0.0, 0.0, 0.0, 1.0), Preference(1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("runs", "of", "over", "said"),
    [
        (3, None, False, "search, run 4: the best model counts, not what each run costs"),
        (3, 15, False, "search, run 4 of 15: the best model counts, not what each run costs"),
        (15, 15, True, "the search is over: this is the best of 15 runs, judged by all of them together"),
    ],
)
def test_a_search_is_over_after_its_last_run_and_says_how_far_it_is(runs: int, of: int | None, *, over: bool, said: str) -> None:
    values = SearchValues(np.zeros(2), 0, runs, of)
    assert (values.over, search_note(values, LOSS, best=over).text) == (over, said)


def test_the_best_before_the_end_is_said_and_so_is_that_there_is_none() -> None:
    assert search_note(SearchValues(np.zeros(2), 0, 3), LOSS, best=True).text.startswith("search: this is the best of 3 runs")
    assert "none of 3 runs reported what is searched for" in search_note(SearchValues(np.zeros(2), None, 3), LOSS, best=True).text
    assert "by a preference without loss" in search_note(SearchValues(np.zeros(2), 0, 3), TIME, best=False).text
