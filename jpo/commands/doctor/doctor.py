"""`jpo doctor`: makes all checks and says, line by line, what was found and what to do. It writes nothing."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from jpo.commands.doctor.case import Case, Check
from jpo.commands.doctor.checks import CHECKS
from jpo.commands.doctor.plugin_checks import checks_under
from jpo.errors import JpoError
from jpo.report.doctor import Checkup, Line
from jpo.version import __version__


def doctor(case: Case) -> Checkup:
    """The lines of all checks, topic by topic."""
    lines: list[Line] = []
    for topic, checks in CHECKS.items():
        for check in (*checks, *checks_under(topic)):
            lines += (replace(line, topic=topic) for line in made(check, case, known={line.finding for line in lines}))
    return Checkup(tuple(lines), __version__, case.identity)


def made(check: Check, case: Case, *, known: Container[str]) -> Iterator[Line]:
    """A check's lines; what it runs into is the last of them, unless an earlier check ran into the same.

    Args:
        known: the findings of earlier checks.
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
