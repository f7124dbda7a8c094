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
from sklearn.datasets import make_classification, make_friedman1, make_friedman2, make_hastie_10_2, make_moons
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
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
    *,
    passes: int = 1,
) -> Curve:
    """Validation losses, by the last fifth of the data. `passes`: over the others, in each epoch."""
    inputs, targets = data
    first = len(inputs) * 4 // 5
    size = int(configuration["batch_size"])
    for _ in range(int(configuration["epochs"])):
        for rows in (rows for _ in range(passes) for rows in torch.randperm(first).split(size)):
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


def parity(configuration: Configuration, seed: int) -> Curve:
    """A network finds three of fourteen bits of which it has to say the parity: nothing for long, then all of it."""
    bits = np.random.default_rng(41).integers(0, 2, size=(3000, 14))
    data = torch.tensor(2.0 * bits - 1, dtype=torch.float32), torch.tensor(bits[:, :3].sum(1) % 2)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(14, width), nn.ReLU(), nn.Linear(width, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=configuration["learning_rate"], momentum=0.9)
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None)


def staircase(configuration: Configuration, seed: int) -> Curve:
    """A deep linear network that begins near 0 learns one direction after the other: several plateaus."""
    rng = np.random.default_rng(43)
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    points = rng.normal(size=(1200, 10))
    targets = points @ (turn * (8, 4, 2, 1, 0.5, 0, 0, 0, 0, 0)) + 0.1 * rng.normal(size=(1200, 10))
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)
    torch.manual_seed(seed)
    layers = [nn.Linear(10, 10, bias=False) for _ in range(int(configuration["num_layers"]))]
    for layer in layers:
        nn.init.normal_(layer.weight, std=configuration["spread"])
    model = nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=configuration["learning_rate"])
    yield from _epochs(model, optimizer, data, configuration, mse_loss, None)


def grokking(configuration: Configuration, seed: int) -> Curve:
    """Sums modulo 23: the points that were seen are learnt by heart, the rest is understood much later, or never."""
    pairs = np.array([(a, b) for a in range(23) for b in range(23)])
    rng = np.random.default_rng(47)
    rng.shuffle(pairs)
    data = torch.tensor(pairs), torch.tensor(pairs.sum(1) % 23)
    torch.manual_seed(seed)
    model = _Sum(int(configuration["width"]))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=configuration["learning_rate"], weight_decay=configuration["weight_decay"], betas=(0.9, 0.98)
    )
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None, passes=8)


class _Sum(nn.Module):
    """Two numbers, embedded alike, and a hidden layer over both."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.numbers, self.hidden, self.head = nn.Embedding(23, width), nn.Linear(width, 2 * width), nn.Linear(2 * width, 23)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(torch.relu(self.hidden(self.numbers(pairs).sum(1))))
        return scores


def descending(configuration: Configuration, seed: int) -> Curve:
    """Wide networks on few points with wrong labels: the loss falls, rises, and may fall again."""
    points, labels = make_classification(700, 20, n_informative=8, n_classes=3, class_sep=1.5, flip_y=0.15, random_state=53)
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=configuration["learning_rate"], weight_decay=configuration["weight_decay"]
    )
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None, passes=3)


def one_cycle(configuration: Configuration, seed: int) -> Curve:
    """A classifier whose learning rate rises for a third of its epochs, and then falls to nothing."""
    points, labels = make_classification(2000, 24, n_informative=12, n_classes=6, flip_y=0.04, class_sep=1.3, random_state=59)
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(24, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 6))
    optimizer = torch.optim.AdamW(model.parameters(), lr=configuration["learning_rate"])
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, configuration["learning_rate"], int(configuration["epochs"]), 1)
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, schedule)


def restarted(configuration: Configuration, seed: int) -> Curve:
    """A cosine that begins anew twice: the loss rises at each beginning."""
    points, values = make_friedman1(1500, n_features=12, noise=1.0, random_state=61)
    scaled = (values - values.mean()) / values.std()
    data = torch.tensor(points, dtype=torch.float32), torch.tensor(scaled, dtype=torch.float32).unsqueeze(1)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(12, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=configuration["learning_rate"], momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 12)
    yield from _epochs(model, optimizer, data, configuration, mse_loss, schedule)


def few_judges(configuration: Configuration, seed: int) -> Curve:
    """A classifier that is judged by forty points, others after each epoch: most of the differences are luck."""
    points, labels = make_classification(2500, 20, n_informative=9, n_classes=3, flip_y=0.08, random_state=67)
    inputs, targets = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(20, int(configuration["width"])), nn.ReLU(), nn.Linear(int(configuration["width"]), 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=configuration["learning_rate"])
    judges = np.random.default_rng(seed)
    training = {**configuration, "epochs": 1}
    for _ in range(int(configuration["epochs"])):
        for _ in _epochs(model, optimizer, (inputs[:2000], targets[:2000]), training, cross_entropy, None):
            rows = judges.integers(2000, 2500, size=40)
            with torch.no_grad():
                yield float(cross_entropy(model(inputs[rows]), targets[rows]))


def nearest(configuration: Configuration, seed: int) -> Curve:
    """Bags of deep trees, two more each epoch: every run gets better as slowly as all others."""
    points, values = make_friedman1(900, n_features=10, noise=2.0, random_state=71)
    model = RandomForestRegressor(
        n_estimators=2,
        max_depth=int(configuration["depth"]),
        max_features=configuration["features"],
        min_samples_leaf=int(configuration["leaf"]),
        warm_start=True,
        random_state=seed,
    )
    for epoch in range(int(configuration["epochs"])):
        model.n_estimators = 2 * (epoch + 1)
        model.fit(points[:600], values[:600])
        yield float(np.mean((model.predict(points[600:]) - values[600:]) ** 2))


def products(configuration: Configuration, seed: int) -> Curve:
    """Products modulo 19, one number in each row of lights: learnt by heart first, understood later or never."""
    pairs = np.array([(a, b) for a in range(1, 19) for b in range(1, 19)])
    np.random.default_rng(73).shuffle(pairs)
    lights = np.concatenate([np.eye(19)[pairs[:, 0]], np.eye(19)[pairs[:, 1]]], axis=1)
    data = torch.tensor(lights, dtype=torch.float32), torch.tensor(pairs.prod(1) % 19)
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(38, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 19))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=configuration["learning_rate"], weight_decay=configuration["weight_decay"]
    )
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None, passes=10)


def tanh_parity(configuration: Configuration, seed: int) -> Curve:
    """The parity of two of twenty bits, by Adam with decay: plateaus that end early, late or never."""
    bits = 2.0 * np.random.default_rng(83).integers(0, 2, size=(1500, 20)) - 1
    data = torch.tensor(bits, dtype=torch.float32), torch.tensor((bits[:, 3] * bits[:, 11] > 0).astype(np.int64))
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(20, width), nn.Tanh(), nn.Linear(width, 2))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=configuration["learning_rate"], weight_decay=configuration["weight_decay"]
    )
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, None)


def hundred(configuration: Configuration, seed: int) -> Curve:
    """A classifier with dropout that is judged by the same hundred points each time; its rate warms up, then falls in a line."""
    points, labels = make_classification(1600, 25, n_informative=10, n_classes=4, flip_y=0.06, random_state=89)
    inputs, targets = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    torch.manual_seed(seed)
    width, epochs = int(configuration["width"]), int(configuration["epochs"])
    model = nn.Sequential(nn.Linear(25, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=configuration["learning_rate"])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min((epoch + 1) / 5, (epochs - epoch) / (epochs - 4)))
    for _ in range(epochs):
        once = {**configuration, "epochs": 1}
        model.train()
        for _ in _epochs(model, optimizer, (inputs[:1500], targets[:1500]), once, cross_entropy, None):
            model.eval()
            with torch.no_grad():
                yield float(cross_entropy(model(inputs[1500:]), targets[1500:]))
        schedule.step()


def dropped(configuration: Configuration, seed: int) -> Curve:
    """Large steps with momentum, whose rate falls to a twentieth when seven tenths are done: who was rough gains most."""
    points, labels = make_hastie_10_2(1800, random_state=97)
    data = torch.tensor(points, dtype=torch.float32), torch.tensor((labels > 0).astype(np.int64))
    torch.manual_seed(seed)
    width = int(configuration["width"])
    model = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
    optimizer = torch.optim.SGD(
        model.parameters(), lr=configuration["learning_rate"], momentum=0.9, weight_decay=configuration["weight_decay"]
    )
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [28], 0.05)
    yield from _epochs(model, optimizer, data, configuration, cross_entropy, schedule)


def histograms(configuration: Configuration, seed: int) -> Curve:
    """Boosted trees over histograms: an epoch is three of them."""
    points, values = make_friedman2(1500, noise=60.0, random_state=101)
    model = HistGradientBoostingRegressor(
        learning_rate=configuration["learning_rate"],
        max_leaf_nodes=int(configuration["leaves"]),
        l2_regularization=configuration["decay"],
        max_iter=3,
        early_stopping=False,
        warm_start=True,
        random_state=seed,
    )
    for epoch in range(int(configuration["epochs"])):
        model.max_iter = 3 * (epoch + 1)
        model.fit(points[:1000], values[:1000])
        yield float(np.mean((model.predict(points[1000:]) - values[1000:]) ** 2))


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
    "parity": (
        parity,
        grid(batch_size=(16, 64, 256), learning_rate=(0.003, 0.01, 0.03, 0.1, 0.3), width=(16, 32, 64, 128), epochs=(40,)),
        0,
    ),
    "staircase": (
        staircase,
        grid(
            batch_size=(32, 128), learning_rate=(0.001, 0.003, 0.01, 0.03), num_layers=(2, 3, 4), spread=(0.1, 0.2), epochs=(40,)
        ),
        0,
    ),
    "grokking": (
        grokking,
        grid(
            batch_size=(64, 256),
            learning_rate=(1e-3, 3e-3, 1e-2),
            weight_decay=(0.01, 0.3, 1.0, 3.0),
            width=(32, 96),
            epochs=(50,),
        ),
        0,
    ),
    "descending": (
        descending,
        grid(
            batch_size=(16, 64, 256),
            learning_rate=(3e-4, 1e-3, 3e-3, 1e-2),
            weight_decay=(0, 0.1, 1.0),
            width=(8, 128),
            epochs=(40,),
        ),
        0,
    ),
    "one-cycle": (
        one_cycle,
        grid(batch_size=(16, 64, 256), learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1), width=(16, 32, 64), epochs=(30,)),
        0,
    ),
    "restarted": (
        restarted,
        grid(batch_size=(16, 64, 256), learning_rate=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3), width=(8, 16, 32), epochs=(36,)),
        0,
    ),
    "few-judges": (
        few_judges,
        grid(batch_size=(32, 128), learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1), width=(4, 8, 16, 32), epochs=(30,)),
        0,
    ),
    "nearest": (nearest, grid(depth=(3, 5, 8, 16), features=(0.2, 0.4, 0.7, 1.0), leaf=(1, 3, 10), epochs=(30,)), 0),
    "products": (
        products,
        grid(
            batch_size=(32, 128),
            learning_rate=(1e-3, 3e-3, 1e-2),
            weight_decay=(0.01, 0.3, 1.0, 3.0),
            width=(48, 128),
            epochs=(50,),
        ),
        0,
    ),
    "tanh-parity": (
        tanh_parity,
        grid(
            batch_size=(16, 64, 256),
            learning_rate=(1e-3, 3e-3, 1e-2, 3e-2),
            weight_decay=(0.01, 0.3),
            width=(16, 64),
            epochs=(45,),
        ),
        0,
    ),
    "hundred": (
        hundred,
        grid(batch_size=(16, 64, 256), learning_rate=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2), width=(16, 32, 64, 128), epochs=(30,)),
        0,
    ),
    "dropped": (
        dropped,
        grid(
            batch_size=(16, 64, 256),
            learning_rate=(0.003, 0.01, 0.03, 0.1, 0.3),
            weight_decay=(1e-4, 3e-3),
            width=(16, 64),
            epochs=(40,),
        ),
        0,
    ),
    "histograms": (
        histograms,
        grid(learning_rate=(0.01, 0.03, 0.1, 0.3, 0.6), leaves=(3, 6, 12, 31), decay=(0.0, 10.0, 100.0), epochs=(25,)),
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
