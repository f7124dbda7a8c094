"""Are the project's own files in order: jpo.toml, the files of secrets, config.ini?"""

import os
import stat
from collections.abc import Iterator

from jpo.commands.doctor.case import Case
from jpo.errors import EditError, UsageError
from jpo.project.prices import prices_of
from jpo.project.sources import files_of_secrets
from jpo.project.tables.faults import Origin
from jpo.project.workload import judged_today, limits_of
from jpo.report.doctor import Line
from jpo.wording.numbers import counted, plain

MOST_SHOWN = 10
"""Options that are no parameters of which the line tells."""


def settings(case: Case) -> Iterator[Line]:
    """jpo.toml, and the limits which the guard reads from it by itself."""
    limits_of(case.settings)
    ours = {Origin("file", str(case.settings.toml)), Origin("command line"), Origin("built in")}
    others = {*case.settings.origins.values()} - ours
    changed = sorted(map(str, others))
    also = f"; also {', '.join(changed)}" if changed else ""
    yield Line("settings", "ok", f"{case.settings.toml or 'built in, without a jpo.toml'}{also}")


def secrets(case: Case) -> Iterator[Line]:
    """The files that hold secrets: readable by JPO, and by nobody who has no business with them."""
    for name, file in files_of_secrets(case.settings).items():
        try:  # not opened: it may be a pipe that gives its token once
            mode = file.stat().st_mode
            usable = os.access(file, os.R_OK) and not stat.S_ISDIR(mode)
        except (OSError, ValueError):
            mode, usable = 0, False
        if not usable:
            finding = f"{file} is not there or cannot be read"
            yield Line(name, "problem", finding, "check its path and mode", "JPO-E303", UsageError.exit_code)
        elif mode & stat.S_IROTH:
            remedy = f"chmod 600 {file}; where Kubernetes mounts it, defaultMode: 0400"
            yield Line(name, "warning", f"{file} can be read by everybody here", remedy, "JPO-W147")
        else:
            yield Line(name, "ok", f"{file} can be read, and not by everybody")


def config_ini(case: Case) -> Iterator[Line]:
    """The file that JPO edits: its workload, its parameters and today's values."""
    workload = case.workload
    yield Line("config.ini", "ok", f"{case.config}, workload {workload.identity}")
    values = (f"{p.name} {plain(p.value)}{f' ({p.held.text})' if p.held else ''}" for p in workload.parameters)
    yield Line("parameters", "ok", ", ".join(values))
    said = set(workload.identity.labels)
    if others := [f"{key} ({line})" for key, line, _ in workload.others if key.rpartition(".")[2].lower() not in said]:
        more = f" and {len(others) - MOST_SHOWN} more" if len(others) > MOST_SHOWN else ""
        finding = f"{counted(len(others), 'option')} in which JPO sees no parameter, with the line: "
        remedy = "[parameters] of jpo.toml makes one of any"
        yield Line("other options", "ok", f"{finding}{', '.join(others[:MOST_SHOWN])}{more}", remedy)


def limits(case: Case) -> Iterator[Line]:
    """Whether today's values keep to them."""
    judged = judged_today(case.workload, limits_of(case.settings), prices_of(case.settings))
    if judged.broken:
        yield Line("limits", "warning", "; ".join(judged.broken), "change the value, or the limit in jpo.toml", "JPO-W403")
    else:
        yield Line("limits", "ok", f"today's values keep all {judged.rules} rules")


def writable(case: Case) -> Iterator[Line]:
    """Whether config.ini can be replaced."""
    target = case.workload.path.resolve()
    if not (os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)):
        remedy = "make it and its folder writable where JPO should write"
        raise EditError(str(target), "cannot be replaced", remedy, code="JPO-E222")
    yield Line("writable", "ok", "config.ini can be replaced")
