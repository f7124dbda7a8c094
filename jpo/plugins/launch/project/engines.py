"""Engines by the name that `--on` and [launch] on have.

Each is imported when it is used: `jpo suggest` starts without them.
"""

import os
import time
from collections.abc import Mapping
from functools import partial

from jpo.cost import Prices
from jpo.errors import LaunchError
from jpo.plugin import from_package, load
from jpo.plugins.launch.engines import GROUP, OWN, Surroundings, described
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.settings import launch_table, table_of
from jpo.project.load import LoadedSettings
from jpo.project.prices import catalogue_of
from jpo.records import Note


def engine_named(settings: LoadedSettings, on: str | None) -> str:
    """The name of the engine that is meant: `on`, else what [launch] on says."""
    return on or launch_table(settings).on


def launcher_of(
    settings: LoadedSettings, on: str | None = None, *, environ: Mapping[str, str], detached: bool = False
) -> Launcher:
    """The engine that is meant.

    Args:
        on: its name; None: as [launch] on says.
        environ: of this process; engines read from it what their own clients would (KUBECONFIG, AWS_PROFILE).
        detached: runs go on when this process ends.

    Raises:
        LaunchError: JPO-E753, the engine cannot be used as it is set up, or is not installed.
        UsageError: JPO-E002, it is another package's, which is broken.
    """
    name, here = engine_named(settings, on), surroundings_of(settings, environ, detached=detached)
    if name in OWN:
        own: Launcher = load(described(name).launcher)(table_of(settings, name), here)
        return own
    made = from_package(GROUP, name)
    if made is None:
        raise LaunchError(f"engine {name}", "is not installed here", f"known are {', '.join(OWN)}", code="JPO-E753")
    others: Launcher = made(settings, here)
    return others


def market_of(settings: LoadedSettings, fresh_seconds: float | None = None) -> tuple[Prices, tuple[Note, ...]] | None:
    """Prices of the instances that the engine of [launch] would rent, and what must be said of them; None: it rents none.

    `fresh_seconds`: prices that are older are read anew; None: nobody is asked.
    """
    name = engine_named(settings, None)
    if name not in OWN or (market := described(name).market) is None:
        return None
    here = surroundings_of(settings, os.environ)
    made: tuple[Prices, tuple[Note, ...]] = load(market)(
        table_of(settings, name), here, settings.values.prices.gpu_type, fresh_seconds
    )
    return made


def surroundings_of(settings: LoadedSettings, environ: Mapping[str, str], *, detached: bool = False) -> Surroundings:
    region, catalogue = settings.values.prices.region, partial(catalogue_of, settings)
    return Surroundings(environ, ledger_of(settings), time.time, detached, settings.place, region, catalogue)
