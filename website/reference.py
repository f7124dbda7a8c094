"""Pages that are made from the code: every command's help, every setting, the JSON Schemas, and the public names of `jpo`.

A hook of MkDocs, and no plugin of its own: mkdocstrings would bring five packages for six names.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import jpo
from jpo.advisor.optimize import SearchResult
from jpo.cli.main import cli
from jpo.plugin import Plugin
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRun, ForeignRuns
from jpo.plugins.launch.job import JobStatus, LaunchJob, Needs, Room
from jpo.plugins.launch.launcher import Launcher
from jpo.project.plugins.tables import settings_schema
from jpo.report import suggestion
from jpo.runlog import RunLog

PUBLIC: dict[str, Callable[..., object]] = {
    **{f"jpo.{name}": getattr(jpo, name) for name in ("optimize", "Advisor", "Range", "Outcome", "Preference")},
    "jpo.advisor.optimize.SearchResult": SearchResult,
    "jpo.runlog.RunLog": RunLog,
    # of a plugin of one's own: docs/plugins/own.md
    "jpo.plugin.Plugin": Plugin,
    "jpo.plugins.launch.launcher.Launcher": Launcher,
    **{f"jpo.plugins.launch.job.{thing.__name__}": thing for thing in (LaunchJob, Needs, JobStatus, Room)},
    **{f"jpo.plugins.imports.foreign.{thing.__name__}": thing for thing in (ForeignRuns, ForeignRun, ForeignColumn)},
}
SECTION = re.compile(r"(Args|Attributes|Returns|Raises):")
QUOTED = re.compile(r": (['\"])(.*?)\1(?= = |$)")
"""An annotation as `inspect` shows what the code has as text."""
ENTRY = re.compile(r"([\w*, ]+): (.*)")


WIDE = 100
"""Columns of a command's help."""
SCHEMAS = {
    "jpo.schema.json": ("jpo.toml", "jpo config schema", settings_schema),
    "suggestion.schema.json": ("what `jpo suggest -o json` prints", "jpo config schema -o suggestion", suggestion.schema),
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """After pages.py has made the menu."""
    made = [{"Commands": "commands.md"}, {"Settings": "settings.md"}, {"JSON Schemas": "schemas.md"}, {"API": "api.md"}]
    config.nav = [*(config.nav or []), {"Reference": made}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    made = {"api.md": page(), "commands.md": commands(), "settings.md": settings(), "schemas.md": schemas()}
    made |= {name: json.dumps(schema(), indent=1) + "\n" for name, (_, _, schema) in SCHEMAS.items()}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def commands() -> str:
    """Every command's help, as it prints it."""
    context = click.Context(cli, info_name="jpo", terminal_width=WIDE, max_content_width=WIDE)
    parts = ["# Commands\n\nThe help of every command. [The guide](guide.md) says by task which one to take.\n"]
    for name in sorted(cli.list_commands(context)):
        if command := cli.get_command(context, name):
            parts += helps(command, context)
    return "\n".join(parts)


def helps(command: click.Command, above: click.Context) -> Iterator[str]:
    """The help of a command, or of those that it has."""
    context = click.Context(command, parent=above, info_name=command.name, terminal_width=WIDE, max_content_width=WIDE)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from helps(inner, context)
    else:
        yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


def settings() -> str:
    """Every key of jpo.toml with its type and default, by table; and what the code says of the table."""
    schema = settings_schema()
    begin = "# Settings\n\nEvery key of jpo.toml. [jpo.toml](jpo-toml.md) has a commented file, and says how a setting is set.\n"
    return "\n".join([begin, *(part for name, one in schema["properties"].items() for part in table(name, one, schema))])


def table(name: str, one: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """A table of jpo.toml, then those in it; one of many of a kind is named by NAME. Of a value nothing."""
    if inner := defined(one.get("additionalProperties"), schema):
        yield from table(f"{name}.NAME", inner, schema)
    elif definition := defined(one, schema):
        rows = [
            f"| {key} | {kind(value, schema)} | {default(value)} |"
            for key, value in definition["properties"].items()
            if not any(table(key, value, schema))
        ]
        head = ["| key | value | default |", "|---|---|---|"] if rows else []
        yield "\n".join([f"## [{name}]", "", definition.get("description", ""), "", *head, *rows, ""])
        for key, value in definition["properties"].items():
            yield from table(f"{name}.{key}", value, schema)


def defined(one: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """The table that is meant; empty where it is a value."""
    choices = [one, *one.get("anyOf", ())] if isinstance(one, dict) else []
    named = [schema["$defs"][choice["$ref"].rpartition("/")[2]] for choice in choices if "$ref" in choice]
    return next((choice for choice in [*choices, *named] if "properties" in choice), {})


def kind(one: Any, schema: dict[str, Any]) -> str:
    """What a value may be, in a few words."""
    if not isinstance(one, dict):
        return "any value"
    if "enum" in one or "const" in one:
        return " or ".join(f"`{json.dumps(value)}`" for value in one.get("enum", [one.get("const")]))
    if "anyOf" in one:
        return " or ".join(dict.fromkeys(kind(choice, schema) for choice in one["anyOf"] if choice.get("type") != "null"))
    if "$ref" in one:
        return kind(schema["$defs"][one["$ref"].rpartition("/")[2]], schema)
    if isinstance(one.get("additionalProperties"), dict):
        return f"table of {kind(one['additionalProperties'], schema)}"
    limits = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = ", ".join(f"{sign} {one[limit]:,.10g}" for limit, sign in limits.items() if limit in one)
    of = f" of {kind(one['items'], schema)}" if "items" in one else ""
    return f"{one.get('type', 'any value')}{of}{said and f' {said}'}"


def default(one: dict[str, Any]) -> str:
    return "" if one.get("default") is None else f"`{json.dumps(one['default'])}`"


def schemas() -> str:
    """The JSON Schemas, as files."""
    lines = [
        f"- <a href='{name}'>{name}</a>: {what}; also printed by `{command}`" for name, (what, command, _) in SCHEMAS.items()
    ]
    return "\n".join(["# JSON Schemas", "", "Of what programs and editors read and write:", "", *lines, ""])


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
    gives = found.return_annotation
    given = inspect.formatannotation(gives) if isinstance(gives, type) else gives
    end = f") -> {given}" if gives not in ("None", inspect.Signature.empty) else ")"
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
