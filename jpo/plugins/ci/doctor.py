"""Does the repository's pipeline run JPO, does its cache keep the history, does the guard look again, and may it write notes?"""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from jpo.commands.doctor.case import Case
from jpo.errors import CodeHostError, UsageError
from jpo.files.links import project_of
from jpo.inventory.caller import author_of
from jpo.plugins.ci.code_host.merge_request import merge_request_of
from jpo.plugins.ci.code_host.repository import repository_of
from jpo.plugins.ci.start.pipeline import configs_in, hosts_of, said_in
from jpo.report.doctor import Line

PLACES = (".gitlab-ci.yml", ".github/workflows/*.yml", ".github/workflows/*.yaml")
OF_JPO = re.compile(
    r"^[ \t]*(?:-[ \t]*)?component:[ \t]*\S*/jpo@|/pipelines/github@|templates/jpo\.yml|\bjpo\s+suggest\b|-m\s+jpo\b",
    re.MULTILINE,
)
COMPONENT = re.compile(r"^[ \t]*(?:-[ \t]*)?component:[ \t]*\S*/jpo@|templates/jpo\.yml", re.MULTILINE)
GUARDED = re.compile(r"/pipelines/github(/guard)?@|-m\s+constraints\b")
SERVER = re.compile(r"^[ \t]*store-url:[ \t]*\S|JPO_STORE__URL", re.MULTILINE)
FOLDER = re.compile(r"^[ \t]*(?:-[ \t]+)?(?:(?:path|history):[ \t]*)?[\"']?([\w./-]+)[\"']?[ \t]*$", re.MULTILINE)
KEPT = re.compile(r"^[ \t]*(?:-[ \t]+)?(?:path|history):[ \t]*[\"']?([\w./-]*\.jpo)/?[\"']?[ \t]*$", re.MULTILINE)
RUN_LOGS = re.compile(r"^[ \t]*(?:-|path:|paths:[ \t]*\[)[ \t]*[\"']?[\w./-]*\bruns\b[\w./*-]*[\"']?\]?[ \t]*$", re.MULTILINE)
LAUNCHES = re.compile(r"\bjpo\s+(?:run|optimize)\b")
"""What carries runs/ from job to job; and commands that put their runs on record themselves."""
UNFILLED = re.compile(r"\byour-organisation/|\bregistry\.example\.com/|@(?:sha256:)?0{40,64}\b")
"""What the templates have in place of a team's own images, commits and organisation."""
TOKENS = ("JPO_COMMENT_TOKEN", "JPO_PERSIST_TOKEN")


def pipeline_file(case: Case) -> Iterator[Line]:
    """The pipeline's files that run JPO; what `jpo init` makes, or what a person has written."""
    root = project_of(case.config)
    config = os.path.relpath(os.path.realpath(case.config), root)
    files = (file for pattern in PLACES for file in sorted(root.glob(pattern)))
    found = {str(file.relative_to(root)): text for file in files if OF_JPO.search(text := said_in(file))}
    ours = {name: text for name, text in found.items() if config in (configs_in(text) or [config])}
    if not found:
        hosts = " or ".join(f"--ci {host}" for host in hosts_of(root))
        remedy = f"`jpo init {hosts}` makes one" if hosts else ""
        yield Line("pipeline file", "ok", "none of the repository runs JPO", remedy)
    elif not ours:
        others = "; ".join(f"{name} runs JPO for {', '.join(configs_in(text))}" for name, text in found.items())
        remedy = f"`jpo init {shlex.quote(str(case.config))}` has what it needs"
        yield Line("pipeline file", "warning", f"none runs JPO for {config}: {others}", remedy, "JPO-W159")
    for name, text in ours.items():
        if not (COMPONENT.search(text) or GUARDED.search(text)):
            remedy = "add `python -I -m constraints BEFORE AFTER --limits jpo.toml`, or use the template"
            yield Line("pipeline file", "warning", f"{name} runs JPO, and the guard does not look again", remedy, "JPO-W157")
        elif unfilled := UNFILLED.search(text):
            finding = f"{name} has {unfilled[0]} where your own belongs: no pipeline can run it"
            yield Line("pipeline file", "warning", finding, "put in your organisation, images, digests and commits", "JPO-W158")
        else:
            yield Line("pipeline file", "ok", f"{name} runs JPO, and the guard as a process of its own")
        yield from cache_of(name, text, case, root)
        yield from run_logs_of(name, text, case, root)


def cache_of(name: str, text: str, case: Case, root: Path) -> list[Line]:
    """Whether the cache of a pipeline keeps the folder in which the history lies."""
    store = case.settings.store_file
    if store is None:
        return [Line("cache", "ok", f"{name} needs none: the history is on a server")]
    folder = Path(os.path.relpath(os.path.realpath(store.parent), root))
    kept = {Path(found[1].rstrip("/") or "/") for found in FOLDER.finditer(text)}
    named = [found[1] for found in KEPT.finditer(text)]
    if kept & {folder, *folder.parents[:-1]} or (not named and COMPONENT.search(text) and folder == Path(".jpo")):
        return [Line("cache", "ok", f"{name} keeps {folder}, where the history is")]
    if SERVER.search(text) and not named:
        return [Line("cache", "ok", f"{name} needs none: the history is on a server")]
    finding = f"{name} keeps {named[0]}, but the history is in {folder}" if named else f"{name} keeps no cache of {folder}"
    remedy = f"write {folder} there, or share a history on a server: JPO_STORE__URL"
    return [Line("cache", "warning", f"{finding}: without a server for it, every pipeline begins anew", remedy, "JPO-W156")]


def run_logs_of(name: str, text: str, case: Case, root: Path) -> Iterator[Line]:
    """Whether a pipeline made of the templates hands over what its training writes into runs/, where no server knows it."""
    of_ours = COMPONENT.search(text) or "/pipelines/github@" in text
    if case.server is not None or not of_ours or RUN_LOGS.search(text) or LAUNCHES.search(text):
        return
    store = case.settings.store_file
    logs = Path(os.path.relpath(os.path.realpath(store.parent.parent), root)) / "runs" if store else Path("runs")
    line = f"artifacts: {{when: always, expire_in: 30 days, paths: [{logs}/]}}"
    if not name.endswith(".gitlab-ci.yml"):
        line = f"uses: actions/upload-artifact@v4, with: {{name: run-log, path: {logs}}}, and the job `record` of the template"
    finding = f"{name} hands no run log from training to the next suggestion, and no Prometheus knows how runs went"
    yield Line("run logs", "warning", finding, f"add to the job that trains: {line}", "JPO-W156")


def tokens(case: Case) -> Iterator[Line]:
    """Where notes and merge requests would go; only where a token for them is set."""
    for variable in TOKENS:
        if not (case.environ.get(variable) or case.environ.get(f"{variable}_FILE")):
            continue
        if author_of(case.environ)["where"] not in ("gitlab", "github"):
            yield Line("token", "ok", f"{variable} is set, and used in pipelines of GitLab and GitHub alone")
            continue
        try:
            if variable == "JPO_COMMENT_TOKEN":
                request = merge_request_of(case.environ)
                said = (
                    f"notes go to {request} of {request.access.api_url}"
                    if request
                    else "no merge request belongs to this pipeline"
                )
            else:
                place = repository_of(case.environ)
                said = place if isinstance(place, str) else f"values are proposed to {place.target} of {place.access.api_url}"
        except (UsageError, CodeHostError) as error:
            yield Line("token", "warning", f"{error.place}: {error.finding}", error.remedy, error.code)
        else:
            yield Line("token", "ok", f"{variable}: {said}")
