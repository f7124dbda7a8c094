"""Train a residual network of ResNet-18's size on generated 64-pixel images; JPO reads what `jpo.runlog` writes.

    python train.py config.ini
    python train.py config.ini --fraction 0.1       a trial on a tenth of the training data, for `jpo predict --trials`

Ten kinds of shapes in random places, sizes, turns and colours, on a noisy ground: nothing is downloaded. The images are drawn
from fixed seeds, so that every run trains, validates and tests on the same ones; with JPO_DATA_PATH they are kept in that
folder. With `gpus` above 0 the same script trains on the first GPU, in mixed precision. Exit code: 0 when training ended by
itself, 1 when it diverged, 143 after SIGTERM.
"""

from __future__ import annotations

import argparse
import configparser
import contextlib
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, relu

from jpo.runlog import RunLog

PIXELS, KINDS, DEPTHS = 64, 10, (1, 2, 4, 8)
"""Of an image; kinds of shapes; channels of the four stages in multiples of `width`, as ResNet-18 has them at 64."""
EVALUATED_AT_ONCE = 128


@dataclass(frozen=True)
class Images:
    """Images (n, 3, 64, 64), mean 0 and deviation about 1, with their labels (n,)."""

    pixels: torch.Tensor
    labels: torch.Tensor

    def first(self, share: float) -> Images:
        count = max(1, round(share * len(self.labels)))
        return Images(self.pixels[:count], self.labels[:count])


class Block(nn.Module):
    """Two convolutions and a way around them (He et al., "Deep Residual Learning for Image Recognition", 2016)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        same = inputs == outputs and stride == 1
        self.around = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = relu(self.norms[0](self.first(x)))
        return relu(self.norms[1](self.second(inner)) + self.around(x))


def residual_network(width: int) -> nn.Module:
    """Eight blocks in four stages: ResNet-18 with 11.2 million weights at a width of 64."""
    layers: list[nn.Module] = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for stage, depth in enumerate(DEPTHS):
        layers += [Block(inputs, depth * width, 1 if stage == 0 else 2), Block(depth * width, depth * width, 1)]
        inputs = depth * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, KINDS))


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3, 64, 64) and labels: discs, rings, squares, frames, triangles, crosses, bars, stars, half discs, checks."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : PIXELS * 1j, -1 : 1 : PIXELS * 1j]
    labels = rng.integers(0, KINDS, count)
    images = np.empty((count, 3, PIXELS, PIXELS), dtype=np.float32)
    for number, kind in enumerate(labels):
        size, turn = rng.uniform(0.45, 0.75), rng.uniform(-0.5, 0.5)
        u, v = (x - rng.uniform(-0.3, 0.3)) / size, (y - rng.uniform(-0.3, 0.3)) / size
        u, v = u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)
        r, edge, angle = np.hypot(u, v), np.maximum(abs(u), abs(v)), np.arctan2(v, u)
        shape = (
            *(r < 1, (r < 1) & (r > 0.6), edge < 0.9, (edge < 0.9) & (edge > 0.55)),
            *((v > -0.6) & (v < 1 - 1.7 * abs(u)), (edge < 1) & (np.minimum(abs(u), abs(v)) < 0.25)),
            *((abs(u) < 1) & (abs(v) < 0.3), r < 0.6 + 0.35 * np.cos(5 * angle), (r < 1) & (v > 0), (edge < 0.9) & (u * v > 0)),
        )[kind]
        ground = rng.normal(0, 0.5, (3, 1, 1))
        colour = ground + rng.choice([-1, 1], (3, 1, 1)) * rng.uniform(0.7, 1.5, (3, 1, 1))
        images[number] = np.where(shape, colour, ground) + rng.normal(0, 0.4, (3, PIXELS, PIXELS))
    return images, labels


def load(count: int, seed: int, folder: Path | None) -> Images:
    """The images of this seed; kept in the folder, where one is given."""
    if folder is None:
        images, labels = draw(count, seed)
    else:
        file = folder / f"shapes-{count}-{seed}.npz"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            new = folder / f".{file.stem}-{os.getpid()}.npz"
            np.savez_compressed(new, images=(drawn := draw(count, seed))[0], labels=drawn[1])
            new.replace(file)  # two runs at once: the last one wins, and both are the same
        with np.load(file, allow_pickle=False) as kept:
            images, labels = kept["images"], kept["labels"]
    return Images(torch.from_numpy(images), torch.from_numpy(labels).long())


def main() -> int:
    arguments = parse_arguments()
    config = configparser.ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
    with arguments.config.open(encoding="utf-8") as file:
        config.read_file(file)
    parameters = read_parameters(config)
    data = os.environ.get("JPO_DATA_PATH")
    images = config.getint("data", "images")
    training, validation, test = (
        load(count, seed, Path(data) if data else None) for seed, count in enumerate((images, images // 5, images // 5))
    )
    torch.manual_seed(config.getint("training", "seed", fallback=zlib.crc32(arguments.run_id.encode())))
    model = residual_network(config.getint("model", "width"))
    print(f"{sum(weights.numel() for weights in model.parameters()):,} weights, {images:,} images", flush=True)
    trial = arguments.fraction < 1
    workload = {name: config["workload"][name] for name in ("dataset", "model", "framework")}
    settings = {**os.environ, "JPO_RUN_ID": arguments.run_id, "JPO_RUNLOG_DIR": arguments.log_dir}
    logged = {**parameters, "data_fraction": arguments.fraction if trial else None}
    target = config.getfloat("training", "target_accuracy")
    with RunLog(**workload, parameters=logged, settings=settings) as log:
        status, converged = train(model, training.first(arguments.fraction), validation, log, parameters, target, trial=trial)
        log.end(status, converged=converged)
    _, accuracy = evaluate(model, test, device_of(parameters))
    print(f"{status}, target {'reached' if converged else 'not reached'}; test accuracy {accuracy:.3f}: {log.path}", flush=True)
    return int(status == "diverged")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a residual network on generated images.")
    parser.add_argument("config", type=Path, help="config.ini of the job")
    name = os.environ.get("JPO_RUN_ID") or f"vision-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder = os.environ.get("JPO_RUNLOG_DIR") or "runs"
    parser.add_argument("--run-id", default=name, help="unique name of the run (default: JPO_RUN_ID or the time)")
    parser.add_argument("--log-dir", default=folder, help="where RUN_ID.csv is written (default: JPO_RUNLOG_DIR or runs)")
    parser.add_argument("--fraction", type=float, default=1.0, help="of the training data, above 0, for a trial (default: all)")
    return parser.parse_args()


def read_parameters(config: configparser.ConfigParser) -> dict[str, float]:
    """The parameters that JPO may tune, by its names for them."""
    training, resources = config["training"], config["resources"]
    return {
        "batch_size": int(training["batch_size"]),
        "learning_rate": float(training["learning_rate"]),
        "epochs": int(training["epochs"]),
        "cpus": int(resources["cpus"]),
        "gpus": int(resources["gpus"]),
    }


def device_of(parameters: Mapping[str, float]) -> torch.device:
    """Where it trains; asked for a GPU that is not there, it says so instead of training for a week."""
    if parameters["gpus"] and not torch.cuda.is_available():
        raise SystemExit(f"gpus = {parameters['gpus']}, and there is none here; write gpus = 0")
    return torch.device("cuda" if parameters["gpus"] else "cpu")


def train(
    model: nn.Module,
    training: Images,
    validation: Images,
    log: RunLog,
    parameters: Mapping[str, float],
    target: float,
    *,
    trial: bool,
) -> tuple[str, bool]:
    """SGD with momentum and a cosine schedule until the target, the last epoch or divergence."""
    torch.set_num_threads(max(1, int(parameters["cpus"])))
    device, batch, epochs = device_of(parameters), int(parameters["batch_size"]), int(parameters["epochs"])
    model.to(device)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=parameters["learning_rate"], momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
    for epoch in range(1, epochs + 1):
        model.train()
        losses = []
        for rows in torch.randperm(len(training.labels)).split(batch):
            if len(rows) == 1:
                continue  # batch normalisation needs two
            images, labels = training.pixels[rows].to(device), training.labels[rows].to(device)
            with mixed_precision(device):
                loss = cross_entropy(model(images), labels)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
            log.batch(len(rows))
        schedule.step()
        if trial:
            log.epoch(epoch - 0.5)  # a row before evaluation, which takes as long as in a full run: JPO tells the two apart
        train_loss = sum(losses) / max(1, len(losses))
        val_loss, accuracy = evaluate(model, validation, device)
        log.epoch(epoch, train_loss, val_loss, val_accuracy=accuracy)
        print(f"epoch {epoch:3}  train {train_loss:.4f}  val {val_loss:.4f}  accuracy {accuracy:.3f}", flush=True)
        if not math.isfinite(train_loss + val_loss):
            return "diverged", False
        if accuracy >= target:
            return "succeeded", True
    return "succeeded", False


def mixed_precision(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Half precision where the device is a GPU."""
    return torch.autocast("cuda", torch.float16) if device.type == "cuda" else contextlib.nullcontext()


@torch.no_grad()
def evaluate(model: nn.Module, images: Images, device: torch.device) -> tuple[float, float]:
    """Loss and accuracy on images the model has not been trained on."""
    model.eval()
    parts = zip(images.pixels.split(EVALUATED_AT_ONCE), images.labels.split(EVALUATED_AT_ONCE), strict=True)
    loss, right = 0.0, 0
    for pixels, on_host in parts:
        labels = on_host.to(device)
        with mixed_precision(device):
            scores = model(pixels.to(device))
        loss += cross_entropy(scores.float(), labels, reduction="sum").item()
        right += int((scores.argmax(1) == labels).sum().item())
    return loss / len(images.labels), right / len(images.labels)


if __name__ == "__main__":
    raise SystemExit(main())
