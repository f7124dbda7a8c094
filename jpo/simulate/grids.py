"""Random candidate sets like those of users, on which the agent is pretrained."""

import numpy as np

from jpo.records import PARAMETERS, Candidates, Floats

_FEWEST, _MOST = 10, 150
_SHARE = {
    "batch_size": 0.85,
    "learning_rate": 0.6,
    "num_layers": 0.15,
    "epochs": 0.2,
    "gpus": 0.5,
    "cpus": 0.5,
    "memory_gib": 0.25,
}
"""Probability that a parameter is a column."""


def random_candidates(rng: np.random.Generator) -> Candidates:
    """A plausible candidate set of 10 to 150 rows: some of the knobs, today's row anywhere in it, prices of any proportion."""
    while True:
        names = tuple(name for name in PARAMETERS if rng.random() < _SHARE[name])
        if names:
            grid = np.meshgrid(*(_steps(name, rng) for name in names), indexing="ij")
            values = np.stack([axis.ravel() for axis in grid], axis=1)  # (K, P)
            if "batch_size" in names and "gpus" in names:  # every GPU gets at least one sample
                values = values[values[:, names.index("gpus")] <= values[:, names.index("batch_size")]]
            if len(values) >= _FEWEST:
                break
    if len(values) > _MOST:
        values = values[np.sort(rng.choice(len(values), rng.integers(_FEWEST, _MOST + 1), replace=False))]
    current = int(rng.integers(len(values)))
    return Candidates(names, values, current, np.ones(len(values), dtype=np.bool_), _log_rate(names, values, current, rng))


def _steps(name: str, rng: np.random.Generator) -> Floats:
    """The values of one knob, ascending, in JPO's units."""
    first, fewest, most = {
        "batch_size": (2.0 ** rng.integers(2, 9), 3, 9),
        "learning_rate": (10.0 ** rng.uniform(-4, -2), 3, 7),
        "num_layers": (1.0 * rng.integers(1, 4), 2, 4),
        "epochs": (1.0 * rng.integers(2, 30), 2, 5),
        "gpus": (1.0, 2, 5),
        "cpus": (1.0, 2, 6),
        "memory_gib": (2.0 ** rng.integers(0, 5), 2, 5),
    }[name]
    steps = np.arange(rng.integers(fewest, most + 1), dtype=np.float64)
    coarse = name == "learning_rate" and rng.random() < 0.5
    return np.asarray(first * np.where(coarse, 10.0 ** (steps / 2), 2.0**steps))


def _log_rate(names: tuple[str, ...], values: Floats, current: int, rng: np.random.Generator) -> Floats:
    """ln price per hour relative to today's row; GPU, CPU and GiB vary by a factor of 3 around usual proportions."""
    usual = {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005}
    price = np.array([usual.get(name, 0.0) * 3.0 ** rng.uniform(-1, 1) for name in names])
    rate = values @ price
    return np.log(rate / rate[current]) if rate[current] > 0 else np.zeros(len(values))
