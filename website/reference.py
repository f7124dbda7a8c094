"""The page of the public names of `jpo` and `jpo.runlog`: their signatures and docstrings, as the code has them.

A hook of MkDocs, and no plugin of its own: mkdocstrings would bring five packages for six names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import jpo
from jpo.advisor.optimize import SearchResult
from jpo.runlog import RunLog

PUBLIC: dict[str, Callable[..., object]] = {
    **{f"jpo.{name}": getattr(jpo, name) for name in ("optimize", "Advisor", "Range", "Outcome", "Preference")},
    "jpo.advisor.optimize.SearchResult": SearchResult,
    "jpo.runlog.RunLog": RunLog,
}
SECTION = re.compile(r"(Args|Attributes|Returns|Raises):")
QUOTED = re.compile(r": (['\"])(.*?)\1(?= = |$)")
"""An annotation as `inspect` shows what the code has as text."""
ENTRY = re.compile(r"([\w*, ]+): (.*)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """After pages.py has made the menu."""
    config.nav = [*(config.nav or []), {"API": "api.md"}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "api.md", content=page()))
    return files


def page() -> str:
    begin = "# API\n\nWhat a program imports, with the docstrings of the code. [As a library](library.md) shows how it is used.\n"
    return "\n".join([begin, *(part for name, thing in PUBLIC.items() for part in described(name, thing))])


def described(name: str, thing: Callable[..., object]) -> Iterator[str]:
    """A public name, then its own public methods and properties."""
    yield f"## {name}\n\n{signature(name.rpartition('.')[2], thing)}\n{markdown(thing)}\n"
    for method, member in vars(thing).items() if inspect.isclass(thing) else ():
        if method.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, (property, cached_property)):
            yield f"### {thing.__name__}.{method}\n\n{markdown(member)}\n"
        elif inspect.isfunction(member):
            yield f"### {thing.__name__}.{method}\n\n{signature(method, member)}\n{markdown(member)}\n"


def signature(name: str, thing: Callable[..., object]) -> str:
    """How it is called, a parameter a line where they are many."""
    found = inspect.signature(thing)
    parameters = [str(one) for one in found.parameters.values() if one.name != "self"]
    names = [QUOTED.sub(r": \2", one).replace("<factory>", "{}") for one in parameters]
    names = [one.replace("<built-in function perf_counter>", "time.perf_counter") for one in names]
    stars = next((number for number, one in enumerate(found.parameters.values()) if one.kind is one.KEYWORD_ONLY), None)
    if stars is not None:
        names.insert(stars - (len(found.parameters) - len(parameters)), "*")
    end = f") -> {found.return_annotation}" if found.return_annotation not in ("None", inspect.Signature.empty) else ")"
    line = f"{name}({', '.join(names)}{end}"
    call = line if len(line) < 80 else "\n".join([f"{name}(", *(f"    {one}," for one in names), end])
    return f"```python\n{call}\n```\n"


def markdown(thing: object) -> str:
    """A docstring: its sections as lists, its examples as code."""
    lines: list[str] = []
    in_section = False
    for line in (inspect.getdoc(thing) or "").splitlines():
        if found := SECTION.fullmatch(line):
            in_section = True
            lines += [f"**{found[1]}**", ""]
        elif in_section and line.startswith("    ") and not line.startswith("     "):
            entry = ENTRY.fullmatch(line.strip())
            lines.append(f"- `{entry[1]}`: {entry[2]}" if entry else f"- {line.strip()}")
        elif in_section and line.startswith("     "):
            lines.append(f"  {line.strip()}")
        else:
            in_section = in_section and not line
            lines.append(line)
    return "\n".join(lines)
