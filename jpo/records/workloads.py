"""Workloads: what a job is and which values it has."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

from jpo.records.notes import Note

PARAMETERS = ("batch_size", "learning_rate", "num_layers", "epochs", "gpus", "cpus", "memory_gib")
"""Names of the parameters which JPO knows, in the order of reports. batch_size is global, over all GPUs.
Others are a team's own."""

WHOLE = frozenset({"batch_size", "num_layers", "epochs", "gpus"})
"""Parameters which are whole numbers."""

TOTAL_OF: Mapping[str, str] = {"batch_size_per_device": "batch_size", "gpus_per_node": "gpus"}
"""A share of a device or node -> what it is a share of."""
COUNTS = ("batch_size_per_device", "gradient_accumulation_steps", "gpus_per_node", "nodes")
"""Quantities in whose terms a config.ini may say batch_size and gpus."""

SMALLEST_VALUE, LARGEST_VALUE = 1e-12, 1e12
"""Of a parameter that is not 0: nothing is trained beyond them, and what is computed from such a value would not stay finite."""

Parameters = Mapping[str, float]
"""A configuration: the value of each parameter, by its name."""

RESOURCES = ("gpus", "cpus", "memory_gib")
"""What is paid by the hour: it changes how fast a model is trained, and not the model."""

SAME = 1e-5
"""Relative: values travel through texts and units (bytes, GiB) before they come back as a run."""


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Parameters in the order of PARAMETERS, then those that JPO gives no meaning, as they come."""
    given = dict.fromkeys(names)
    return (*(name for name in PARAMETERS if name in given), *(name for name in given if name not in PARAMETERS))


def same(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether two configurations agree in all parameters that both name."""
    for name, value in some.items():  # a loop: thousands of runs are looked through in one answer
        other = others.get(name, value)
        if value != other and not math.isclose(value, other, rel_tol=SAME):
            return False
    return True


KEPT_BACK = 0.06
"""Share of CPUs and memory that a sidecar, the node or the runtime may keep (3.9 of 4 CPUs). GB for GiB is more: 7%."""
WHOLE_GIB = 8
"""Memory from which on people report it in whole GiB."""
ROUNDING = 0.005
"""Relative: what a job makes of a value that it was given, and of which it is still the same (39.9 GiB of 40)."""


def as_given(name: str, given: float, reported: float) -> bool:
    """Whether a run that reports this value of a parameter ran with the one it was given. Whole numbers are not rounded; memory
    may be, to whole GiB (32 of 31.7) where that is little, and of memory and CPUs some may be kept back.
    """
    if name == "memory_gib" and reported == round(given) >= WHOLE_GIB:
        return True
    if name in ("cpus", "memory_gib") and given * (1 - KEPT_BACK) <= reported < given:
        return True
    return math.isclose(given, reported, rel_tol=SAME if name in WHOLE else ROUNDING)


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a recurring job: runs of one identity are compared with each other, others are not.

    A job of one name has it in each part. `hardware` is what it runs on, as its team calls it ("a100", "g5.xlarge"). Where nobody
    says (None), all of it counts as one.
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
        named = self.dataset == self.model == self.framework
        job = self.dataset if named else f"{self.dataset}/{self.model}/{self.framework}"
        return f"{job} on {self.hardware}" if self.hardware else job

    @property
    def labels(self) -> dict[str, str]:
        """Its parts by name, without hardware where nobody says it: labels of its metrics, and how documents name it."""
        job = {"dataset": self.dataset, "model": self.model, "framework": self.framework}
        return {**job, "hardware": self.hardware} if self.hardware else job

    def also_called(self, aliases: Mapping[str, Sequence[str]]) -> "tuple[Identity, ...]":
        """The other identities under which its runs are reported, by the further names of its parts."""
        names = [[value, *aliases.get(part, ())] if value else [value] for part, value in asdict(self).items()]
        found = dict.fromkeys(Identity(*parts) for parts in product(*names))
        return tuple(other for other in found if other != self)

    def includes(self, other: "Identity") -> bool:
        """Whether runs of the other are this one's own: of the same job, on any hardware where this one names none."""
        return self == other or (self.hardware is None and other.is_sibling_of(self))

    def is_sibling_of(self, other: "Identity") -> bool:
        """Whether it is the same job on other hardware."""
        return self != other and self == replace(other, hardware=self.hardware)


@dataclass(frozen=True, slots=True)
class Terms:
    """In which terms a config.ini says its batch and its GPUs; JPO's own are the global batch and all GPUs.

    Attributes:
        batch_per_device: it gives the samples of one step on one device: global = that x devices x accumulation steps.
        gpus_per_node: it gives the GPUs of one node: all = that x nodes.
        accumulation_steps: steps whose gradients are added up before the weights change; None: it does not say, so 1.
        nodes: machines that train together; None: it does not say, so 1.
    """

    batch_per_device: bool = False
    gpus_per_node: bool = False
    accumulation_steps: float | None = None
    nodes: float | None = None

    def in_file(self, values: Parameters) -> dict[str, float]:
        """The numbers that the file has to show for these values, by the same names."""
        numbers = dict(values)
        if self.batch_per_device and "batch_size" in values:
            numbers["batch_size"] /= self._passes(values)
        if self.gpus_per_node and "gpus" in values:
            numbers["gpus"] /= self.nodes or 1
        return numbers

    def in_all(self, numbers: Parameters) -> dict[str, float]:
        """The values that the numbers of a file mean: the other way round."""
        values = dict(numbers)
        if self.gpus_per_node and "gpus" in values:
            values["gpus"] *= self.nodes or 1
        if self.batch_per_device and "batch_size" in values:
            values["batch_size"] *= self._passes(values)
        return values

    def in_all_of(self, current: Parameters, chosen: Parameters) -> dict[str, float]:
        """Chosen values in all, of which some are per device or per node (TOTAL_OF); the other term of each is today's."""
        values = dict(chosen)
        if "gpus_per_node" in values:
            values["gpus"] = values.pop("gpus_per_node") * (self.nodes or 1)
        if "batch_size_per_device" in values:
            values["batch_size"] = values.pop("batch_size_per_device") * self._passes({**current, **values})
        return values

    def with_chosen(self, current: Parameters, chosen: Parameters) -> dict[str, float]:
        """Today's values with some chosen: the rest of the file stays, so that a batch per device grows with the GPUs."""
        wanted = self.in_file({**current, **chosen})
        kept = {**self.in_file(current), **{name: wanted[name] for name in chosen if name != "batch_size"}}
        return {**self.in_all(kept), **chosen}

    def _passes(self, values: Parameters) -> float:
        """Samples of a global batch for each sample on a device."""
        return max(values.get("gpus", 1.0), 1.0) * (self.accumulation_steps or 1)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter: one value of config.ini which JPO may change.

    Attributes:
        name: one of PARAMETERS, or a team's own.
        key: `section.option` as written in the file.
        value: the number in JPO's unit (memory in GiB), or a `Word`.
        text: the value's characters in the file, without comment and surrounding blanks.
        line: 1-based line of the value.
        held: why it must not be changed now ("pinned in config.ini", "frozen in jpo.toml"), or None.
        counted: which of COUNTS the text says instead of `name`, and how many; None: it says `value` itself.
        whole: of a team's own: the training code may read it with int().
    """

    name: str
    key: str
    value: float
    text: str
    line: int
    held: Note | None = None
    counted: tuple[str, float] | None = None
    whole: bool = False

    @property
    def term(self) -> str:
        """What the file says: the parameter, or one of COUNTS in its place."""
        return self.counted[0] if self.counted else self.name

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"{self.key} = {self.text!r} is not a finite number")


@dataclass(frozen=True, slots=True)
class Checkout:
    """Checkout of a repository for which a suggestion was made.

    Attributes:
        file: path of config.ini within it, which tells several files of one workload apart.
        branch: of the pipeline; None: outside of one.
        committed: the values of the file, in a pipeline or where others were in force; None: a file that may be kept.
    """

    file: str
    branch: str | None = None
    committed: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """config.ini as the checkout has it, where values in force since an earlier suggestion count in its place.

    Attributes:
        content: its bytes: what is replaced, and what a later difference is a conflict with.
        since: id of the suggestion whose values are in force.
    """

    content: bytes
    parameters: tuple[Parameter, ...]
    since: str

    @property
    def current(self) -> dict[str, float]:
        return {p.name: p.value for p in self.parameters}


@dataclass(frozen=True, slots=True)
class Workload:
    """Workload: a training job as its config.ini describes it at the moment of reading."""

    identity: Identity
    parameters: tuple[Parameter, ...]
    path: Path
    content: bytes
    """The file as it was read, with the values in force where those are not in the checkout."""
    terms: Terms = Terms()
    others: tuple[tuple[str, int, str], ...] = ()
    """Key, line and text of each option in which JPO sees no parameter."""
    committed: Committed | None = None
    """The file in the checkout, where it has not the values in force; None: it has."""
    checkout: Checkout | None = None
    """In which checkout it is; None: nobody asked."""
    aliases: tuple[Identity, ...] = ()
    """Under which further names its runs are reported: they are its own, and stay on record as reported."""

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name, which must be there."""
        return next(p for p in self.parameters if p.name == name)

    @property
    def on_disk(self) -> bytes:
        """The file in the checkout, as it was read; a later difference is a conflict."""
        return self.committed.content if self.committed else self.content

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the file in the checkout."""
        return hashlib.sha256(self.on_disk).hexdigest()

    @property
    def current(self) -> dict[str, float]:
        """The values of today by parameter name, in the order of PARAMETERS, a team's own behind them."""
        return {p.name: p.value for p in self.parameters}


@dataclass(frozen=True, slots=True)
class Edit:
    """Edit of one value in config.ini: its text before and after."""

    key: str
    line: int
    old_text: str
    new_text: str
