"""Plugins: those that cannot be imported, those of others, and the checks that plugins bring along."""

from __future__ import annotations

from collections.abc import Iterator

from jpo import plugin
from jpo.commands.doctor.case import Case, Check
from jpo.report.doctor import Line


def plugins(_case: Case) -> Iterator[Line]:
    """Plugins, and checks of theirs, that cannot be imported; then plugins that are not JPO's own."""
    parts = (plugin.part_of(each, where) for each in plugin.plugins(of_others=True) for where in each.checks.values())
    for failure in (*plugin.broken(of_others=True), *parts):
        if isinstance(failure, plugin.Broken):
            yield Line("plugins", "warning", str(failure), "install it anew, or remove its package", plugin.CODE)
    if others := [each.name for each in plugin.of_packages()]:
        yield Line("plugins", "ok", f"besides JPO's own: {', '.join(others)}")


def checks_under(topic: str) -> Iterator[Check]:
    """The checks of plugins under a topic of the report."""
    with_one = (each for each in plugin.plugins(of_others=True) if topic in each.checks)
    parts = (plugin.part_of(each, each.checks[topic]) for each in with_one)
    return (part for part in parts if not isinstance(part, plugin.Broken))
