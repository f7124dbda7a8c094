"""Train a small convolutional network on handwritten digits until it is good enough; JPO reads what `jpo.runlog` writes.

    JPO_METRICS_PORT=8000 python train.py config.ini
    python train.py config.ini --fraction 0.1       a trial on a tenth of the training data, for `jpo predict --trials`

The data are the 1,797 digits which scikit-learn brings along; nothing is downloaded. Exit code: 0 when training ended by itself
(the log says whether the target was reached), 1 when it failed or diverged, 143 after SIGTERM.
"""

from __future__ import annotations

import argparse
import configparser
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from jpo.runlog import RunLog

CHANNELS = 64
MOMENTUM = 0.9


@dataclass(frozen=True)
class Job:
    """A training job, ready to start."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    batches: DataLoader[tuple[torch.Tensor, ...]]
    validation: TensorDataset
    epochs: int
    target_accuracy: float
    is_trial: bool


def main() -> int:
    arguments = parse_arguments()
    config = configparser.ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
    with arguments.config.open(encoding="utf-8") as file:
        config.read_file(file)
    parameters = read_parameters(config)
    torch.manual_seed(config.getint("training", "seed", fallback=zlib.crc32(arguments.run_id.encode())))
    job = prepare(parameters, config.getfloat("training", "target_accuracy"), arguments.fraction)
    workload = {name: config["workload"][name] for name in ("dataset", "model", "framework")}
    settings = {**os.environ, "JPO_RUN_ID": arguments.run_id, "JPO_RUNLOG_DIR": arguments.log_dir}
    logged = {**parameters, "data_fraction": arguments.fraction if job.is_trial else None}
    with RunLog(**workload, parameters=logged, settings=settings) as log:
        if log.metrics_url:
            print(f"metrics on {log.metrics_url}", flush=True)
        status, converged = train(job, log)
        log.end(status, converged=converged)
        print(f"{status}, target {'reached' if converged else 'not reached'}: {log.path}", flush=True)
    return int(status == "diverged")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("config", type=Path, help="config.ini of the job")
    name = os.environ.get("JPO_RUN_ID") or f"digits-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder = os.environ.get("JPO_RUNLOG_DIR") or "runs"
    parser.add_argument("--run-id", default=name, help="unique name of the run (default: JPO_RUN_ID or the time)")
    parser.add_argument("--log-dir", default=folder, help="where RUN_ID.csv is written (default: JPO_RUNLOG_DIR or runs)")
    parser.add_argument("--fraction", type=share, default=1.0, help="of the training data, for a trial (default: all)")
    return parser.parse_args()


def share(text: str) -> float:
    """A number above 0 and at most 1; argparse reports the ValueError."""
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


def read_parameters(config: configparser.ConfigParser) -> dict[str, float]:
    """The parameters that JPO may tune, by its names for them."""
    training, resources = config["training"], config["resources"]
    if resources["gpus"] != "0":
        raise SystemExit(f"gpus = {resources['gpus']}, but this example trains on the CPU; write gpus = 0")
    return {
        "batch_size": int(training["batch_size"]),
        "learning_rate": float(training["learning_rate"]),
        "num_layers": int(config["model"]["num_layers"]),
        "epochs": int(training["epochs"]),
        "cpus": int(resources["cpus"]),
        "gpus": 0,
    }


def load_data() -> tuple[TensorDataset, TensorDataset]:
    """Images (n, 1, 8, 8) in 0..1 with their labels: 1,437 to train on, 360 to validate; the same split for every run."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    parts = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    return TensorDataset(parts[0], parts[2]), TensorDataset(parts[1], parts[3])


def build(num_layers: int) -> nn.Module:
    """`num_layers` convolutions, one pooling, one linear layer."""
    layers: list[nn.Module] = []
    for channels in [1, *[CHANNELS] * (num_layers - 1)]:
        layers += [nn.Conv2d(channels, CHANNELS, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(CHANNELS * 4 * 4, 10))


def prepare(parameters: Mapping[str, float], target_accuracy: float, fraction: float = 1.0) -> Job:
    torch.set_num_threads(int(parameters["cpus"]))
    training, validation = load_data()
    training = TensorDataset(*training[: max(1, round(fraction * len(training)))])  # they are in random order
    model = build(int(parameters["num_layers"]))
    optimizer = torch.optim.SGD(model.parameters(), lr=parameters["learning_rate"], momentum=MOMENTUM)
    batches = DataLoader(training, batch_size=int(parameters["batch_size"]), shuffle=True)
    return Job(model, optimizer, batches, validation, int(parameters["epochs"]), target_accuracy, fraction < 1)


def train(job: Job, log: RunLog) -> tuple[str, bool]:
    """Train until the target, the last epoch or divergence. Returns how it ended and whether the target was reached."""
    for epoch in range(1, job.epochs + 1):
        losses = []
        for images, labels in job.batches:
            loss = cross_entropy(job.model(images), labels)
            job.optimizer.zero_grad()
            loss.backward()
            job.optimizer.step()
            losses.append(loss.item())
            log.batch(len(labels))
        if job.is_trial:
            log.epoch(epoch - 0.5)  # a row before evaluation, which takes as long as in a full run: JPO tells the two apart
        train_loss = fmean(losses)
        val_loss, accuracy = validate(job.model, job.validation)
        log.epoch(epoch, train_loss, val_loss)
        print(f"epoch {epoch:3}  train {train_loss:.4f}  val {val_loss:.4f}  accuracy {accuracy:.3f}", flush=True)
        if not math.isfinite(train_loss + val_loss):
            return "diverged", False
        if accuracy >= job.target_accuracy:
            return "succeeded", True
    return "succeeded", False


@torch.no_grad()
def validate(model: nn.Module, validation: TensorDataset) -> tuple[float, float]:
    """Loss and accuracy on data the model has not seen."""
    images, labels = validation.tensors
    scores = model(images)
    return cross_entropy(scores, labels).item(), (scores.argmax(1) == labels).float().mean().item()


if __name__ == "__main__":
    raise SystemExit(main())
