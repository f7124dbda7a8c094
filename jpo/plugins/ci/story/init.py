"""`jpo init config.ini`: what JPO finds, and the files to begin with. Nothing that is there is replaced."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from jpo.files.links import project_of
from jpo.plugins.ci.report.setup import SetUp, SetUpFile
from jpo.plugins.ci.start.left_open import Chosen, decided, reports_itself
from jpo.plugins.ci.start.new_files import NewFile, is_the_same, made, refuse_unmakeable, there_already
from jpo.plugins.ci.start.pipeline import FILES, CodeHost, configs_in, hosts_of, pipeline_file, said_in
from jpo.plugins.ci.start.settings_text import lines_of, missing_lines, settings_text
from jpo.project.checkout.root import folders_up
from jpo.project.load import LoadedSettings
from jpo.project.secrets import secrets_sent
from jpo.project.sources import asked_since, names_of, prometheus_of
from jpo.records import Workload
from jpo.report.doctor import Line, how_to_report
from jpo.telemetry.diagnosis.examine import examine

GITIGNORE = "# The history of JPO on this machine: not for version control.\n*\n"


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Options of the command line; see `jpo init --help`.

    `ci`: whose pipeline's file; None: of the hosts that the repository shows.
    """

    now: float
    ci: Literal["gitlab", "github", "none"] | None = None
    dry_run: bool = False
    offline: bool = False


def init(path: Path, settings: LoadedSettings, options: InitOptions) -> SetUp:
    """Read, ask, plan, and make what is not there.

    Raises UsageError: config.ini or the settings are invalid, or a file cannot be made; nothing is made then but what is named.
    """
    workload, settings, chosen = decided(path, settings, now=options.now)
    findings = () if options.offline else what_prometheus_has(workload, settings, now=options.now)
    hosts: Sequence[CodeHost] = hosts_of(project_of(path))
    if options.ci is not None:
        hosts = () if options.ci == "none" else (options.ci,)
    plan = (
        *planned(workload, settings, chosen, options),
        *pipelines(path, hosts, settings_file(settings) or settings_to_make(path)),
    )
    for file in plan:
        if not there_already(file):
            refuse_unmakeable(file)
    files = tuple(put_in_place(file, dry_run=options.dry_run) for file in plan)
    silent = prometheus_of(settings) is None and not settings.csv_logs and not reports_itself(path.parent)
    report = how_to_report(workload.identity) if silent else ""
    return SetUp(path, workload.identity, workload.parameters, workload.others, findings, files, hosts, report)


def what_prometheus_has(workload: Workload, settings: LoadedSettings, *, now: float) -> tuple[Line, ...]:
    """The findings of `jpo doctor` about the server; none where nobody names one."""
    server = prometheus_of(settings)
    if server is None:
        return ()
    since, names = asked_since(settings, now=now), names_of(settings)
    answers = examine(server, workload.identity, since=since, until=now, names=names)
    return tuple(Line(name, answer.status, answer.text, answer.remedy, answer.code) for name, answer in answers.items())


def planned(workload: Workload, settings: LoadedSettings, chosen: Sequence[Chosen], options: InitOptions) -> Iterator[NewFile]:
    """jpo.toml at the root of the repository, else next to config.ini, and .gitignore for the history next to it."""
    in_force = settings_file(settings)
    path, now = in_force or settings_to_make(workload.path), options.now
    config = os.path.relpath(workload.path, path.parent)
    named = settings.said_by("prometheus.url") == "command line" and not secrets_sent(settings)  # which are not for a file
    server = prometheus_of(settings) if named else None
    url = server.shown_url if server else None
    text = settings_text(workload, settings, chosen, config=config, prometheus_url=url, now=now)
    missing = {"workload": lines_of("workload", chosen), "parameters": missing_lines(workload, settings, chosen, now=now)}
    add = "\n".join("\n".join((f"[{table}]", *lines, "")) for table, lines in missing.items() if lines)
    yield NewFile(path, text, add)
    if settings.store_file:
        yield NewFile(path.parent / ".jpo" / ".gitignore", GITIGNORE, "")


def settings_file(settings: LoadedSettings) -> Path | None:
    """The file with settings that is there: a jpo.toml, or a pyproject.toml."""
    return settings.toml or next((Path(origin.place) for origin in settings.origins.values() if origin.kind == "pyproject"), None)


def settings_to_make(config: Path) -> Path:
    """A new jpo.toml, where every command looks for it, and beside which the history lies."""
    *_, root = folders_up(config.parent)
    taken = os.path.lexists(root / "jpo.toml")  # by another job
    return (config.parent if taken else root) / "jpo.toml"


def belongs_to_another_job(config: Path, settings: LoadedSettings) -> bool:
    """Whether the settings lie above config.ini and name another file."""
    file = settings_file(settings)
    if file is None or "workload.config" not in settings.origins:
        return False
    pairs = ((file.parent, config.parent), (settings.config_ini, config))
    return all(os.path.realpath(one) != os.path.realpath(other) for one, other in pairs)


def pipelines(path: Path, hosts: Sequence[CodeHost], toml: Path) -> Iterator[NewFile]:
    """The pipeline's file of each host, at the root of the repository.

    `toml`: the file with settings, beside which the history lies.
    """
    root = project_of(path)
    config, folder = (os.path.relpath(os.path.realpath(one), root) for one in (path, toml.parent))
    for host in hosts:
        others = configs_in(said_in(root / FILES[host]))
        file = pipeline_file(host, config, folder, beside_others=bool(others) and config not in others)
        yield replace(file, path=Path(os.path.relpath(root)) / file.path, add="" if config in others else file.add)


def put_in_place(file: NewFile, *, dry_run: bool) -> SetUpFile:
    """Make a file that is not there; what became of it."""
    if there_already(file):
        same = is_the_same(file)
        return SetUpFile(file.path, "as it would be" if same else "there already", "" if same else file.add)
    if dry_run:
        return SetUpFile(file.path, "would be made", file.text)
    return SetUpFile(file.path, "made", "") if made(file) else SetUpFile(file.path, "there already", file.add)
