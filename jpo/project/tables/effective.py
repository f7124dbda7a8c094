"""Settings as `jpo config show` lists them: each that has a value, as a file wrote it, and where it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from constraints.unknown import SECTIONS
from jpo.project.load import SECRETS, LoadedSettings, without_credentials
from jpo.project.plugins.tables import settings_model


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that has a value.

    Attributes:
        path: its tables and its key.
        value: as a file wrote it, else as it was understood; without secrets.
        origin: where it comes from.
        exact: False where a part of it is a secret, so that it would not mean the same elsewhere.
    """

    path: tuple[str, ...]
    value: object
    origin: str
    exact: bool = True


def effective(settings: LoadedSettings) -> Iterator[Setting]:
    """Every setting that has a value, with where it comes from."""
    but = {"preference", "preferences"}  # as written, further down; of plugins that jpo.toml does not name, the defaults
    found = {
        **settings_model(None)().model_dump(mode="json", exclude=but),
        **settings.values.model_dump(mode="json", exclude=but),
    }
    for path, value in _flat({name: found[name] for name in sorted(found, key=SECTIONS.index)}):
        key = ".".join(path)
        kind, origin = settings.said_by(key), str(settings.origins.get(key, "built in"))
        if key in ("prometheus.url", "store.url"):
            shown = without_credentials(str(value))
            yield Setting(path, shown, origin, exact=shown == value)
        elif key.startswith("prometheus.headers.") or path[-1] in SECRETS:
            yield Setting(path, value, origin, exact=False)
        else:
            written: Any = settings.tables  # "6h" where it is 21600 seconds
            for part in path:
                written = written.get(part) if isinstance(written, Mapping) else None
            in_file = written is not None and kind in ("file", "pyproject")
            yield Setting(path, written if in_file else value, origin)
    for path, value in _flat({name: settings.tables.get(name) for name in ("preference", "preferences")}):
        names = (".".join(path[:n]) for n in range(len(path), 0, -1))
        named = (settings.origins[name] for name in names if name in settings.origins)
        yield Setting(path, value, str(next(named, "built in")))
    if "preference" not in settings.tables:
        built_in = {name: weight for name, weight in settings.values.preference.model_dump(exclude_none=True).items() if weight}
        yield from (Setting(("preference", name), weight, "built in") for name, weight in built_in.items())


def _flat(tables: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Paths and values; what is not set is left out."""
    for name, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, (*path, name))
        elif value is not None and value != {}:
            yield (*path, name), value
