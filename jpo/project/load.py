"""Settings from every source: built in < [tool.jpo] in pyproject.toml < jpo.toml < environment < command line.

Each value keeps its origin, so that an error and `jpo config show` can name the place. Secrets come from the environment or from
files, never from jpo.toml or the command line, and no message repeats a value that could be one.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraints.own import meant, own_limit
from jpo.errors import UsageError
from jpo.project.checkout.root import folders_up, store_beside
from jpo.project.settings import AuthTable, PreferenceTable, Settings
from jpo.project.tables.parameters import ParameterTable, is_own
from jpo.reading import DEEPEST, contents
from jpo.reading import toml as toml_of

SECRETS = ("token", "password")
MAX_TOML_BYTES = 1 << 20  # a settings file of more than 1 MiB is something else


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Effective settings and where they came from.

    Attributes:
        values: what is in force, validated.
        tables: the merged tables as written, which the guard reads by its own rules; without secrets.
        origins: dotted key -> "jpo.toml", "environment JPO_AGENT__EXPLORE", "command line" ...; what is missing here is built in.
        root: folder from which relative paths start.
        toml: the settings file that was read, if any.
        store_root: folder from which the path of the store starts; None: `root`.
        store_folder: the one of an earlier version of JPO, which found jpo.toml next to config.ini or here; None: with --config.
        author: who and where, for the audit log (caller.py); empty where JPO works for itself, as in simulations.
        side_branch: the branch, in a pipeline of another than the default one; "" elsewhere.
    """

    values: Settings
    tables: Mapping[str, Any]
    origins: Mapping[str, str]
    root: Path
    toml: Path | None
    author: Mapping[str, str] = field(default_factory=dict)
    side_branch: str = ""
    store_root: Path | None = None
    store_folder: Path | None = None

    @property
    def place(self) -> str:
        """What messages name as the place of a setting."""
        return str(self.toml or "settings")

    @property
    def config_ini(self) -> Path:
        """The config.ini that [workload] config names."""
        return self.root / self.values.workload.config

    @property
    def store_url(self) -> str:
        """The store's URL with a relative SQLite path made absolute."""
        url = self.values.store.url
        if url in ("sqlite://", "sqlite:///:memory:"):
            finding = "keeps nothing, and a change that is not on record must not be made"
            raise UsageError("[store] url", finding, "name a file, e.g. sqlite:///.jpo/jpo.db", code="JPO-E509")
        relative = self._store_path
        folder = self.store_folder if self.store_beside else self.store_root
        return f"sqlite:///{os.path.realpath(folder or self.root)}/{relative}" if relative else url

    @property
    def _store_path(self) -> str | None:
        """The path of an SQLite store as settings have it, where it is a relative one."""
        relative = re.fullmatch(r"sqlite:///([^/].*)", self.values.store.url)
        return relative[1] if relative else None

    @property
    def store_at_root(self) -> Path | None:
        """Where the file of a new store would be; None where settings name an absolute place."""
        return (self.store_root or self.root) / self._store_path if self._store_path else None

    @property
    def store_beside(self) -> Path | None:
        """The file of a store that an earlier version of JPO made beside config.ini, and which is used; None if there is none."""
        if self.store_folder is None or self.store_at_root is None or self._store_path is None:
            return None
        return store_beside(self.store_folder, self.store_root or self.root, self._store_path)

    @property
    def store_file(self) -> Path | None:
        """The file of an SQLite store; None for a store on a server."""
        scheme, _, path = self.store_url.partition(":///")
        return Path(path) if scheme == "sqlite" else None

    @property
    def store_files(self) -> tuple[Path, ...]:
        """All files that an SQLite store may consist of, there or not; none for a store on a server."""
        file = self.store_file
        return tuple(file.with_name(f"{file.name}{suffix}") for suffix in ("", "-wal", "-shm")) if file else ()

    @property
    def csv_logs(self) -> tuple[str, ...]:
        """The patterns of CSV logs, each with its folder."""
        return tuple(str(self.root / pattern) for pattern in self.values.csv.logs)

    @property
    def store_place(self) -> str:
        """The store's URL as messages show it: without user, password and options, which may hold secrets."""
        return self.store_url if self.store_file else without_credentials(self.store_url)


def load(
    config: Path | None, toml: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any], *, of_its_own: bool = False
) -> LoadedSettings:
    """Merge all sources of settings.

    Args:
        config: config.ini if the command names one; jpo.toml and pyproject.toml are searched next to it and in the folders above
            of its repository, the nearest first; then jpo.toml here.
        toml: --config; it must exist then.
        environ: the process environment.
        flags: tables made of command-line options; they win.
        of_its_own: files next to config.ini alone count, as for a job that gets its own.

    Raises:
        UsageError: a file cannot be read or is not TOML, an unknown section or key, a wrong value.
    """
    folder = config.parent if config else Path()
    above = [folder] if of_its_own else list(folders_up(folder))
    # A jpo.toml that is no file is not passed over: its limits would be gone without a word.
    path = toml or next(
        (p for p in (*(one / "jpo.toml" for one in above), *([] if of_its_own else [Path("jpo.toml")])) if os.path.lexists(p)),
        None,
    )
    reaches = len(above) if path is None else above.index(path.parent) + 1 if path.parent in above else 1
    pyproject, own = _own_tables(above[:reaches])
    layers: list[tuple[str, Mapping[str, Any]]] = [(f"{pyproject} [tool.jpo]", own)] if pyproject else []
    if path:
        layers.append((str(path), read_toml(path)))
    for origin, table in layers:
        refuse_secrets(origin, table)
    layers += from_environment(environ)
    layers.append(("command line", flags))
    root = path.parent if path else pyproject.parent if pyproject else folder
    settings = merge(layers, root=root, toml=path)
    beside = Path() if not os.path.lexists(folder / "jpo.toml") and os.path.lexists("jpo.toml") else folder
    return replace(settings, store_root=root if path or pyproject else above[-1], store_folder=None if toml else beside)


def _own_tables(folders: Sequence[Path]) -> tuple[Path | None, Mapping[str, Any]]:
    """The nearest pyproject.toml with a [tool.jpo], and what is in it."""
    for pyproject in (folder / "pyproject.toml" for folder in folders):
        if os.path.lexists(pyproject):
            tool = read_toml(pyproject).get("tool", {})
            own = tool.get("jpo") if isinstance(tool, Mapping) else None
            if own is not None:
                return pyproject, own if isinstance(own, Mapping) else {"jpo": own}
    return None, {}


def merge(layers: list[tuple[str, Mapping[str, Any]]], *, root: Path, toml: Path | None) -> LoadedSettings:
    """Lay the tables over each other, later ones win, and validate the result."""
    tables: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, table in layers:
        overlay(tables, table, origins, origin)
    try:
        settings = Settings.model_validate(tables)
    except ValidationError as error:
        raise explained(error, origins, toml) from None  # the original would print values, perhaps secrets
    refuse_impossible(tables.get("parameters", {}), origins, toml)
    if (metric := settings.metric.name) in settings.parameters:
        place = place_of(["metric", "name"], origins, toml)
        raise UsageError(place, f"[metric] and [parameters] both name {metric}", "give one another name", code="JPO-E302")
    auth = tables.get("prometheus", {}).get("auth", {})
    for secret in SECRETS:
        auth.pop(secret, None)
    return LoadedSettings(settings, tables, origins, root, toml)


def overlay(under: dict[str, Any], over: Mapping[str, Any], origins: dict[str, str], origin: str, prefix: str = "") -> None:
    """Put `over` on `under` in place, table by table, and note where each value came from."""
    for name, value in over.items():
        key = f"{prefix}{name}"
        weights = key == "preference" or prefix == "preferences."  # they belong together: a new preference replaces the old one
        if isinstance(value, Mapping) and not weights:
            if not isinstance(under.get(name), dict):
                under[name] = {}
            origins[key] = origin
            overlay(under[name], value, origins, origin, f"{key}.")
        else:
            under[name] = value
            origins[key] = origin


def effective(settings: LoadedSettings) -> Iterator[tuple[str, object, str]]:
    """Every setting that has a value: its dotted key, the value without secrets, and where it comes from."""
    for key, value in _flat(settings.values.model_dump(mode="json")):
        table = key.rpartition(".")[0] if key.startswith(("preference.", "preferences.")) else key  # its weights have one origin
        origin = next((settings.origins[k] for k in (key, table) if k in settings.origins), "built in")
        yield key, without_credentials(str(value)) if key in ("prometheus.url", "store.url") else value, origin


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted keys and values; what is not set is left out."""
    for name, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        elif value is not None and value != {}:
            yield f"{prefix}{name}", value


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    remedy = "name a jpo.toml with --config"
    content = contents(path, MAX_TOML_BYTES, lambda finding: UsageError(str(path), finding, remedy, code="JPO-E301"))
    try:
        return toml_of(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(str(path), f"is not UTF-8 at byte {error.start}", "save it as UTF-8", code="JPO-E301") from error
    except ValueError as error:
        raise UsageError(str(path), str(error), "see https://toml.io", code="JPO-E301") from error


def without_credentials(url: str) -> str:
    """A URL without `user:password@`, query and fragment, however malformed it is."""
    start, _, rest = url.rpartition("@")
    kept = rest if start else url
    scheme = start.partition("://")[0] + "://" if "://" in start else ""
    return scheme + kept.partition("?")[0].partition("#")[0]


def refuse_secrets(origin: str, table: Mapping[str, Any]) -> None:
    """A token or password in a settings file ends up in version control: refuse it."""
    store = table.get("store", {})
    address = str(store.get("url", "")) if isinstance(store, Mapping) else ""
    if re.search(r"://[^/@]*:[^/@]*@|[?&]password=", address):
        remedy = "leave the password to JPO_STORE__URL in the environment, PGPASSFILE or a client certificate"
        raise UsageError(origin, "[store] url holds a password", remedy, code="JPO-E303")
    server = table.get("prometheus", {})
    if not isinstance(server, Mapping):
        return
    auth, headers, url = server.get("auth", {}), server.get("headers", {}), str(server.get("url", ""))
    for name in set(SECRETS) & set(auth if isinstance(auth, Mapping) else ()):
        remedy = f"use {name}_file or JPO_PROMETHEUS__AUTH__{name.upper()}"
        raise UsageError(origin, f"[prometheus] auth holds a {name}", remedy, code="JPO-E303")
    for name in headers if isinstance(headers, Mapping) else ():
        if re.search("auth|cookie|key|secret|token", str(name).lower()):
            remedy = "use auth with token_file, or JPO_PROMETHEUS__HEADERS__... in the environment"
            raise UsageError(origin, f"[prometheus] headers hold {name}", remedy, code="JPO-E303")
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise UsageError(origin, "[prometheus] url holds credentials", "use auth, or PROMETHEUS_URL", code="JPO-E303")


def from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """PROMETHEUS_URL, JPO_PREFERENCE, JPO_SECTION__KEY (JPO_SECTION__TABLE__KEY): one layer each, so that origins name it."""
    if environ.get("PROMETHEUS_URL"):
        yield "environment PROMETHEUS_URL", {"prometheus": {"url": environ["PROMETHEUS_URL"]}}
    for variable, text in sorted(environ.items()):
        path = variable.removeprefix("JPO_").lower().split("__")
        if not variable.startswith("JPO_") or (len(path) < 2 and path != ["preference"]):
            continue
        if len(path) > DEEPEST:
            finding = f"names a setting of {len(path)} parts"
            raise UsageError(f"{variable:.80}", finding, "write JPO_SECTION__KEY", code="JPO-E302")
        value: Any = text
        if text.startswith(("[", "{")) and path[-1] not in SECRETS and "headers" not in path[:-1]:
            try:
                (value,) = toml_of(f"v = {text}").values()
            except ValueError as error:
                why = str(error).removeprefix("is not TOML: ")
                raise UsageError(variable, f"is not a TOML value ({why})", 'write e.g. ["a", "b"]', code="JPO-E302") from error
        for name in reversed(path):
            value = {name: value}
        yield f"environment {variable}", value


def explained(error: ValidationError, origins: Mapping[str, str], toml: Path | None) -> UsageError:
    """The first thing that is wrong, in one line: where it is, what was found, what to write."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    key = ".".join(path)
    place = place_of(path, origins, toml)
    if first["type"] == "extra_forbidden" or "[key]" in first["loc"]:
        return unknown_key(place, path)
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "tuple_type" and isinstance(first["input"], str):
        message = f'input should be a list, such as ["{first["input"]!s:.40}"]'
    return UsageError(place, f"{key}: {message[0].lower() + message[1:]}", "see `jpo config schema`", code="JPO-E302")


def place_of(path: list[str], origins: Mapping[str, str], toml: Path | None) -> str:
    """Where a setting was given: its origin, of a file with the line."""
    tables = (".".join(path[:n]) for n in range(len(path), 0, -1))
    origin = next((origins[name] for name in tables if name in origins), "settings")
    return f"{origin}:{line}" if toml and origin == str(toml) and (line := line_of(toml, path)) else origin


def refuse_impossible(parameters: Mapping[str, Any], origins: Mapping[str, str], toml: Path | None) -> None:
    """Raise UsageError for a parameter of the team's own that the guard would refuse, and for words where JPO knows numbers."""
    for name, line in parameters.items():
        place = place_of(["parameters", name], origins, toml)
        if is_own(name) and (known := meant(name, line.get("key"))):
            raise UsageError(place, f"unknown key [parameters] {name}", f"did you mean {known}?", code="JPO-E302")
        try:
            if is_own(name):
                own_limit(name, parameters)
        except ValueError as error:
            raise UsageError(place, str(error), code="JPO-E302") from None
        if not is_own(name) and ParameterTable.model_validate(line).worded:
            finding = f"[parameters] {name} choices: {line['choices']!r:.80} are not numbers"
            raise UsageError(place, finding, "write e.g. choices = [1, 2, 4]", code="JPO-E302")


def unknown_key(place: str, path: list[str]) -> UsageError:
    """An unknown section or key, with the nearest known name."""
    names: Any = Settings.model_fields
    if len(path) > 1:
        table = names[path[0]].annotation if path[0] in names else None
        names = getattr(table, "model_fields", ParameterTable.model_fields)
        names = AuthTable.model_fields if path[:2] == ["prometheus", "auth"] else names
        names = PreferenceTable.model_fields if path[0] == "preferences" else names
    nearest = difflib.get_close_matches(path[-1], list(names), n=1)
    finding = f"unknown {'section' if len(path) == 1 else 'key'} [{path[0]}]" + (f" {'.'.join(path[1:])}" if path[1:] else "")
    remedy = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(names)}"
    return UsageError(place, finding, remedy, code="JPO-E302")


def line_of(toml: Path, path: list[str]) -> int | None:
    """1-based line of a key in a TOML file as people write them; None when that is not clear."""
    table: list[str] = []
    best = None
    for number, line in enumerate(toml.read_text("utf-8-sig").split("\n"), start=1):
        if header := re.match(r"\s*\[([^\[\]]+)\]", line):
            table = [part.strip(" \"'") for part in header[1].split(".")]
        key = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        full = table + ([part.strip("\"'") for part in key[1].split(".")] if key else [])
        if (header or key) and full and full == path[: len(full)]:
            best = number
    return best
