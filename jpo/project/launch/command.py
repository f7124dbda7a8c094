"""The command of a run: what was typed, or a script with the values of config.ini where it reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import UsageError
from jpo.project.load import LoadedSettings
from jpo.records import Workload

SCRIPT = ".py"


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a run is started.

    Attributes:
        command: program and arguments; empty: that of [launch] command.
        folder: where it starts; None: beside jpo.toml.
        environment: variables by which the script takes values.
        notes: what must be said of it, sentence -> reason code.
    """

    command: tuple[str, ...]
    folder: Path | None
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


def invocation_of(
    words: Sequence[str],
    workload: Workload,
    settings: LoadedSettings,
    folder: Path,
    environ: Mapping[str, str],
    *,
    engine: str,
) -> Invocation:
    """What the words of a command line start.

    Args:
        words: SCRIPT.py and its arguments, or a command; none: that of [launch] command.
        folder: from which they were typed.
        engine: on which it is to run.

    Raises:
        UsageError: JPO-E773, there is no such script.
    """
    if not words:
        return Invocation((), None)
    if not words[0].endswith(SCRIPT):
        return Invocation(tuple(words), folder)
    script = folder / words[0]
    if not script.is_file():
        raise UsageError(f"{words[0]:.200}", "is no file", "name the script that trains", code="JPO-E773")
    return Invocation((interpreter(environ), str(script), *words[1:]), folder)


def interpreter(environ: Mapping[str, str]) -> str:
    """The Python that scripts are started with: of the environment that is active, else the one that runs JPO."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        python = Path(environ.get(variable, "")) / "bin/python"
        if environ.get(variable) and os.access(python, os.X_OK):
            return str(python)
    return sys.executable
