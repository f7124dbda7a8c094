"""Functions that benchmarks/search.py searches: losses of made-up jobs over 2 to 8 knobs, each with a known shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo import Range

if TYPE_CHECKING:
    from jpo.records import Floats

Values = dict[str, object]
Surface = Callable[["Place", "Place"], "Floats"]
"""(place, shift of the optimum) -> ln of the loss above a constant, on arrays."""


class Place(dict[str, "Floats"]):
    """Places of configurations in a space: 0..1 per number, on its own scale; the index per word."""

    def word(self, name: str, *values: float) -> Floats:
        """What each word of a knob is worth."""
        return np.array(values)[self[name].astype(int)]


@dataclass(frozen=True)
class Function:
    """Function to search: the loss of a job over its knobs.

    Attributes:
        start: the first run's values; noise: sd of ln of a run's loss; judge: whether it was kept back while search was built.
    """

    name: str
    space: Mapping[str, object]
    start: Values
    noise: float
    surface: Surface
    judge: bool = False

    def places(self, rows: Sequence[Values]) -> Place:
        return Place({name: np.array([place(knob, row[name]) for row in rows]) for name, knob in self.space.items()})


def place(knob: object, value: object) -> float:
    """Place of a value in its knob's range."""
    if not isinstance(knob, Range):
        index = knob.index(value)  # type: ignore[attr-defined]
        return float(index) if isinstance(value, str) else index / (len(knob) - 1)  # type: ignore[arg-type]
    low, high, at = ((math.log(v) if knob.log else v) for v in (knob.low, knob.high, float(value)))  # type: ignore[arg-type]
    return (at - low) / (high - low)


def finetuning(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - p.word("optimizer", 0.45, 0.2, 0.9, 0.6) - 0.15 * (p["batch_size"] - 0.5)
    lost = p.word("optimizer", 0.0, 0.02, 0.2, 0.06)
    return 2 * off**2 + 0.3 * (p["dropout"] - s["dropout"] - 0.3) ** 2 + 0.05 * (p["batch_size"] - 0.4) ** 2 + lost


def vision(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.6 - 0.3 * (p["batch_size"] - 0.5)
    decay = p["weight_decay"] - s["weight_decay"] - 0.55
    return 1.5 * off**2 + 0.25 * (p["batch_size"] - s["batch_size"] - 0.3) ** 2 + 0.4 * decay**2


def boosted(p: Place, s: Place) -> Floats:
    valley = 0.8 * (p["eta"] + 0.7 * p["trees"] - 0.85 - s["eta"]) ** 2 + 0.15 * (p["eta"] - 0.4) ** 2
    depth = 0.5 * (p["max_depth"] - s["max_depth"] - 0.35) ** 2
    return valley + depth + 0.1 * np.abs(p["subsample"] - s["subsample"] - 0.7) + 0.1 * (p["reg_lambda"] - 0.4) ** 2


def eight(p: Place, s: Place) -> Floats:
    weights, best = (1, 0.6, 0.3, 0.15, 0.08, 0.04, 0.02, 0.01), (0.2, 0.75, 0.6, 0.1, 0.9, 0.3, 0.5, 0.8)
    return np.asarray(sum(w * (p[f"x{i}"] - s[f"x{i}"] - b) ** 2 for i, (w, b) in enumerate(zip(weights, best, strict=True))))


def near(p: Place, s: Place) -> Floats:
    return 1.2 * (p["learning_rate"] - s["learning_rate"] - 0.5) ** 2 + 0.8 * (p["dropout"] - s["dropout"] - 0.4) ** 2


def cliff(p: Place, s: Place) -> Floats:
    edge = 30 * (p["learning_rate"] - s["learning_rate"] + 0.4 * p["momentum"] - 0.3 * p["warmup_steps"] - 0.85)
    bowl = 0.5 * (p["learning_rate"] - 0.65) ** 2 + 0.2 * (p["momentum"] - 0.6) ** 2 + 0.1 * (p["warmup_steps"] - 0.4) ** 2
    return bowl + 1.5 / (1 + np.exp(-np.clip(edge, -50, 50)))


def language(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.55 - 0.2 * (p["batch_size"] - 0.5) - 0.15 * (p["warmup_steps"] - 0.5)
    deep = 0.3 * (p["num_layers"] - s["num_layers"] - 0.7) ** 2
    decay = 0.1 * np.abs(p["weight_decay"] - s["weight_decay"] - 0.6)
    return 1.2 * off**2 + deep + decay + p.word("schedule", 0.05, 0.0, 0.15) + 0.1 * (p["warmup_steps"] - 0.3) ** 2


def recommender(p: Place, s: Place) -> Floats:
    width = 0.5 * (p["embedding"] - s["embedding"] - 0.6) ** 2
    bound = 0.8 * (p["learning_rate"] + 0.5 * p["l2"] - 0.9 - s["learning_rate"]) ** 2
    return width + bound + 0.4 * np.sqrt(0.01 + (p["negatives"] - 0.8) ** 2) + 0.2 * (p["l2"] - 0.5) ** 2


def valley(p: Place, s: Place) -> Floats:
    across = p["a"] + p["b"] - p["c"] - 0.4 - s["a"]
    along = p["a"] - p["b"] - 0.3 - s["b"]
    return 2 * across**2 + 0.3 * along**2 + 0.2 * (p["c"] - 0.8 - s["c"]) ** 2


def segmentation(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - p.word("loss", 0.3, 0.5, 0.65)
    crop = 0.4 * (p["crop"] - 0.9) ** 2 + 0.3 * p["crop"] * p["batch_size"]
    return off**2 + crop + p.word("loss", 0.12, 0.0, 0.04) + p.word("augmentation", 0.2, 0.08, 0.0, 0.05)


def forest(p: Place, s: Place) -> Floats:
    trees = 0.4 * np.exp(-4 * p["trees"])
    depth = 0.6 * (p["max_depth"] - s["max_depth"] - 0.6) ** 2
    return trees + depth + 0.3 * (p["leaf"] - 0.15) ** 2 + p.word("features", 0.1, 0.0, 0.03)


def detection(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.6 - 0.25 * (p["batch_size"] - 0.5) + 0.3 * (p["momentum"] - 0.7)
    plain = 0.3 * (p["weight_decay"] - s["weight_decay"] - 0.5) ** 2 + 0.2 * (p["dropout"] - 0.2) ** 2
    late = 0.1 * (p["warmup_epochs"] - 0.5) ** 2 + 0.15 * (p["num_layers"] - s["num_layers"] - 0.6) ** 2
    return 1.5 * off**2 + plain + late + p.word("scheduler", 0.1, 0.03, 0.0) + 0.2 * (p["momentum"] - 0.7) ** 2


UNIT = Range(0.0, 1.0)
SHARE = Range(0.0, 0.5)
FUNCTIONS = (
    Function(
        "fine-tuning",
        {
            "learning_rate": Range(1e-6, 1e-3, log=True),
            "batch_size": [8, 16, 32, 64, 128],
            "dropout": SHARE,
            "optimizer": ["adamw", "lion", "sgd", "adafactor"],
        },
        {"learning_rate": 1e-5, "batch_size": 32, "dropout": 0.0, "optimizer": "sgd"},
        0.004,
        finetuning,
    ),
    Function(
        "vision",
        {
            "learning_rate": Range(1e-4, 1.0, log=True),
            "batch_size": Range(32, 1024, log=True, integer=True),
            "weight_decay": Range(1e-6, 1e-2, log=True),
        },
        {"learning_rate": 1e-3, "batch_size": 512, "weight_decay": 1e-6},
        0.01,
        vision,
    ),
    Function(
        "boosted",
        {
            "eta": Range(0.005, 0.5, log=True),
            "max_depth": Range(2, 12, integer=True),
            "subsample": Range(0.4, 1.0),
            "trees": Range(50, 2000, log=True, integer=True),
            "reg_lambda": Range(0.01, 100, log=True),
        },
        {"eta": 0.3, "max_depth": 6, "subsample": 1.0, "trees": 100, "reg_lambda": 1.0},
        0.005,
        boosted,
    ),
    Function("eight", {f"x{i}": UNIT for i in range(8)}, {f"x{i}": 0.5 for i in range(8)}, 0.0, eight),
    Function(
        "near",
        {"learning_rate": Range(1e-4, 1e-1, log=True), "dropout": SHARE},
        {"learning_rate": 1e-2, "dropout": 0.1},
        0.05,
        near,
    ),
    Function(
        "cliff",
        {"learning_rate": Range(1e-4, 1.0, log=True), "momentum": Range(0.0, 0.99), "warmup_steps": Range(0, 2000, integer=True)},
        {"learning_rate": 1e-3, "momentum": 0.0, "warmup_steps": 0},
        0.02,
        cliff,
    ),
    Function(
        "language",
        {
            "learning_rate": Range(1e-5, 1e-2, log=True),
            "batch_size": [16, 32, 64, 128, 256, 512],
            "num_layers": Range(2, 24, integer=True),
            "warmup_steps": Range(0, 4000, integer=True),
            "weight_decay": Range(1e-4, 1.0, log=True),
            "schedule": ["constant", "cosine", "step"],
        },
        {
            "learning_rate": 1e-4,
            "batch_size": 64,
            "num_layers": 6,
            "warmup_steps": 0,
            "weight_decay": 1e-4,
            "schedule": "constant",
        },
        0.01,
        language,
        judge=True,
    ),
    Function(
        "recommender",
        {
            "learning_rate": Range(1e-4, 1e-1, log=True),
            "embedding": [8, 16, 32, 64, 128, 256],
            "negatives": Range(1, 50, integer=True),
            "l2": Range(1e-7, 1e-2, log=True),
        },
        {"learning_rate": 1e-3, "embedding": 16, "negatives": 4, "l2": 1e-6},
        0.05,
        recommender,
        judge=True,
    ),
    Function("valley", {"a": UNIT, "b": UNIT, "c": UNIT}, {"a": 0.1, "b": 0.9, "c": 0.2}, 0.0, valley, judge=True),
    Function(
        "segmentation",
        {
            "learning_rate": Range(1e-5, 1e-1, log=True),
            "batch_size": [2, 4, 8, 16, 32],
            "crop": Range(128, 768, integer=True, multiple_of=32),
            "loss": ["ce", "dice", "focal"],
            "augmentation": ["none", "flip", "mix", "cut"],
        },
        {"learning_rate": 1e-4, "batch_size": 16, "crop": 256, "loss": "ce", "augmentation": "none"},
        0.02,
        segmentation,
        judge=True,
    ),
    Function(
        "forest",
        {
            "trees": Range(10, 1000, log=True, integer=True),
            "max_depth": Range(2, 30, integer=True),
            "leaf": Range(1, 50, integer=True),
            "features": ["all", "sqrt", "log2"],
        },
        {"trees": 20, "max_depth": 4, "leaf": 40, "features": "all"},
        0.005,
        forest,
        judge=True,
    ),
    Function(
        "detection",
        {
            "learning_rate": Range(1e-4, 1.0, log=True),
            "batch_size": [8, 16, 32, 64, 128],
            "num_layers": Range(18, 152, integer=True),
            "momentum": Range(0.0, 0.99),
            "weight_decay": Range(1e-6, 1e-2, log=True),
            "dropout": SHARE,
            "warmup_epochs": Range(0, 10, integer=True),
            "scheduler": ["none", "step", "cosine"],
        },
        {
            "learning_rate": 0.003,
            "batch_size": 16,
            "num_layers": 50,
            "momentum": 0.9,
            "weight_decay": 1e-6,
            "dropout": 0.5,
            "warmup_epochs": 0,
            "scheduler": "none",
        },
        0.03,
        detection,
        judge=True,
    ),
)
