"""The seam: what a plugin adds to JPO, and how plugins are found. The core imports none of them by name.

A plugin says where its parts are, "package.module:name", so that describing it costs nothing; each is imported when it is used.
JPO's own stand in OWN. Those of others name themselves under the entry point group `jpo.plugins`, which is read for an unknown
command, for `--help`, `jpo doctor` and `jpo config`, and where jpo.toml has a [plugins.NAME]: else a start would wait for it.
Engines of `jpo run --on NAME` and formats of `jpo import --format NAME` have entry point groups of their own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any

from jpo.errors import UsageError

GROUP = "jpo.plugins"
CODE = "JPO-W002"
"""Reason code of a plugin that cannot be imported."""
OWN = ("launch", "ci", "imports", "page", "phases", "cluster", "lab", "estimates")
"""JPO's own plugins, in the order of the help: folders of jpo/plugins, each with a PLUGIN."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """What one plugin adds; every part is optional.

    Attributes:
        summary: what its commands are for, in the help.
        commands: name of a command -> its click command.
        settings: table of jpo.toml -> its pydantic model. Of others' plugins the table is [plugins.NAME].
        checks: topic of `jpo doctor` -> function(case) -> lines of its report.
        sources: function(settings, store, *, now, keep) -> `Finished`: runs that ended since, now on record.
        context: function(known, job) -> known, with what the plugin knows of the next run.
        past_context: function(known, job) -> known, with what `context` would have said after each past run, to learn from.
        queue: function(workload, settings) -> `jpo.project.plugins.hooks.Queue`: how long runs would wait before they start.
        events: function(settings, run_ids) -> `RunEvent`s of these runs, for `jpo history`.
        offers: name -> function that other plugins may ask for by that name (`offered`), since they do not import each other, or
            the core: "estimates": function(workload, settings) -> function(values) -> `FirstRun`; "market": function(settings,
            fresh_seconds) -> prices of instances with notes, or None; "model facts": function(workload, settings) -> numbers.
    """

    name: str
    summary: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    sources: str | None = None
    context: str | None = None
    past_context: str | None = None
    queue: str | None = None
    events: str | None = None
    offers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """A plugin, or a part of one, that cannot be imported; everything else works."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"plugin {self.name} cannot be imported ({self.why}); everything else works"


@cache
def own() -> tuple[Plugin | Broken, ...]:
    """JPO's own plugins."""
    return tuple(_imported(name, partial(load, f"jpo.plugins.{name}:PLUGIN")) for name in OWN)


@cache
def others() -> tuple[Plugin | Broken, ...]:
    """Plugins of others that are installed here, by name."""
    from importlib.metadata import entry_points  # here: it takes a fifth of a start

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(_imported(point.name, point.load) for point in points)


def plugins(*, of_others: bool = False) -> Iterator[Plugin]:
    """The plugins that can be imported: JPO's own, and those of others where they are asked for."""
    return (each for each in (*own(), *(others() if of_others else ())) if isinstance(each, Plugin))


def from_packages() -> Iterator[Plugin]:
    """Those plugins of others that can be imported."""
    return (each for each in others() if isinstance(each, Plugin))


def broken(*, of_others: bool = False) -> Iterator[Broken]:
    """The plugins that cannot be imported."""
    return (each for each in (*own(), *(others() if of_others else ())) if isinstance(each, Broken))


def load(where: str) -> Any:
    """What is at "package.module:name"."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def part_of(plugin: Plugin, where: str) -> Any | Broken:
    """A part of a plugin, or why it cannot be imported."""
    return _imported(plugin.name, partial(load, where))


def offered(name: str) -> Any | None:
    """What one of JPO's plugins does for others; None where no plugin offers it."""
    return next((load(plugin.offers[name]) for plugin in plugins() if name in plugin.offers), None)


def from_package(group: str, name: str) -> Any | None:
    """What another package offers under an entry point, e.g. `jpo.engines`; None where none has the name.

    Raises UsageError: JPO-E002, it cannot be imported.
    """
    from importlib.metadata import entry_points

    point = next(iter(entry_points(group=group, name=name)), None)
    found = None if point is None else _imported(name, point.load)
    if isinstance(found, Broken):
        raise UsageError(f"{group} {name}", f"cannot be imported ({found.why})", "install its package anew", code="JPO-E002")
    return found


def _imported(name: str, loaded: Callable[[], Any]) -> Any | Broken:
    """What was loaded, or why it was not: code of others may raise anything while it is imported."""
    try:
        return loaded()
    except Exception as error:  # noqa: BLE001 - a broken plugin must not keep JPO from working
        return Broken(name, f"{type(error).__name__}: {error}".split("\n")[0][:200])
