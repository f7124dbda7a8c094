from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest

from jpo.plugins.phases import best_path
from jpo.plugins.phases.best_path import in_numpy, viterbi
from jpo.plugins.phases.chain import Chain, Ints

Find = Callable[[Chain, np.ndarray, Sequence[int]], Ints]


def one_pass(chain: Chain, emissions: np.ndarray) -> list[int]:
    """The best path of one execution, sample by sample, by Viterbi's definition."""
    moves = np.log(chain.transitions)
    best, came = np.log(chain.start) + emissions[0], []
    for sample in emissions[1:]:
        ways = best[:, None] + moves
        came.append(ways.argmax(0))
        best = ways.max(0) + sample
    path = [int(best.argmax())]
    for before in reversed(came):
        path.append(int(before[path[-1]]))
    return path[::-1]


@pytest.mark.parametrize("find", [viterbi, in_numpy])
@pytest.mark.parametrize("lengths", [[1000], [129, 5, 128, 700], [256, 257, 1]])
@pytest.mark.parametrize(("apart", "sticky"), [(3.0, 1.0), (1.0, 1.0), (0.02, 300.0), (0.0, 30.0)])
def test_long_executions_have_the_path_of_one_pass(find: Find, lengths: list[int], apart: float, sticky: float) -> None:
    """Also where phases are so alike that the start of an execution counts to its end."""
    rng = np.random.default_rng(len(lengths))
    transitions = rng.dirichlet(np.ones(4), 4) + sticky * np.eye(4)
    transitions /= transitions.sum(1, keepdims=True)
    means = apart * rng.normal(size=(4, 2))
    chain = Chain(rng.dirichlet(np.ones(4)), transitions, means, np.full((4, 2), 0.8))
    emissions = chain.log_emissions(rng.normal(size=(sum(lengths), 2)))
    parts = np.split(emissions, np.cumsum(lengths)[:-1])
    assert find(chain, emissions, lengths).tolist() == [phase for part in parts for phase in one_pass(chain, part)]


def test_of_equal_ways_both_take_one_that_is_as_good() -> None:
    k = 4
    chain = Chain(np.full(k, 1 / k), np.full((k, k), 1 / k), np.zeros((k, 1)), np.ones((k, 1)))
    emissions = np.random.default_rng(0).integers(0, 2, (300, k)).astype(float)
    paths = [find(chain, emissions, [300]) for find in (viterbi, in_numpy)]
    assert [emissions[np.arange(300), path].sum() for path in paths] == [emissions.max(1).sum()] * 2


def test_the_compiled_loop_is_used_where_the_known_version_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of hmmlearn fails here: look whether its function is the same, and add it to COMPILED."""
    assert version("hmmlearn") in best_path.COMPILED
    monkeypatch.setattr(best_path, "in_numpy", None)
    assert len(viterbi(*ambiguous(200), [200])) == 200


@pytest.mark.parametrize("installed", ["0.2.8", "0.4.0", None])
def test_other_versions_are_not_trusted(monkeypatch: pytest.MonkeyPatch, installed: str | None) -> None:
    def says(package: str) -> str:
        if installed is None:
            raise PackageNotFoundError(package)
        return installed

    monkeypatch.setattr(best_path, "version", says)
    best_path._compiled.cache_clear()
    assert best_path._compiled() is None
    best_path._compiled.cache_clear()


def ambiguous(n: int) -> tuple[Chain, np.ndarray]:
    """A chain of ten phases that nothing but their order tells apart, and samples."""
    rng = np.random.default_rng(0)
    transitions = rng.dirichlet(np.ones(10), 10) + 300 * np.eye(10)
    chain = Chain(
        np.full(10, 0.1), transitions / transitions.sum(1, keepdims=True), 0.02 * rng.normal(size=(10, 2)), np.ones((10, 2))
    )
    return chain, chain.log_emissions(rng.normal(size=(n, 2)))
