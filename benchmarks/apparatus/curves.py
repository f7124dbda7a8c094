"""Learning curves of the project's own runs: small networks, really trained to the last epoch over a grid of configurations.

    OMP_NUM_THREADS=1 python -m benchmarks.apparatus.curves benchmarks/curves [FAMILY...]

Each family is one workload. Its file holds the configurations, the validation loss after each epoch and the seconds of each run;
benchmarks/early_stopping.py plays them again. Nothing is downloaded: digits come with scikit-learn, all else is generated.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from sklearn.datasets import make_classification, make_friedman1, make_moons
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

Configuration = Mapping[str, float]
Curve = Iterator[float]
EXAMPLE = Path(__file__).parents[2] / "examples/digits/train.py"


def grid(**values: tuple[float, ...]) -> list[Configuration]:
    """All combinations."""
    return [dict(zip(values, row, strict=True)) for row in product(*values.values())]


def digits(configuration: Configuration, seed: int) -> Curve:
    """The example of this repository, without its target: every run goes on to its last epoch."""
    train = _example()
    torch.manual_seed(seed)
    job = train.prepare({**configuration, "cpus": 1}, 2.0)
    for _ in range(int(configuration["epochs"])):
        for images, labels in job.batches:
            loss = cross_entropy(job.model(images), labels)
            job.optimizer.zero_grad()
            loss.backward()
            job.optimizer.step()
        yield train.validate(job.model, job.validation)[0]


def _example() -> ModuleType:
    specification = importlib.util.spec_from_file_location("digits_example", EXAMPLE)
    if specification is None or specification.loader is None:
        raise FileNotFoundError(EXAMPLE)
    module = sys.modules.get("digits_example") or importlib.util.module_from_spec(specification)
    if "digits_example" not in sys.modules:
        sys.modules["digits_example"] = module
        specification.loader.exec_module(module)
    return module


def teacher(configuration: Configuration, seed: int) -> Curve:
    """A network learns what another one says, with noise: Adam, mean squared error."""
    inputs = torch.tensor(np.random.default_rng(7).normal(size=(1500, 12)), dtype=torch.float32)
    torch.manual_seed(7)
    truth = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    with torch.no_grad():
        targets = 3 * truth(inputs) + 0.1 * torch.randn(1500, 1)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=configuration["learning_rate"])
    yield from _epochs(model, optimizer, (inputs, targets), configuration, mse_loss, None)


def annealed(configuration: Configuration, seed: int) -> Curve:
    """A classifier whose learning rate falls along a cosine: its loss falls most at the end, where nothing foretold it."""
    points, labels = make_classification(2000, 20, n_informative=10, n_classes=4, flip_y=0.03, class_sep=1.2, random_state=3)
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
    optimizer = torch.optim.SGD(
        model.parameters(), lr=configuration["learning_rate"], momentum=0.9, weight_decay=configuration["weight_decay"]
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, int(configuration["epochs"]))
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, schedule)


def sequences(configuration: Configuration, seed: int) -> Curve:
    """A recurrent network reads bits and says their parity over a window: long plateaus, then a sudden fall."""
    bits = np.random.default_rng(5).integers(0, 2, size=(1200, 10))
    data = torch.tensor(bits, dtype=torch.float32).unsqueeze(2), torch.tensor(bits[:, -3:].sum(1) % 2)
    torch.manual_seed(seed)
    model = _Last(int(configuration["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=configuration["learning_rate"])
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None)


class _Last(nn.Module):
    """A GRU whose last state is read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(1, width, batch_first=True), nn.Linear(width, 2)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.gru(bits)[0][:, -1])
        return scores


def _epochs(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    data: tuple[torch.Tensor, torch.Tensor],
    configuration: Configuration,
    criterion: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    schedule: torch.optim.lr_scheduler.LRScheduler | None,
) -> Curve:
    """Validation losses, by the last fifth of the data."""
    inputs, targets = data
    first = len(inputs) * 4 // 5
    size = int(configuration["batch_size"])
    for _ in range(int(configuration["epochs"])):
        for rows in torch.randperm(first).split(size):
            loss = criterion(model(inputs[rows]), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if schedule:
            schedule.step()
        with torch.no_grad():
            yield float(criterion(model(inputs[first:]), targets[first:]))


def overfitting(configuration: Configuration, seed: int) -> Curve:
    """scikit-learn's network on few noisy points: its validation loss falls and rises again."""
    points, labels = make_moons(600, noise=0.35, random_state=2)
    width = int(configuration["width"])
    model = MLPClassifier(
        (width, width),
        learning_rate_init=configuration["learning_rate"],
        alpha=configuration["weight_decay"],
        batch_size=int(configuration["batch_size"]),
        random_state=seed,
    )
    yield from _partial(model, points[:250], labels[:250], points[250:], labels[250:], int(configuration["epochs"]))


def linear(configuration: Configuration, seed: int) -> Curve:
    """Logistic regression by stochastic gradients."""
    points, labels = make_classification(3000, 60, n_informative=15, flip_y=0.05, random_state=11)
    model = SGDClassifier(
        loss="log_loss",
        learning_rate="invscaling",
        eta0=configuration["learning_rate"],
        power_t=configuration["power"],
        alpha=configuration["weight_decay"],
        random_state=seed,
    )
    yield from _partial(model, points[:2000], labels[:2000], points[2000:], labels[2000:], int(configuration["epochs"]))


def _partial(
    model: MLPClassifier | SGDClassifier, points: object, labels: object, unseen: object, truth: object, epochs: int
) -> Curve:
    for _ in range(epochs):
        model.partial_fit(points, labels, classes=[0, 1])
        yield float(log_loss(truth, model.predict_proba(unseen)))


def boosting(configuration: Configuration, seed: int) -> Curve:
    """Boosted trees: an epoch is four of them."""
    points, values = make_friedman1(1200, noise=1.0, random_state=4)
    model = GradientBoostingRegressor(
        learning_rate=configuration["learning_rate"],
        max_depth=int(configuration["depth"]),
        subsample=configuration["subsample"],
        n_estimators=4,
        warm_start=True,
        random_state=seed,
    )
    for epoch in range(int(configuration["epochs"])):
        model.n_estimators = 4 * (epoch + 1)
        model.fit(points[:900], values[:900])
        yield float(np.mean((model.predict(points[900:]) - values[900:]) ** 2))


def autoencoder(configuration: Configuration, seed: int) -> Curve:
    """Points near a curved surface are squeezed through a few numbers: AdamW with a warm-up."""
    rng = np.random.default_rng(21)
    hidden = rng.normal(size=(1600, 3))
    points = np.tanh(hidden @ rng.normal(size=(3, 24))) + 0.1 * rng.normal(size=(1600, 24))
    inputs = torch.tensor(points, dtype=torch.float32)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, width), nn.Linear(width, 48), nn.GELU(), nn.Linear(48, 24))
    optimizer = torch.optim.AdamW(model.parameters(), lr=configuration["learning_rate"])
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 5)
    yield from _epochs(model, optimizer, (inputs, inputs), configuration, mse_loss, schedule)


def stepped(configuration: Configuration, seed: int) -> Curve:
    """A classifier whose learning rate falls to a tenth twice: its loss falls in steps."""
    points, labels = make_classification(1800, 30, n_informative=12, n_classes=5, flip_y=0.05, random_state=17)
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(30, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=configuration["learning_rate"], momentum=0.9, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [20, 32])
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, schedule)


def copying(configuration: Configuration, seed: int) -> Curve:
    """A recurrent network remembers the first of eight signs: plateaus of other lengths."""
    signs = np.random.default_rng(31).integers(0, 2, size=(1000, 8))
    data = torch.tensor(signs, dtype=torch.float32).unsqueeze(2), torch.tensor(signs[:, 0])
    torch.manual_seed(seed)
    model = _Last(int(configuration["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=configuration["learning_rate"])
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None)


def forest(configuration: Configuration, seed: int) -> Curve:
    """Boosted trees that classify: an epoch is three of them."""
    points, labels = make_classification(1500, 25, n_informative=8, flip_y=0.1, random_state=23)
    model = GradientBoostingClassifier(
        learning_rate=configuration["learning_rate"],
        max_depth=int(configuration["depth"]),
        max_features=configuration["features"],
        n_estimators=3,
        warm_start=True,
        random_state=seed,
    )
    for epoch in range(int(configuration["epochs"])):
        model.n_estimators = 3 * (epoch + 1)
        model.fit(points[:1000], labels[:1000])
        yield float(log_loss(labels[1000:], model.predict_proba(points[1000:])))


Family = tuple[Callable[[Configuration, int], Curve], list[Configuration], int]
FAMILIES: Mapping[str, Family] = {
    "digits": (
        digits,
        grid(batch_size=(16, 32, 64, 128, 256), learning_rate=(0.003, 0.01, 0.03, 0.1, 0.3), num_layers=(1, 2, 3), epochs=(25,)),
        0,
    ),
    "teacher": (
        teacher,
        grid(batch_size=(16, 64, 256), learning_rate=(1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), width=(16, 32, 64, 128), epochs=(30,)),
        0,
    ),
    "digits-again": (
        digits,
        grid(batch_size=(24, 48, 96, 192), learning_rate=(0.002, 0.006, 0.02, 0.06, 0.15), num_layers=(1, 2, 3), epochs=(25,)),
        5000,
    ),
    "annealed": (
        annealed,
        grid(
            batch_size=(16, 64, 256),
            learning_rate=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
            weight_decay=(0, 1e-4, 1e-3, 1e-2),
            epochs=(40,),
        ),
        0,
    ),
    "sequences": (
        sequences,
        grid(batch_size=(16, 32, 64, 128), learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2), width=(4, 8, 16, 32), epochs=(40,)),
        0,
    ),
    "overfitting": (
        overfitting,
        grid(
            batch_size=(8, 32, 128),
            learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
            width=(8, 32, 128),
            weight_decay=(1e-4, 1e-1),
            epochs=(50,),
        ),
        0,
    ),
    "linear": (
        linear,
        grid(
            learning_rate=(1e-3, 1e-2, 0.1, 1.0), power=(0.1, 0.25, 0.5), weight_decay=(1e-5, 1e-4, 1e-3, 1e-2, 0.1), epochs=(40,)
        ),
        0,
    ),
    "boosting": (
        boosting,
        grid(learning_rate=(0.01, 0.03, 0.1, 0.3, 1.0), depth=(1, 2, 3, 4, 6), subsample=(0.3, 0.6, 1.0), epochs=(40,)),
        0,
    ),
    "autoencoder": (
        autoencoder,
        grid(batch_size=(16, 64, 256), learning_rate=(1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), width=(2, 3, 4, 8), epochs=(30,)),
        0,
    ),
    "stepped": (
        stepped,
        grid(batch_size=(16, 32, 128), learning_rate=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3), width=(16, 32, 64, 128), epochs=(40,)),
        0,
    ),
    "copying": (
        copying,
        grid(batch_size=(16, 32, 64, 128), learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2), width=(4, 8, 16), epochs=(40,)),
        0,
    ),
    "forest": (
        forest,
        grid(learning_rate=(0.01, 0.03, 0.1, 0.3, 1.0), depth=(1, 2, 3, 5), features=(0.2, 0.5, 1.0), epochs=(40,)),
        0,
    ),
}
"""What is trained, on which grid, and the first seed."""


def record(name: str) -> dict[str, object]:
    """All runs of a family, in the order of its grid; a loss that is not finite is None, and ends its run."""
    curve, configurations, first_seed = FAMILIES[name]
    runs = []
    for number, configuration in enumerate(configurations):
        begun, losses = time.perf_counter(), list[float | None]()
        for loss in curve(configuration, first_seed + number):
            finite = bool(np.isfinite(loss)) and loss < 1e6
            losses.append(float(f"{loss:.5g}") if finite else None)
            if not finite:
                break
        seconds = time.perf_counter() - begun
        runs.append({"parameters": dict(configuration), "seconds": round(seconds, 3), "val_loss": losses})
    return {"schema_version": 1, "family": name, "what": (curve.__doc__ or "").strip(), "runs": runs}


def main(folder: str, *names: str) -> None:
    torch.set_num_threads(1)
    for name in names or FAMILIES:
        begun = time.perf_counter()
        text = json.dumps(record(name), separators=(",", ":")).replace('{"parameters"', '\n{"parameters"')
        (Path(folder) / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
