"""A reader with a small table of names of its own, so that these tests do without the guard."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo import config
from jpo.records import WHOLE, Workload

NAMES = {
    "batch_size": ("batch_size", "bs"),
    "learning_rate": ("learning_rate", "lr"),
    "cpus": ("cpus",),
    "memory_gib": ("memory", "memory_mb"),
}
IDENTITY_NAMES = {"dataset": ("dataset", "data"), "model": ("model",), "framework": ("framework",)}


def parse_value(name: str, option: str, text: str) -> float | None:
    kind = "whole number" if name in WHOLE else "number"
    if name == "memory_gib":
        if text.endswith("Gi"):
            return float(text[:-2])
        return float(text) * 1e6 / 2**30 if option.endswith("_mb") else None
    try:
        value = float(text)
        if not text.isascii() or (name in WHOLE and value != int(value)):
            raise ValueError(text)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{option} = {text!r} is not a {kind}; write e.g. {option} = 32") from error
    return value


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Workload]:
    """Read a file with these bytes; with None, what is there already."""

    def _read(data: bytes | None, **options: object) -> Workload:
        path = tmp_path / "config.ini"
        if data is not None:
            path.write_bytes(data)
        stated: Mapping[str, dict[str, str]] = options.pop("stated", {})  # type: ignore[assignment]
        keys, identity = options.pop("keys", {}), options.pop("identity", {})
        names = config.OptionNames(NAMES, IDENTITY_NAMES, keys, identity, **stated)  # type: ignore[arg-type]
        given: dict[str, object] = {"parse_value": parse_value, "today": datetime.date(2026, 5, 4)}
        return config.read(path, names=names, **(given | options))  # type: ignore[arg-type]

    return _read
