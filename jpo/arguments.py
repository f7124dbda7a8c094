"""From words on the command line to values: settings, the config.ini that is meant, NAME=VALUE pairs, finite numbers."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jpo.author import author_of
from jpo.errors import UsageError

if TYPE_CHECKING:
    from jpo.layers import Loaded


def settings(config: Path | None, toml: Path | None, flags: Mapping[str, Any]) -> Loaded:
    """Effective settings, and who asks; flags that were not given do not count."""
    from jpo.layers import load

    given = {
        section: {k: v for k, v in table.items() if v is not None} if isinstance(table, Mapping) else table
        for section, table in flags.items()
        if table is not None
    }
    return replace(load(config, toml, os.environ, given), author=author_of(os.environ))


def config_of(given: Path | None, loaded: Loaded) -> Path:
    """The config.ini that was named, else the one that jpo.toml names."""
    return given or loaded.root / loaded.settings.workload.config


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise UsageError(option, f"{text!r} is not NAME=VALUE", f"write e.g. {option} batch_size=128", code="JPO-E305")
        found[name.strip()] = value.strip()
    return found


def as_number(name: str, text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError("--set", f"{name} = {text!r} is not a finite number", f"write e.g. --set {name}=32", code="JPO-E305")
    return value
