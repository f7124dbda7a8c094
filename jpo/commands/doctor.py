"""`jpo doctor`: looks at everything that JPO needs and says, line by line, what it found and what to do. It writes nothing.

A check is a function from a Case to lines. One that fails is a line itself, and never keeps the others from being made.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import constraints
from jpo import __version__, telemetry
from jpo.author import author_of
from jpo.errors import EditError, JpoError, NothingAdmissible, StoreError, UsageError
from jpo.evidence import limits_in, limits_of, workload_of
from jpo.history import Store, verify
from jpo.layers import Loaded
from jpo.opening import store_of
from jpo.records import Identity, Workload
from jpo.report.doctor_text import Line, as_json, exit_code, render
from jpo.report.numbers import plain
from jpo.sources import names_of, prometheus_of
from jpo.telemetry.near import span
from jpo.telemetry.probes import examine

PACKAGES = ("click", "configupdater", "numpy", "prometheus-api-client", "pydantic", "rich", "safetensors")
WORKSPACES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE")
"""Variables that name the folder which a pipeline throws away with its job: GitHub, GitLab, Jenkins."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Case:
    """What is looked at. Settings, workload and store are read when first asked for, and raise what is wrong with them."""

    given: Path | None
    load: Callable[[], Loaded]
    environ: Mapping[str, str]
    now: float
    offline: bool

    @cached_property
    def loaded(self) -> Loaded:
        return self.load()

    @property
    def config(self) -> Path:
        return self.given or self.loaded.root / self.loaded.settings.workload.config

    @cached_property
    def workload(self) -> Workload:
        return workload_of(self.config, self.loaded, now=self.now)

    @property
    def identity(self) -> Identity | None:
        """None while config.ini is invalid, which is told by a check of its own."""
        try:
            return self.workload.identity
        except JpoError:
            return None


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


def python(_case: Case) -> Iterator[Line]:
    """Which Python this is."""
    yield Line("python", "ok", f"{'.'.join(map(str, sys.version_info[:3]))} in {sys.prefix}, jpo {__version__}")


def packages(_case: Case) -> Iterator[Line]:
    """The packages that JPO needs."""
    found = {name: version_of(name) for name in PACKAGES}
    if missing := [name for name, version in found.items() if version is None]:
        raise UsageError("Python", f"{', '.join(missing)} not installed", "pip install jpo", code="JPO-E140")
    yield Line("packages", "ok", ", ".join(f"{name} {version}" for name, version in found.items()))


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def learning(_case: Case) -> Iterator[Line]:
    """torch, without loading it."""
    if torch := version_of("torch"):
        yield Line("learning", "ok", f"torch {torch}")
    else:
        finding = "torch is not installed: JPO suggests, and learns nothing new"
        yield Line("learning", "ok", finding, 'pip install "jpo[learn]" where it shall learn', "JPO-I140")


def guard(_case: Case) -> Iterator[Line]:
    """Another project is imported as `constraints` too; with that one the command line refuses to start at all."""
    yield Line("guard", "ok", f"constraints is JPO's own, {Path(constraints.__file__).parent}")


def pipeline(case: Case) -> Iterator[Line]:
    """Where JPO runs."""
    author = author_of(case.environ)
    where = ", ".join(author[key] for key in ("repository", "pipeline", "job") if key in author)
    if author["where"] == "local":
        yield Line("pipeline", "ok", "none: started by hand")
    else:
        yield Line("pipeline", "ok", f"{author['where']}{f': {where}' if where else ''}")


def settings(case: Case) -> Iterator[Line]:
    """jpo.toml, and the limits which the guard reads from it by itself."""
    limits_in(case.loaded)
    changed = sorted(set(case.loaded.origins.values()) - {str(case.loaded.toml), "command line"})
    also = f"; also {', '.join(changed)}" if changed else ""
    yield Line("settings", "ok", f"{case.loaded.toml or 'built in, without a jpo.toml'}{also}")


def secrets(case: Case) -> Iterator[Line]:
    """The files that hold secrets: readable by JPO, and by nobody who has no business with them."""
    table = case.loaded.settings.prometheus
    given = {"token_file": table.auth.token_file, "password_file": table.auth.password_file, "key_file": table.key_file}
    for name, file in ((name, case.loaded.root / file) for name, file in given.items() if file):
        if not os.access(file, os.R_OK) or file.is_dir():  # not opened: it may be a pipe that gives its token once
            finding = f"{file} is not there or cannot be read"
            yield Line(name, "problem", finding, "check its path and mode", "JPO-E303", UsageError.exit_code)
        elif file.stat().st_mode & stat.S_IROTH:
            yield Line(name, "warning", f"{file} can be read by everybody here", f"chmod 600 {file}", "JPO-W147")
        else:
            yield Line(name, "ok", f"{file} can be read, and not by everybody")


def config_ini(case: Case) -> Iterator[Line]:
    """The file that JPO edits: its workload, its parameters and today's values."""
    workload = case.workload
    yield Line("config.ini", "ok", f"{case.config}, workload {workload.identity}")
    values = ", ".join(f"{one.name} {plain(one.value)}{f' ({one.held})' if one.held else ''}" for one in workload.parameters)
    yield Line("parameters", "ok", values)


def limits(case: Case) -> Iterator[Line]:
    """Whether today's values keep to them."""
    verdict = constraints.check(case.workload.current, case.workload.current, limits_of(case.workload, case.loaded))
    if broken := [violation.message for violation in (*verdict.violations, *verdict.notices)]:
        remedy = "change the value, or the limit in jpo.toml"
        raise NothingAdmissible(str(case.config), "; ".join(broken), remedy, code="JPO-E403")
    yield Line("limits", "ok", f"today's values keep all {verdict.rules} rules")


def writable(case: Case) -> Iterator[Line]:
    """Whether config.ini can be replaced."""
    target = case.workload.path.resolve()
    if not (os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)):
        raise EditError(
            str(target), "cannot be replaced", "make it and its folder writable where JPO shall write", code="JPO-E222"
        )
    yield Line("writable", "ok", "config.ini can be replaced")


def access(case: Case) -> Iterator[Line]:
    """How Prometheus is asked, and whether others could listen or answer in its place."""
    table = case.loaded.settings.prometheus
    if not table.url:
        if case.loaded.settings.csv.logs:
            yield Line("source", "ok", "no [prometheus] url: runs come from CSV logs")
        else:
            finding = "neither [prometheus] url nor [csv] logs: JPO knows what `jpo observe` tells it by hand"
            yield Line("source", "warning", finding, "name one of them in jpo.toml", "JPO-W148")
        return
    source = prometheus_of(case.loaded)
    url, (shown, secret) = urlsplit(source.shown_url), credentials(source)
    if table.insecure:
        finding = f"{shown}; any certificate is trusted ([prometheus] insecure): whoever sits in between can forge runs"
        yield Line("access", "warning", finding, "set ca_file to the server's authority", "JPO-W147")
    elif secret and url.scheme == "http" and url.hostname not in LOOPBACK:
        finding = f"{shown} over http://: everybody on the way can read it"
        yield Line("access", "warning", finding, "use https://", "JPO-W147")
    else:
        yield Line("access", "ok", f"{url.scheme}://, {shown}")


def credentials(source: telemetry.PrometheusSource) -> tuple[str, bool]:
    """What JPO shows to Prometheus, in words, and whether whoever reads it could use it."""
    if source.credentials:
        return "user and password", True
    if source.bearer_token:
        return "a bearer token", True
    if source.sigv4_region:
        return f"AWS signatures for {source.sigv4_region}", False
    if source.client_cert:
        return "a client certificate", False
    return (f"headers {', '.join(source.headers)}", True) if source.headers else ("no credentials", False)


def prometheus(case: Case) -> Iterator[Line]:
    """What the server holds, by the probes of telemetry/probes.py."""
    table = case.loaded.settings.prometheus
    if not table.url:
        return
    if case.offline:
        yield Line("server", "unknown", "not asked: --offline")
        return
    source, names, since = prometheus_of(case.loaded), names_of(case.loaded), case.now - table.since
    for name, found in examine(source, case.identity, since=since, until=case.now, names=names).items():
        code = found.error.exit_code if found.error and found.status == "problem" else 0
        yield Line(name, found.status, found.text, found.remedy, found.code, code)


def csv_logs(case: Case) -> Iterator[Line]:
    """Whether the patterns match, and what is in the files."""
    loaded = case.loaded
    for pattern in loaded.settings.csv.logs:
        files = list(telemetry.log_files([loaded.root / pattern]))
        runs, unusable = telemetry.read_each(files, now=case.now)
        if not any(file.exists() for file in files):
            yield Line("logs", "warning", f"{pattern} matches no file", "correct [csv] logs, or run the job", "JPO-W148")
            continue
        ours = sum(one.run.identity == case.identity for one in runs)
        finding = f"{pattern}: {counted(len(files), 'file')}, {counted(len(runs), 'finished run')}, {ours} of this workload"
        if unreadable := [one.reason for one in unusable if one.code == "JPO-E110"]:
            finding += f"; {len(unreadable)} cannot be read: {unreadable[0]}"
            yield Line("logs", "warning", finding, "mend or remove it: --strict ends with it", "JPO-W148")
        else:
            yield Line("logs", "ok", finding + (f"; {len(unusable)} of no use: {unusable[0].reason}" if unusable else ""))


def place(case: Case) -> Iterator[Line]:
    """Whether the store outlives the job, and can be written."""
    loaded, file = case.loaded, case.loaded.store_file
    if file is None:
        yield Line("place", "ok", loaded.store_place)
        return
    size = f"{file.stat().st_size / 2**20:.1f} MiB" if file.is_file() else "does not exist yet: the first run makes it"
    yield Line("place", "ok", f"{file}, {size}")
    where = [loaded.root.resolve(), *(Path(case.environ[name]).resolve() for name in WORKSPACES if case.environ.get(name))]
    if author_of(case.environ)["where"] != "local" and any(file.resolve().is_relative_to(folder) for folder in where):
        finding = "lies in the pipeline's workspace, which is gone after the job"
        remedy = "State lives in PostgreSQL or an object the team owns; CI caches are for trying out"
        yield Line("lasting", "warning", finding, remedy, "JPO-W149")


def record(case: Case) -> Iterator[Line]:
    """Whether the store opens, and what is on record."""
    file = case.loaded.store_file
    nearest = next(path for path in (file, *file.parents) if path.exists()) if file else None
    if nearest and not os.access(nearest, os.W_OK):
        raise StoreError(str(nearest), "cannot be written", "check folder and owner", code="JPO-E504")
    if file and not file.exists():
        return
    with store_of(case.loaded, read_only=True) as store:
        yield runs_in(store, case)
        found = verify(store)
    if found.ok:
        yield Line("audit log", "ok", f"{counted(found.records, 'record')}, chain intact, head {found.head}")
    else:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        yield Line("audit log", "problem", str(found.reason), remedy, "JPO-E511", StoreError.exit_code)


def runs_in(store: Store, case: Case) -> Line:
    """How many runs are on record, and how old the newest is."""
    runs = [one.run for one in store.recorded_runs(case.identity)]
    whose = f" of {case.identity}" if case.identity else ""
    if not runs:
        return Line("record", "ok", f"opens; no run{whose} on record")
    age = span(max(0.0, case.now - runs[-1].ended_at))
    return Line("record", "ok", f"opens; {counted(len(runs), 'run')}{whose}, the newest ended {age} ago")


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


Check = Callable[[Case], Iterator[Line]]

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "Installation": (python, packages, learning, guard, pipeline),
    "Project": (settings, secrets, config_ini, limits, writable),
    "Prometheus": (access, prometheus),
    "CSV logs": (csv_logs,),
    "Store": (place, record),
}
"""Everything that is looked at, by the topics of the report, in its order."""
