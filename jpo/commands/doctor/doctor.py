"""`jpo doctor`: makes all checks and says, line by line, what was found and what to do. It writes nothing.

A check is a function from a Case (case.py) to lines. What it raises becomes a line of its own.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace

from jpo import plugin
from jpo.commands.doctor.agent import agent, learnt
from jpo.commands.doctor.case import Case, Check
from jpo.commands.doctor.claims import claims
from jpo.commands.doctor.history_store import gpus_at_work, place, record
from jpo.commands.doctor.installed import guard, learning, packages, pipeline, python
from jpo.commands.doctor.own_files import config_ini, limits, secrets, settings, writable
from jpo.commands.doctor.runs import access, csv_logs, prometheus
from jpo.commands.doctor.this_machine import cpus_and_memory, gpus, room
from jpo.errors import JpoError
from jpo.report.doctor import Checkup, Line
from jpo.version import __version__


def doctor(case: Case) -> Checkup:
    """The lines of all checks, topic by topic."""
    lines: list[Line] = []
    for topic, checks in CHECKS.items():
        for check in (*checks, *checks_of_plugins(topic)):
            lines += (replace(line, topic=topic) for line in made(check, case, known={line.finding for line in lines}))
    return Checkup(tuple(lines), __version__, case.identity)


def made(check: Check, case: Case, *, known: Container[str]) -> Iterator[Line]:
    """A check's lines; what it runs into is the last of them, unless an earlier check ran into the same.

    `known`: the findings of earlier checks.
    """
    name = check.__name__.replace("config_ini", "config.ini").replace("_", " ")
    try:
        yield from check(case)
    except JpoError as error:
        finding = f"{error.place}: {error.finding}"
        if finding in known:
            yield Line(name, "unknown", "not looked at, because of the problem above")
        else:
            yield Line(name, "problem", finding, error.remedy, error.code, error.exit_code)
    except OSError as error:
        yield Line(name, "unknown", f"{error.filename}: {error.strerror}")


def plugins(_case: Case) -> Iterator[Line]:
    """Plugins, and checks of theirs, that cannot be imported; then plugins that are not JPO's own."""
    parts = (plugin.part_of(each, where) for each in plugin.plugins(of_others=True) for where in each.checks.values())
    for failure in (*plugin.broken(of_others=True), *parts):
        if isinstance(failure, plugin.Broken):
            yield Line("plugins", "warning", str(failure), "install it anew, or remove its package", plugin.CODE)
    if others := [each.name for each in plugin.from_packages()]:
        yield Line("plugins", "ok", f"in addition to JPO's own: {', '.join(others)}")


def checks_of_plugins(topic: str) -> Iterator[Check]:
    """The checks of plugins under a topic of the report."""
    with_one = (each for each in plugin.plugins(of_others=True) if topic in each.checks)
    parts = (plugin.part_of(each, each.checks[topic]) for each in with_one)
    return (part for part in parts if not isinstance(part, plugin.Broken))


CHECKS: Mapping[str, tuple[Check, ...]] = {
    "Installation": (python, packages, learning, guard, pipeline, plugins),
    "Project": (settings, secrets, config_ini, limits, writable),
    "Machine": (gpus, cpus_and_memory, room),
    "Prometheus": (access, prometheus),
    "CSV logs": (csv_logs,),
    "Store": (place, record, agent, learnt, gpus_at_work),
    "Claims": (claims,),
}
"""The core's checks, by the topics of the report, in its order; those of plugins come after them."""
