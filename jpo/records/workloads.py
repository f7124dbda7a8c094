"""Workloads: what a job is and which values it has."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

PARAMETERS = ("batch_size", "learning_rate", "num_layers", "epochs", "gpus", "cpus", "memory_gib")
"""Names of all parameters which JPO can tune, in the order of reports. batch_size is global, over all GPUs."""

WHOLE = frozenset({"batch_size", "num_layers", "epochs", "gpus"})
"""Parameters which are whole numbers."""

SMALLEST_VALUE, LARGEST_VALUE = 1e-12, 1e12
"""Of a parameter that is not 0: nothing is trained beyond them, and what is computed from such a value would not stay finite."""

Parameters = Mapping[str, float]
"""A configuration: the value of each parameter, by its name."""

RESOURCES = ("gpus", "cpus", "memory_gib")
"""What is paid by the hour: it changes how fast a model is trained, and not the model."""

SAME = 1e-6
"""Relative: values travel through texts and units (bytes, GiB) before they come back as a run."""


def same(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether two configurations agree in all parameters that both name."""
    for name, value in some.items():  # a loop: thousands of runs are looked through in one answer
        other = others.get(name, value)
        if value != other and not math.isclose(value, other, rel_tol=SAME):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a recurring job: runs of one identity are compared with each other, others are not.

    `hardware` is what it runs on, as its team calls it ("a100", "g5.xlarge"). Where nobody says (None), all of it counts as one.
    """

    dataset: str
    model: str
    framework: str
    hardware: str | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "model", "framework"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty; every workload has a dataset, a model and a framework")
        if self.hardware is not None and not self.hardware.strip():
            raise ValueError("hardware is empty; leave it out where it is not known")

    def __str__(self) -> str:
        job = f"{self.dataset}/{self.model}/{self.framework}"
        return f"{job} on {self.hardware}" if self.hardware else job

    @property
    def labels(self) -> dict[str, str]:
        """Its parts by name, without hardware where nobody says it: labels of its metrics, and how documents name it."""
        job = {"dataset": self.dataset, "model": self.model, "framework": self.framework}
        return {**job, "hardware": self.hardware} if self.hardware else job

    def includes(self, other: Identity) -> bool:
        """Whether runs of the other are this one's own: of the same job, on any hardware where this one names none."""
        return self == other or (self.hardware is None and other.is_sibling_of(self))

    def is_sibling_of(self, other: Identity) -> bool:
        """Whether it is the same job on other hardware."""
        return self != other and self == replace(other, hardware=self.hardware)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter: one value of config.ini which JPO may change.

    Attributes:
        name: one of PARAMETERS.
        key: `section.option` as written in the file.
        value: the number in JPO's unit (memory in GiB).
        text: the value's characters in the file, without comment and surrounding blanks.
        line: 1-based line of the value.
        held: why it must not be changed now ("pinned in config.ini", "frozen in jpo.toml"), or None.
    """

    name: str
    key: str
    value: float
    text: str
    line: int
    held: str | None = None

    def __post_init__(self) -> None:
        if self.name not in PARAMETERS:
            raise ValueError(f"{self.name!r} is not a parameter; known are {', '.join(PARAMETERS)}")
        if not math.isfinite(self.value):
            raise ValueError(f"{self.key} = {self.text!r} is not a finite number")


@dataclass(frozen=True, slots=True)
class Workload:
    """Workload: a training job as its config.ini describes it at the moment of reading."""

    identity: Identity
    parameters: tuple[Parameter, ...]
    path: Path
    content: bytes
    """The file as it was read; a later difference is a conflict."""

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name, which must be there."""
        return next(p for p in self.parameters if p.name == name)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the file as it was read."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def current(self) -> dict[str, float]:
        """The values of today by parameter name, in the order of PARAMETERS."""
        return {p.name: p.value for p in self.parameters}


@dataclass(frozen=True, slots=True)
class Edit:
    """Edit of one value in config.ini: its text before and after."""

    key: str
    line: int
    old_text: str
    new_text: str
