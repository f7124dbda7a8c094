"""Settings from every source: built in < [tool.jpo] in pyproject.toml < jpo.toml < environment < command line.

Each value keeps its origin, so that an error and `jpo config show` can name the place. Secrets come from the environment or from
files, never from jpo.toml or the command line, and no message repeats a value that could be one.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jpo.errors import UsageError
from jpo.files.links import followed
from jpo.files.reading import DEEPEST, NotToml, contents
from jpo.files.reading import toml as toml_of
from jpo.project.checkout.root import folders_up
from jpo.project.plugins.tables import OF_OTHERS, settings_model
from jpo.project.settings import AgentTable, CardTable, CheckTable, QuotaTable, Settings
from jpo.project.tables.faults import Origin, explained, place_of, refuse_impossible
from jpo.project.tables.promises import SlaTable
from jpo.records import Parameters, Track, silently

Table = TypeVar("Table", bound=BaseModel)
SECRETS = ("token", "password")
SAFE_TABLES: Mapping[str, Collection[str]] = {
    "quota": QuotaTable.model_fields,
    "sla": SlaTable.model_fields,
    "card": CardTable.model_fields,
    "check": CheckTable.model_fields,
    "agent": AgentTable.model_fields,
}
"""Tables in which a setting that is passed over may allow what it was to forbid."""
MAX_TOML_BYTES = 1 << 20  # a settings file of more than 1 MiB is something else


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Effective settings and where they came from.

    Attributes:
        values: what is in force, validated.
        tables: the merged tables as written, which the guard reads by its own rules; without secrets.
        origins: by dotted key where its value comes from; what is missing here is built in.
        root: folder from which relative paths start.
        toml: the settings file that was read, if any.
        store_root: folder from which the path of the store starts; None: `root`.
        store_folder: the one of an earlier version of JPO, which found jpo.toml next to config.ini or here; None: with --config.
        author: who and where, for the audit log (inventory/caller.py); empty where JPO works for itself, as in simulations.
        side_branch: the branch, in a pipeline of another than the default one; "" elsewhere.
        track: shows how far long reading is, to who waits for it; silent where nobody does.
        room: the most that one run could have on the engine to which it goes, by resource; empty: not known, nothing is limited.
        fallback: nothing but values of runs that ended well is chosen, and how far one step may lead is not asked of them; where
            none ended well, these come back, with which config.ini began (empty: not known). None: anything may be chosen.
    """

    values: Settings
    tables: Mapping[str, Any]
    origins: Mapping[str, Origin]
    root: Path
    toml: Path | None
    author: Mapping[str, str] = field(default_factory=dict)
    side_branch: str = ""
    store_root: Path | None = None
    store_folder: Path | None = None
    track: Track = silently
    room: Mapping[str, float] = field(default_factory=dict)
    fallback: Parameters | None = None

    @property
    def place(self) -> str:
        """What messages name as the place of a setting."""
        return str(self.toml or "settings")

    def table(self, name: str, model: type[Table]) -> Table:
        """A plugin's table of jpo.toml, e.g. [launch], of others' plugins [plugins.NAME]; its defaults where there is none."""
        tables = (getattr(of, name, None) for of in (self.values, getattr(self.values, OF_OTHERS, None)))
        return next((table for table in tables if isinstance(table, model)), model())

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

    def said_by(self, key: str) -> str:
        """The kind of source that a setting comes from."""
        return self.origins[key].kind if key in self.origins else "built in"

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
        at_root, relative = self.store_at_root, self._store_path
        if self.store_folder is None or at_root is None or relative is None:
            return None
        beside = self.store_folder / relative
        try:
            return beside if beside.is_file() and not (at_root.exists() and beside.samefile(at_root)) else None
        except OSError:  # behind a closed folder
            return None

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
        flags: tables made of command-line options; they win.
        of_its_own: files next to config.ini alone count, as for a job that gets its own.

    Raises UsageError: a file cannot be read or is not TOML, an unknown section or key, a wrong value.
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
    layers: list[tuple[Origin, Mapping[str, Any]]] = [(Origin("pyproject", str(pyproject)), own)] if pyproject else []
    if path:
        if toml and toml.suffix.lower() == ".ini":
            refuse_config_ini(toml)
        layers.append((Origin("file", str(path)), read_toml(path)))
    for origin, table in layers:
        refuse_secrets(str(origin), table)
    layers += from_environment(environ)
    layers.append((Origin("command line"), flags))
    root = path.parent if path else pyproject.parent if pyproject else folder
    if logs := usual_logs(root, folder):
        layers.insert(0, (Origin("built in"), {"csv": {"logs": logs}}))
    settings = merge(layers, root=root, toml=path)
    beside = Path() if not os.path.lexists(folder / "jpo.toml") and os.path.lexists("jpo.toml") else folder
    return replace(settings, store_root=root if path or pyproject else above[-1], store_folder=None if toml else beside)


def usual_logs(root: Path, folder: Path) -> list[str]:
    """Where jobs that start at the root or beside config.ini leave their logs unless they are told otherwise, as in [csv] logs.

    A folder that a link leads out of the project is none: whoever may change a branch may commit a link.
    """
    there: list[str] = []
    for name in dict.fromkeys(os.path.relpath(one / "runs", root) for one in (root, folder)):
        with suppress(OSError):
            there += [f"{name}/*.csv"] if followed(root / name).is_dir() else []
    return there


def _own_tables(folders: Sequence[Path]) -> tuple[Path | None, Mapping[str, Any]]:
    """The nearest pyproject.toml with a [tool.jpo], and what is in it."""
    for pyproject in (folder / "pyproject.toml" for folder in folders):
        if os.path.lexists(pyproject):
            tool = read_toml(pyproject).get("tool", {})
            tool = tool if isinstance(tool, Mapping) else {}
            if other := next((name for name in tool if name != "jpo" and name.lower() == "jpo"), None):
                raise UsageError(f"{pyproject}", f"unknown section [tool.{other}]", "write [tool.jpo]", code="JPO-E302")
            own = tool.get("jpo")
            if own is not None:
                return pyproject, own if isinstance(own, Mapping) else {"jpo": own}
    return None, {}


def refuse_config_ini(toml: Path) -> None:
    """Refuse (JPO-E301) a config.ini that --config names, even where it can be read as TOML: no section of it is jpo.toml's."""
    try:
        known = read_toml(toml).keys() & settings_model(None).model_fields.keys()
    except UsageError:
        known = set()
    if toml.exists() and not known - {"workload"}:
        remedy = f"did you mean it as the argument, `jpo suggest {toml}`? --config takes jpo.toml"
        raise UsageError(f"--config {toml}", "is not a jpo.toml", remedy, code="JPO-E301")


def merge(layers: list[tuple[Origin, Mapping[str, Any]]], *, root: Path, toml: Path | None) -> LoadedSettings:
    """Lay the tables over each other, later ones win, and validate the result."""
    tables: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, table in layers:
        overlay(tables, table, origins, origin)
    try:
        settings = settings_model(tables).model_validate(tables)
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


def promised_elsewhere(settings: LoadedSettings) -> Mapping[str, float]:
    """The SLA targets that pyproject.toml states, over which jpo.toml would win."""
    targets = settings.values.sla.targets
    return {name: targets[name] for name in targets if settings.said_by(f"sla.{name}") == "pyproject"}


def allow(settings: LoadedSettings, targets: Mapping[str, Any], *, replace_old: bool, file: Path) -> None:
    """Find out before they are written that these SLA targets would contradict the other settings; UsageError JPO-E302."""
    old = settings.tables.get("sla", {})
    tables = {name: settings.tables[name] for name in ("parameters", "prices") if name in settings.tables}
    sla = {**old, **targets} if replace_old else {**targets, **old}
    merge([(Origin("file", str(file)), {**tables, "sla": sla})], root=settings.root, toml=None)


def overlay(under: dict[str, Any], over: Mapping[str, Any], origins: dict[str, Origin], origin: Origin, prefix: str = "") -> None:
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
    """A URL without `user:password@`, query and fragment, however malformed it is.

    Where a ? or # stands before an @, it may be part of a password, or the @ of a query: then nothing but the scheme is shown.
    """
    start, _, rest = url.rpartition("@")
    scheme = start.partition("://")[0] + "://" if "://" in start else ""
    if re.search("[?#]", start):
        return f"{scheme}..."
    kept = rest if start else url
    return scheme + kept.partition("?")[0].partition("#")[0]


def refuse_secrets(origin: str, table: Mapping[str, Any]) -> None:
    """A token or password in a settings file ends up in version control: refuse it."""
    store = table.get("store", {})
    address = str(store.get("url", "")) if isinstance(store, Mapping) else ""
    if re.search(r"://[^/@:]*:[^/@]*@|[?&]password=", address):
        remedy = "leave the password to JPO_STORE__URL in the environment, PGPASSFILE or a client certificate"
        raise UsageError(origin, "[store] url contains a password", remedy, code="JPO-E303")
    server = table.get("prometheus", {})
    if not isinstance(server, Mapping):
        return
    auth, headers, url = server.get("auth", {}), server.get("headers", {}), str(server.get("url", ""))
    for name in set(SECRETS) & set(auth if isinstance(auth, Mapping) else ()):
        remedy = f"use {name}_file or JPO_PROMETHEUS__AUTH__{name.upper()}"
        raise UsageError(origin, f"[prometheus] auth contains a {name}", remedy, code="JPO-E303")
    for name in headers if isinstance(headers, Mapping) else ():
        if re.search("auth|cookie|key|secret|token", str(name).lower()):
            remedy = "use auth with token_file, or JPO_PROMETHEUS__HEADERS__... in the environment"
            raise UsageError(origin, f"[prometheus] headers contain {name}", remedy, code="JPO-E303")
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise UsageError(origin, "[prometheus] url contains credentials", "use auth, or PROMETHEUS_URL", code="JPO-E303")


def from_environment(environ: Mapping[str, str]) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    """PROMETHEUS_URL, JPO_PREFERENCE, JPO_SECTION__KEY (JPO_SECTION__TABLE__KEY): one layer each, so that origins name it."""
    if environ.get("PROMETHEUS_URL"):
        yield Origin("environment", "PROMETHEUS_URL"), {"prometheus": {"url": environ["PROMETHEUS_URL"]}}
    for variable, text in sorted(environ.items()):
        path = variable.removeprefix("JPO_").lower().split("__")
        if not variable.startswith("JPO_") or (len(path) < 2 and path != ["preference"]):
            section, _, key = variable.removeprefix("JPO_").lower().partition("_")
            if variable.startswith("JPO_") and key in SAFE_TABLES.get(section, ()):  # JPO_QUOTA_GPUS would be passed over
                remedy = f"write JPO_{section.upper()}__{key.upper()}"
                raise UsageError(f"environment {variable}", "is read by nobody, having one underscore", remedy, code="JPO-E302")
            continue
        if len(path) > DEEPEST:
            finding = f"names a setting of {len(path)} parts"
            raise UsageError(f"{variable:.80}", finding, "write JPO_SECTION__KEY", code="JPO-E302")
        value: Any = text
        if text.startswith(("[", "{")) and path[-1] not in SECRETS and "headers" not in path[:-1]:
            try:
                (value,) = toml_of(f"v = {text}").values()
            except ValueError as error:
                why = error.why if isinstance(error, NotToml) else str(error)
                raise UsageError(variable, f"is not a TOML value ({why})", 'write e.g. ["a", "b"]', code="JPO-E302") from error
        for name in reversed(path):
            value = {name: value}
        yield Origin("environment", variable), value
