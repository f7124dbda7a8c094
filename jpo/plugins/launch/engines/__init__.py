"""The engines that a run may start on. A further one takes a folder here, which describes itself as ENGINE, and its name in
OWN, in the summary of ../__init__.py, in pyproject.toml (its extra, also in dev; then `make lock`), README, docs/guide.md,
install.md, jpo-toml.md and plugins/launch.md (weighing.md, if it has a queue); tests/plugins/launch/test_settings.py names
them all; runlog.py (RANKS, SIZES) finds out how many processes a run has, and docs/codes.md has its reason codes.
settings.py, cli/ and project/ follow from OWN. tests/launches.py is its suite, and tests/test_architecture.py lists who
writes files or starts programs. Or a package of its own names it under GROUP: function(settings, surroundings) -> Launcher."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jpo.plugin import from_package, load

if TYPE_CHECKING:
    from jpo.cost import Instance

OWN = ("local", "slurm", "kubernetes", "aws")
"""JPO's own engines: folders here."""
GROUP = "jpo.engines"
"""Entry points of others' engines."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What is to be known of an engine without importing it.

    Attributes:
        launcher: where function(table, surroundings) -> Launcher is: "package.module:name".
        table: where the model of its table [launch.NAME] is; None: it has none.
        shares_files: with this machine, so that scripts start with the Python of the environment here.
        has_queue: a run may wait for others, and how long can be asked.
        credentials: keys of its table that choose among the credentials of who runs JPO.
        options: keys of its table that become options of a program.
        market: where function(table, surroundings, gpu_type, fresh_seconds) -> (Prices, notes) is; None: its instances have none.
    """

    launcher: str = ""
    table: str | None = None
    shares_files: bool = False
    has_queue: bool = True
    credentials: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    market: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an engine may need of the process that launches.

    Attributes:
        ledger: absolute; the folder with one folder per run.
        clock: unix seconds.
        detached: runs go on when this process ends; else an engine on this machine ends them with it.
        place: of the settings, as messages name it.
        region: of [prices]; None: it names none.
        catalogue: the instances that [prices] names; () where it names none.
    """

    environ: Mapping[str, str]
    ledger: Path
    clock: Callable[[], float]
    detached: bool
    place: str
    region: str | None
    catalogue: "Callable[[], tuple[Instance, ...]]"


def described(name: str) -> Engine:
    """An engine as its folder describes it; another package's shares no files and may have a queue."""
    engine: Engine = load(f"{__name__}.{name}:ENGINE") if name in OWN else Engine()
    return engine


def is_installed(name: object) -> bool:
    """Whether it is one of JPO's engines, or one that another package brings; UsageError JPO-E002 where that is broken."""
    return name in OWN or (isinstance(name, str) and from_package(GROUP, name) is not None)
