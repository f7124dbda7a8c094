"""Groups of candidates that are the same in one respect."""

from __future__ import annotations

import numpy as np

from jpo.forecast.evidence.groups import groups_without
from jpo.records import Candidates

VALUES = np.array([[batch, gpus] for batch in (32.0, 64.0) for gpus in (1.0, 2.0, 4.0)])
CANDIDATES = Candidates(("batch_size", "gpus"), VALUES, 4, np.ones(6, dtype=np.bool_), np.zeros(6))


def test_candidates_that_differ_in_these_parameters_alone_are_one_and_today_stands_for_its_own() -> None:
    groups = groups_without(CANDIDATES, ("gpus",))
    assert list(groups.of) == [0, 0, 0, 1, 1, 1]
    assert list(groups.first) == [0, 4]
    assert groups.candidates.current == 1


def test_columns_go_to_the_groups_and_back() -> None:
    groups, logs = groups_without(CANDIDATES, ("gpus",)), np.arange(6.0)[None, :]
    assert groups.grouped(logs).tolist() == [[0, 4]]
    assert groups.expanded(groups.grouped(logs)).tolist() == [[0, 0, 0, 4, 4, 4]]


def test_nothing_is_copied_where_each_is_its_own_group() -> None:
    groups, logs = groups_without(CANDIDATES, ("cpus",)), np.arange(6.0)[None, :]
    assert groups.single
    assert groups.grouped(logs) is logs
    assert groups.expanded(logs) is logs
    assert groups.candidates is CANDIDATES
