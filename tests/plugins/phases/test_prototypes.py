from __future__ import annotations

import numpy as np

from jpo.plugins.phases.prototypes import distance, nearest_prototype, prototypes


def path(*stays: tuple[int, int]) -> np.ndarray:
    return np.concatenate([np.full(n, phase) for phase, n in stays])


LONG = path((0, 20), (1, 200), (2, 20))
SHORT = path((0, 3), (1, 20), (2, 2))
OTHER = path((0, 30), (3, 100), (0, 30))


def test_long_and_short_runs_of_a_job_are_alike() -> None:
    assert distance(LONG, LONG) == 0
    assert distance(LONG, SHORT) < 0.1
    assert distance(LONG, OTHER) > 0.5
    assert distance(LONG, OTHER) == distance(OTHER, LONG)


def test_kinds_have_the_run_in_their_middle() -> None:
    common, rare = prototypes([LONG, OTHER, SHORT, path((0, 10), (1, 90), (2, 8))])
    assert common.members == (0, 2, 3)
    assert common.medoid in common.members
    assert common.phases == (0, 1, 2)
    assert (rare.members, rare.medoid, rare.phases) == ((1,), 1, (0, 3, 0))


def test_a_new_run_follows_the_nearest_kind() -> None:
    paths = [LONG, OTHER]
    assert nearest_prototype(SHORT, prototypes(paths), paths) == 0
    assert nearest_prototype(path((0, 3), (3, 9), (0, 3)), prototypes(paths), paths) == 1
