"""The pipeline's file, made of the one template that pipelines/ has for each host; a wheel carries the same files along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from jpo.errors import UsageError
from jpo.files.reading import beginning

CodeHost = Literal["gitlab", "github"]
FILES: dict[CodeHost, str] = {"gitlab": ".gitlab-ci.yml", "github": ".github/workflows/jpo.yml"}
SOURCES: dict[CodeHost, str] = {"gitlab": "gitlab/.gitlab-ci.yml", "github": "github/example-workflow.yml"}
PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")
"""A path that neither YAML nor a shell nor the component's own rule reads as something else."""
CONFIG = re.compile(r"^[ \t]+(?:-[ \t]+)?config:[ \t]*[\"']?([\w./-]+)[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)
LARGEST_GIT_CONFIG_BYTES = 1 << 16
LARGEST_BYTES = 1 << 20
"""Of a pipeline's file that are looked at."""


@dataclass(frozen=True, slots=True)
class PipelineFile:
    """Attributes:
    path: relative to the repository.
    text: all of it.
    part: what an existing file of the same name needs of it.
    """

    path: str
    text: str
    part: str


def hosts_of(project: Path) -> Iterator[CodeHost]:
    """The hosts whose files are in the repository; without any, those from which it was cloned."""
    found: list[CodeHost] = []
    if (project / FILES["gitlab"]).exists():
        found.append("gitlab")
    if (project / ".github").exists():
        found.append("github")
    yield from found or _hosts_of_remotes(project / ".git" / "config")


def _hosts_of_remotes(git_config: Path) -> Iterator[CodeHost]:
    try:
        said = beginning(
            git_config, LARGEST_GIT_CONFIG_BYTES, lambda finding: UsageError(str(git_config), finding, code="JPO-E910")
        )
    except UsageError:  # no repository, or a worktree's: nobody says
        return
    addresses = " ".join(re.findall(r"^[ \t]*url[ \t]*=[ \t]*(\S+)", said.decode("utf-8", "replace"), re.MULTILINE)).lower()
    if "gitlab" in addresses:
        yield "gitlab"
    if "github" in addresses:
        yield "github"


def pipeline_file(host: CodeHost, config: str, settings: str = ".", *, beside_others: bool = False) -> PipelineFile:
    """The file for a config.ini.

    Args:
        config: relative to the repository.
        settings: so is the folder of jpo.toml, and of the history.
        beside_others: the repository's file runs JPO for another config.ini; two of a name would be one to the host.

    Raises:
        UsageError: JPO-E910, the path has signs that would have to be quoted in YAML and shell.
    """
    place, folder = PurePosixPath(config), PurePosixPath(settings)
    if not (PLAIN.fullmatch(config) and PLAIN.fullmatch(settings)) or ".." in (*place.parts, *folder.parts):
        finding = "has signs in its path that a pipeline would have to quote"
        raise UsageError(repr(config), finding, "rename it, or write the pipeline's file by hand (--ci none)", code="JPO-E910")
    text = template(host).replace("suggested/config.ini", f"suggested/{place.name}")
    text = re.sub(r"(?<![\w./-])config\.ini", config, text)
    text = re.sub(r"(?<![\w./-])jpo\.toml", str(folder / "jpo.toml"), text)
    text = re.sub(r"^( +(?:path|history): )\.jpo$", rf"\g<1>{folder / '.jpo'}", text, flags=re.MULTILINE)
    text = re.sub(r"^( +path: )\.(?=$| )", rf"\g<1>{place.parent}", text, flags=re.MULTILINE)
    path = FILES[host]
    if beside_others:  # jobs, workflows and what waits for each other are known by their names
        word = word_of(place)
        path = path.replace("jpo.yml", f"jpo-{word}.yml")
        text = text.replace("name: Train\n", f"name: Train {config}\n", 1)
        text = re.sub(r"^( +group: )(train|jpo-persist)\b", rf"\g<1>\g<2>-{word}", text, flags=re.MULTILINE)
        if host == "gitlab":
            text = text.replace("      config: ", f"      name: jpo-{word}\n      config: ", 1)
    return PipelineFile(path, text, part_of(text) if host == "gitlab" else text)


def word_of(config: PurePosixPath) -> str:
    """A word for the job of a config.ini, from where it lies."""
    path = config.parent if config.name == "config.ini" else config.with_suffix("")
    return re.sub(r"[^a-z0-9]+", "-", str(path).lower()).strip("-") or "config"


def configs_in(text: str) -> list[str]:
    """For which config.ini a pipeline's file runs JPO by the templates; empty: it does not say."""
    return sorted({found[1].removeprefix("./") for found in CONFIG.finditer(text)})


def said_in(file: Path) -> str:
    """What a file says beside its comments; nothing of one that cannot be read."""
    try:
        content = beginning(file, LARGEST_BYTES, lambda finding: UsageError(str(file), finding, code="JPO-E910"))
    except UsageError:
        return ""
    return re.sub(r"(^|\s)#.*", r"\1", content.decode("utf-8", "replace"))


def part_of(text: str) -> str:
    """The `include:` of a .gitlab-ci.yml."""
    found = re.search(r"^include:\n(?:[ #].*\n)+", text, re.MULTILINE)
    assert found, "the template includes the component"
    return found[0]


def template(host: CodeHost) -> str:
    """The template of a host: next to this file in a wheel, in pipelines/ of the sources it was made of."""
    carried = Path(__file__).with_name(f"{host}.yml")
    sources = Path(__file__).parents[4] / "pipelines" / SOURCES[host]
    return (carried if carried.exists() else sources).read_text("utf-8")
