"""`jpo doctor`: makes all checks of jpo.checkup and says, line by line, what was found and what to do. It writes nothing."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import asdict, replace

from jpo.commands.doctor.checks import CHECKS, Case, Check
from jpo.errors import JpoError
from jpo.report.doctor_text import Line, as_json, exit_code, render
from jpo.version import __version__


def doctor(case: Case, *, form: str, width: int, colour: bool) -> tuple[str, int]:
    """The report and the exit code: 0 without a problem, else what a command would end with that meets the first one."""
    lines: list[Line] = []
    for topic, checks in CHECKS.items():
        for check in checks:
            lines += (replace(line, topic=topic) for line in made(check, case, told={line.finding for line in lines}))
    if form == "json":
        about = {"jpo": __version__, "workload": asdict(case.identity) if case.identity else None}
        return as_json(lines, about), exit_code(lines)
    return render(lines, width=width, colour=colour), exit_code(lines)


def made(check: Check, case: Case, *, told: Container[str]) -> Iterator[Line]:
    """A check's lines; what it runs into is the last of them, unless an earlier check ran into the same."""
    name = check.__name__.replace("config_ini", "config.ini").replace("_", " ")
    try:
        yield from check(case)
    except JpoError as error:
        finding = f"{error.place}: {error.finding}"
        if finding in told:
            yield Line(name, "unknown", "not looked at, because of the problem above")
        else:
            yield Line(name, "problem", finding, error.remedy, error.code, error.exit_code)
    except OSError as error:
        yield Line(name, "unknown", f"{error.filename}: {error.strerror}")
