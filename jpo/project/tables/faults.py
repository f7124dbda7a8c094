"""What is wrong in the tables of settings, in one line: where it is, what was found, what to write."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from constraints.own import meant, own_limit
from constraints.unknown import remedy, section_remedy
from jpo.errors import UsageError, quoted
from jpo.project.plugins.tables import settings_model
from jpo.project.tables.parameters import ParameterTable, is_own


class Origin(NamedTuple):
    """Origin of a setting: which source has it, and `place`, its file or its variable."""

    kind: Literal["built in", "pyproject", "file", "environment", "command line"]
    place: str = ""

    def __str__(self) -> str:
        words = {"pyproject": f"{self.place} [tool.jpo]", "file": self.place, "environment": f"environment {self.place}"}
        return words.get(self.kind, self.kind)


def explained(error: ValidationError, origins: Mapping[str, Origin], toml: Path | None) -> UsageError:
    """The first thing that is wrong, in one line: where it is, what was found, what to write."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    key = ".".join(map(_name, path))
    place = place_of(path, origins, toml)
    if first["type"] == "extra_forbidden" or "[key]" in first["loc"]:
        if len(path) == 1:
            return UsageError(place, f"unknown section [{key}]", section_remedy(path[0]), code="JPO-E302")
        finding = f"unknown key [{_name(path[0])}] {'.'.join(map(_name, path[1:]))}"
        return UsageError(place, finding, remedy(path[-1], known_beside(path)), code="JPO-E302")
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "tuple_type" and isinstance(first["input"], str):
        message = f'input should be a list, such as ["{_name(first["input"])}"]'
    return UsageError(place, f"{key}: {message[0].lower() + message[1:]}", "see `jpo config schema`", code="JPO-E302")


def place_of(path: list[str], origins: Mapping[str, Origin], toml: Path | None) -> str:
    """Where a setting was given: its origin, of a file with the line."""
    tables = (".".join(path[:n]) for n in range(len(path), 0, -1))
    origin = next((origins[name] for name in tables if name in origins), None)
    in_file = toml and origin == Origin("file", str(toml))
    return f"{origin}:{line}" if toml and in_file and (line := line_of(toml, path)) else str(origin or "settings")


def refuse_impossible(parameters: Mapping[str, Any], origins: Mapping[str, Origin], toml: Path | None) -> None:
    """Raise UsageError for a parameter of the team's own that the guard would refuse, and for words where JPO knows numbers."""
    for name, line in parameters.items():
        place = partial(place_of, ["parameters", name], origins, toml)
        if is_own(name) and (known := meant(name, line.get("key"))):
            raise UsageError(place(), f"unknown key [parameters] {name}", f"did you mean {known}?", code="JPO-E302")
        try:
            if is_own(name):
                own_limit(name, parameters)
        except ValueError as error:
            raise UsageError(place(), str(error), code="JPO-E302") from None
        if not is_own(name) and ParameterTable.model_validate(line).worded:
            finding = f"[parameters] {name} choices: {quoted(line['choices'])} are not numbers"
            raise UsageError(place(), finding, "write e.g. choices = [1, 2, 4]", code="JPO-E302")


def known_beside(path: list[str]) -> tuple[str, ...]:
    """The keys that a table knows, by the path of an unknown one in it; none where any name may be one."""
    kind: Any = settings_model(None)
    for name in path[:-1]:
        fields = _fields(kind)
        inner = get_args(kind)[1:2]  # of dict[str, Table]
        kind = fields[name].annotation if name in fields else inner[0] if inner else None
    return tuple(_fields(kind)) or tuple(name for name in get_args(next(iter(get_args(kind)), None)) if isinstance(name, str))


def _fields(kind: Any) -> Mapping[str, FieldInfo]:
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}


def _name(part: str) -> str:
    return quoted(part).strip("'")


def line_of(toml: Path, path: list[str]) -> int | None:
    """1-based line of a key in a TOML file as people write them; None when that is not clear."""
    table: list[str] = []
    best = None
    with suppress(OSError, ValueError):  # it could be read before
        for number, line in enumerate(toml.read_text("utf-8-sig").split("\n"), start=1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                table = [part.strip(" \"'") for part in header[1].split(".")]
            key = re.match(r"\s*([\w.\"'-]+)\s*=", line)
            full = table + ([part.strip("\"'") for part in key[1].split(".")] if key else [])
            if (header or key) and full and full == path[: len(full)]:
                best = number
    return best
