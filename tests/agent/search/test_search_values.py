"""When a search is over, and what it says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.agent.search.search_values import SearchValues, search_note


@pytest.mark.parametrize(
    ("runs", "of", "over", "said"),
    [
        (3, None, False, "search, run 4: the best model counts, not what each run costs"),
        (3, 15, False, "search, run 4 of 15: the best model counts, not what each run costs"),
        (15, 15, True, "the search is over: this is the best of 15 runs, by all of them together"),
    ],
)
def test_a_search_is_over_after_its_last_run_and_says_how_far_it_is(runs: int, of: int | None, *, over: bool, said: str) -> None:
    values = SearchValues(np.zeros(2), 0, runs, of)
    assert (values.over, search_note(values).text) == (over, said)
