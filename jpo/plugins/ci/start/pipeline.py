"""The pipeline's file, made of the one template that pipelines/ has for each host; a wheel carries the same files along."""

import re
from pathlib import Path, PurePosixPath
from typing import Literal

from jpo.errors import UsageError
from jpo.files.reading import beginning
from jpo.plugins.ci.start.new_files import NewFile

CodeHost = Literal["gitlab", "github"]
FILES: dict[CodeHost, str] = {"gitlab": ".gitlab-ci.yml", "github": ".github/workflows/jpo.yml"}
SOURCES: dict[CodeHost, str] = {"gitlab": "gitlab/.gitlab-ci.yml", "github": "github/example-workflow.yml"}
PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")
"""A path that neither YAML nor a shell nor the component's own rule reads as something else."""
CONFIG = re.compile(r"^[ \t]+(?:-[ \t]+)?config:[ \t]*[\"']?([\w./-]+)[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)
LARGEST_BYTES = 1 << 20
"""Of a file that are looked at."""


def hosts_of(project: Path) -> list[CodeHost]:
    """The hosts whose files are in the repository; without any, those from which it was cloned."""
    marks: dict[CodeHost, str] = {"gitlab": FILES["gitlab"], "github": ".github"}
    if found := [host for host, mark in marks.items() if (project / mark).exists()]:
        return found
    git_config = _text(project / ".git" / "config")  # of a worktree there is none
    addresses = " ".join(re.findall(r"^[ \t]*url[ \t]*=[ \t]*(\S+)", git_config, re.MULTILINE)).lower()
    return [host for host in marks if host in addresses]


def pipeline_file(host: CodeHost, config: str, settings: str = ".", *, beside_others: bool = False) -> NewFile:
    """The file for a config.ini, its path relative to the repository, and what an existing one of the same name needs of it.

    Args:
        config: relative to the repository.
        settings: so is the folder of jpo.toml, and of the history.
        beside_others: the repository's file runs JPO for another config.ini; two of a name would be one to the host.

    Raises UsageError: JPO-E910, the path has signs that would have to be quoted in YAML and shell.
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
    text = re.sub(r"(?<![\w.-])runs(?=/?$)", str(folder / "runs"), text, flags=re.MULTILINE)
    path = FILES[host]
    if beside_others:  # jobs, workflows and what waits for each other are known by their names
        whose = place.parent if place.name == "config.ini" else place.with_suffix("")
        word = re.sub(r"[^a-z0-9]+", "-", str(whose).lower()).strip("-") or "config"
        path = path.replace("jpo.yml", f"jpo-{word}.yml")
        text = text.replace("name: Train\n", f"name: Train {config}\n", 1)
        text = re.sub(r"^( +group: )(train|jpo-persist)\b", rf"\g<1>\g<2>-{word}", text, flags=re.MULTILINE)
        text = re.sub(r"^( +(?:key: )?jpo)-(?=\$|$)", rf"\g<1>_{word}_", text, flags=re.MULTILINE)  # a cache of its own
        if host == "gitlab":
            text = text.replace("      config: ", f"      name: jpo-{word}\n      config: ", 1)
    return NewFile(Path(path), text, part_of(text) if host == "gitlab" else text)


def configs_in(text: str) -> list[str]:
    """For which config.ini a pipeline's file runs JPO by the templates; empty: it does not say."""
    return sorted({found[1].removeprefix("./") for found in CONFIG.finditer(text)})


def said_in(file: Path) -> str:
    """What a file says beside its comments; nothing of one that cannot be read."""
    return re.sub(r"(^|\s)#.*", r"\1", _text(file))


def _text(file: Path) -> str:
    try:
        content = beginning(file, LARGEST_BYTES, lambda finding: UsageError(str(file), finding, code="JPO-E910"))
    except UsageError:
        return ""
    return content.decode("utf-8", "replace")


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
