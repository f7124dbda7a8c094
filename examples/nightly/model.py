"""Stands in for a network that trains for hours: it waits as long as the training would take, and learns nothing.

A formula gives times and losses: fixed work per step and work per image, a loss that falls with the epochs and suffers from a
rate that does not fit the batch, chance of a few per cent. Your own script has PyTorch here, or whatever you use.
"""

from __future__ import annotations

import math
import os
import random
import time

IMAGES = 300_000
STEP_SECONDS, IMAGE_SECONDS = 0.06, 0.0026  # of one step on one GPU, and of each image in it
FITTING_RATE = 0.1 / 256  # learning rate per image of a batch


class Network:
    """One training on `gpus` GPUs; chance depends on the run's name alone."""

    def __init__(self, gpus: int) -> None:
        self._gpus = gpus
        self._luck = random.Random(os.environ.get("JPO_RUN_ID"))  # noqa: S311 - no secret
        self._epoch, self._loss = 0, math.inf

    def train(self, batch_size: int, learning_rate: float) -> tuple[float, int]:
        """One epoch: the training loss, and how many images were seen."""
        step_seconds = STEP_SECONDS + IMAGE_SECONDS * batch_size / self._gpus
        time.sleep(IMAGES / batch_size * step_seconds * self._luck.gauss(1.0, 0.02))
        self._epoch += 1
        misfit = math.log(learning_rate / (FITTING_RATE * batch_size))
        self._loss = (0.30 + 1.2 * self._epoch**-0.7 + 0.02 * misfit**2) * self._luck.gauss(1.0, 0.005)
        return 0.9 * self._loss, IMAGES

    def validate(self) -> float:
        """The validation loss."""
        return self._loss * self._luck.gauss(1.0, 0.003)
