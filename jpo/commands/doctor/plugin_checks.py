"""Plugins: those that cannot be imported, those of others, and the checks that plugins bring along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jpo import plugin
from jpo.commands.doctor.case import Case, Check
from jpo.report.doctor import Line


def plugins(_case: Case) -> Iterator[Line]:
    """Plugins, and checks of theirs, that cannot be imported; then plugins that are not JPO's own."""
    parts = (part for each in plugin.plugins(of_others=True) for part in _checks(each).values())
    for failure in (*plugin.broken(of_others=True), *parts):
        if isinstance(failure, plugin.Broken):
            yield Line("plugins", "warning", str(failure), "install it anew, or remove its package", plugin.CODE)
    if others := [each.name for each in plugin.others() if isinstance(each, plugin.Plugin)]:
        yield Line("plugins", "ok", f"besides JPO's own: {', '.join(others)}")


def checks_under(topic: str) -> Iterator[Check]:
    """The checks of plugins under a topic of the report."""
    parts = (_checks(each).get(topic) for each in plugin.plugins(of_others=True))
    return (part for part in parts if part is not None and not isinstance(part, plugin.Broken))


def _checks(each: plugin.Plugin) -> dict[str, Any]:
    return {topic: plugin.part_of(each, where) for topic, where in each.checks.items()}
