from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.project.load import LoadedSettings, load

CONFIG = """[workload]
dataset = digits
model = cnn
framework = pytorch
[training]
batch_size = 32  # of all GPUs
learning_rate = 0.1
[resources]
gpus = 2
cpus = 4
"""

Repository = Callable[..., tuple[Path, LoadedSettings]]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """`repository(toml="") -> (config.ini, settings)` in a folder of its own."""

    def made(toml: str = "") -> tuple[Path, LoadedSettings]:
        path = tmp_path / "config.ini"
        path.write_text(CONFIG)
        (tmp_path / "jpo.toml").write_text(toml)
        return path, load(path, None, {}, {})

    return made
