from __future__ import annotations

import itertools

import numpy as np
import pytest

from jpo.plugins.phases.best_path import viterbi
from jpo.plugins.phases.chain import PADDED, Chain, alike, forward, padded, smooth, stacked

CHAIN = Chain(
    np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]]), means=np.array([[0.0], [2.0]]), variances=np.array([[1.0], [0.5]])
)
SAMPLES = np.array([[0.1], [1.9], [0.3], [2.5], [1.0]])


def all_paths(samples: np.ndarray) -> dict[tuple[int, ...], float]:
    """The joint density of the samples with each path, by its definition."""
    density = np.exp(-((samples - CHAIN.means.T) ** 2) / (2 * CHAIN.variances.T)) / np.sqrt(2 * np.pi * CHAIN.variances.T)
    joint = {}
    for path in itertools.product((0, 1), repeat=len(samples)):
        p = CHAIN.start[path[0]] * density[0, path[0]]
        for t in range(1, len(path)):
            p *= CHAIN.transitions[path[t - 1], path[t]] * density[t, path[t]]
        joint[path] = p
    return joint


def test_the_filter_says_what_counting_all_paths_says() -> None:
    filtered, evidence = forward(CHAIN, CHAIN.log_emissions(SAMPLES), [5])
    for t in range(5):
        joint = all_paths(SAMPLES[: t + 1])
        total = sum(joint.values())
        assert filtered[t, 1] == pytest.approx(sum(p for path, p in joint.items() if path[-1] == 1) / total)
        assert evidence[: t + 1].sum() == pytest.approx(np.log(total))


def test_smoothing_and_the_best_path_say_what_counting_all_paths_says() -> None:
    joint = all_paths(SAMPLES)
    smoothed, counts = smooth(CHAIN, CHAIN.log_emissions(SAMPLES), [5])
    total = sum(joint.values())
    for t in range(5):
        assert smoothed[t, 1] == pytest.approx(sum(p for path, p in joint.items() if path[t] == 1) / total)
    expected = sum(p * sum((a, b) == (0, 1) for a, b in itertools.pairwise(path)) for path, p in joint.items()) / total
    assert counts[0, 1] == pytest.approx(expected)
    assert tuple(viterbi(CHAIN, CHAIN.log_emissions(SAMPLES), [5])) == max(joint, key=lambda path: joint[path])


def test_executions_side_by_side_are_those_one_by_one() -> None:
    emissions = CHAIN.log_emissions(np.concatenate([SAMPLES, SAMPLES[:2], SAMPLES[::-1]]))
    parts = np.split(emissions, [5, 7])
    for function in (
        lambda e, n: forward(CHAIN, e, n)[0],
        lambda e, n: smooth(CHAIN, e, n)[0],
        lambda e, n: viterbi(CHAIN, e, n),
    ):
        together = function(emissions, [5, 2, 5])
        assert np.allclose(together, np.concatenate([function(part, [len(part)]) for part in parts]))


def test_one_long_execution_beside_many_short_ones_is_no_batch_of_padding() -> None:
    lengths = [3000, *[2, 3, 4] * 300]
    assert len(lengths) * max(lengths) > PADDED
    batches = [some for _, some in alike(lengths)]
    assert sum(len(some) * max(some) for some in batches) <= 2 * sum(lengths)
    emissions = CHAIN.log_emissions(np.random.default_rng(0).normal(1, 1, (sum(lengths), 1)))
    parts = np.split(emissions, np.cumsum(lengths)[:-1])
    smoothed, counts = smooth(CHAIN, emissions, lengths)
    one_by_one = [smooth(CHAIN, part, [len(part)]) for part in parts]
    assert np.allclose(smoothed, np.concatenate([each for each, _ in one_by_one]))
    assert np.allclose(counts, sum(each for _, each in one_by_one))
    densities = np.concatenate([forward(CHAIN, part, [len(part)])[1] for part in parts])
    assert np.allclose(forward(CHAIN, emissions, lengths)[1], densities)


@pytest.mark.parametrize("lengths", [[5], [5, 2, 5], [400_000] * 3, [1000] * 900 + [1500] * 400])
def test_executions_of_like_length_are_one_batch(lengths: list[int]) -> None:
    assert [some.tolist() for _, some in alike(lengths)] == [lengths]


def test_a_sample_far_from_all_phases_leaves_probabilities() -> None:
    filtered, evidence = forward(CHAIN, CHAIN.log_emissions(np.array([[1e6], [0.0]])), [2])
    assert np.isfinite(evidence).all()
    assert np.allclose(filtered.sum(1), 1)


def test_padding_has_a_way_back() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    assert padded(rows, [1, 3, 2]).shape == (3, 3, 2)
    assert (stacked(padded(rows, [1, 3, 2]), [1, 3, 2]) == rows).all()
