"""A platform described in TOML: processors, nodes made of them, clusters made of nodes. The format is in docs/plugins/cluster.md.

What is not known is refused by its key, so that a typing error is not a default.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, cast

from jpo.errors import UsageError, quoted
from jpo.files.reading import contents, toml
from jpo.plugins.cluster.platform.platform import (
    NodeGroup,
    NodeType,
    Platform,
    PowerShares,
    ProcessorType,
    ResizeCosts,
    Slowdowns,
)

MOST_BYTES = 1 << 20
MOST_CORES = 1_000_000
"""Of a platform: each is a few hundred bytes while jobs run."""
SMALLEST, LARGEST = 1e-9, 1e15
"""Of a number that is not 0: with others, times and energies would leave what a float holds."""
Table = Mapping[str, object]


def read_platform(path: Path) -> Platform:
    """The platform of a TOML file. Raises UsageError: JPO-E742, it cannot be read or describes none; names the key."""
    data = contents(path, MOST_BYTES, partial(unusable, path))
    try:
        return _platform(toml(data.decode()), path.stem)
    except UnicodeDecodeError as error:
        raise unusable(path, "is not UTF-8") from error
    except ValueError as error:
        raise unusable(path, str(error)) from error


def unusable(path: Path, finding: str) -> UsageError:
    return UsageError(str(path), finding, "the format is in docs/plugins/cluster.md", code="JPO-E742")


def _platform(tables: Table, name: str) -> Platform:
    known(tables, "the file", ("name", "processor", "node", "cluster", "slowdowns", "power", "elastic"))
    processors = {key: _table(value, f"processor.{key}") for key, value in _section(tables, "processor").items()}
    nodes = {key: _node(key, _table(value, f"node.{key}"), processors) for key, value in _section(tables, "node").items()}
    clusters = _list(tables.get("cluster", []), "cluster")
    groups = [group for place, value in enumerate(clusters, start=1) for group in _groups(value, place, nodes)]
    if not groups:
        raise ValueError("has no nodes: write [[cluster]] with nodes = [{ type = ..., count = ... }]")
    slowdowns = _section(tables, "slowdowns", ("nodes", "clusters", "conflict"))
    power = _section(tables, "power", ("beside_busy", "idle"))
    elastic = _section(tables, "elastic", ("serial_share", "resize_seconds", "cooldown_seconds"))
    if isinstance(conflict := slowdowns.get("conflict"), str) and conflict != "proportional":
        raise ValueError(f"slowdowns: conflict = {quoted(conflict)} is neither a number from 0 to 1 nor 'proportional'")
    apart = Slowdowns(**numbers(slowdowns, "slowdowns", but=("conflict",) if isinstance(conflict, str) else ()))
    platform = Platform(
        text(tables, "name", "the file", default=name),
        tuple(groups),
        replace(apart, conflict=None) if conflict == "proportional" else apart,
        PowerShares(**numbers(power, "power")),
        ResizeCosts(**numbers(elastic, "elastic")),
    )
    size = sum(group.count * sum(processor.cores for processor in group.node.processors) for group in groups)
    if size > MOST_CORES:
        raise ValueError(f"has {size} cores, more than {MOST_CORES}")
    return platform


def _groups(value: object, place: int, nodes: Mapping[str, NodeType]) -> Iterator[NodeGroup]:
    cluster = _table(value, f"cluster {place}")
    known(cluster, f"cluster {place}", ("name", "nodes"))
    name = text(cluster, "name", f"cluster {place}", default=f"cluster-{place}")
    where = f"cluster {name}: nodes"
    for part in _list(cluster.get("nodes", []), where):
        kind, count = _type_and_count(part, where)
        if kind not in nodes:
            raise ValueError(f"cluster {name}: there is no [node.{kind}]")
        yield NodeGroup(name, nodes[kind], count)


def _type_and_count(value: object, where: str) -> tuple[str, int]:
    table = _table(value, where)
    known(table, where, ("type", "count"))
    return text(table, "type", where), whole(table, "count", where, default=1)


def _node(name: str, table: Table, processors: Mapping[str, Table]) -> NodeType:
    where = f"node.{name}"
    known(table, where, ("processors", "memory_gib", "usd_per_hour"))
    built: list[ProcessorType] = []
    for value in _list(table.get("processors", []), f"{where}.processors"):
        kind, count = _type_and_count(value, f"{where}.processors")
        if kind not in processors:
            raise ValueError(f"{where}: there is no [processor.{kind}]")
        built += _processors(kind, processors[kind], count)
    return NodeType(name, tuple(built), **numbers(table, where, but=("processors",)))


def _processors(name: str, table: Table, count: int) -> list[ProcessorType]:
    """So many of a type in one node: each socket by itself, GPUs as one processor whose cores they are."""
    where = f"processor.{name}"
    known(table, where, ("kind", "cores", "speed", "speeds", "watts", "bandwidth_gbps"))
    kind = text(table, "kind", where)
    if kind not in ("cpu", "gpu"):
        raise ValueError(f"{where}: kind = {quoted(kind)} is neither cpu nor gpu")
    if kind == "gpu" and "cores" in table:
        raise ValueError(f"{where}: GPUs are given out whole; leave out cores")
    speeds = _table(table.get("speeds", {}), f"{where}.speeds")
    cores = count if kind == "gpu" else whole(table, "cores", where)
    own, of_classes = numbers(table, where, but=("kind", "cores", "speeds")), numbers(speeds, f"{where}.speeds")
    one = ProcessorType(name, cast(Literal["cpu", "gpu"], kind), cores, speeds=of_classes, **own)
    return [one] if kind == "gpu" else [one] * count


def known(table: Table, where: str, keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise ValueError(f"{where}: {quoted(key)} is unknown; known are {', '.join(keys)}")


def number(table: Table, key: str, where: str, *, default: float | None = None) -> float:
    """A number from 0; one that is not 0 is within what sums of it can hold."""
    value = table.get(key, default)
    if value is default and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise _wrong(table, key, where, "a number from 0")
    if value and not SMALLEST <= value <= LARGEST:
        raise ValueError(f"{where}: {key} = {quoted(value)} is neither 0 nor between {SMALLEST} and {LARGEST:g}")
    return float(value)


def numbers(table: Table, where: str, *, but: tuple[str, ...] = ()) -> dict[str, float]:
    """The numbers that a table says; what it leaves out is as records have it."""
    return {key: number(table, key, where) for key in table if key not in but}


def whole(table: Table, key: str, where: str, *, default: int | None = None) -> int:
    """A whole number from 1 to MOST_CORES."""
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_CORES:
        raise _wrong(table, key, where, f"a whole number from 1 to {MOST_CORES}")
    return value


def text(table: Table, key: str, where: str, *, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value:
        raise _wrong(table, key, where, "a text")
    return value


def _wrong(table: Table, key: str, where: str, wanted: str) -> ValueError:
    finding = f"= {quoted(table[key])} is not {wanted}" if key in table else "is missing"
    return ValueError(f"{where}: {key} {finding}")


def _section(tables: Table, name: str, keys: tuple[str, ...] | None = None) -> Table:
    """A table of the file, empty if absent; `keys`: what it may have, None: names of its own."""
    found = _table(tables.get(name, {}), name)
    if keys:
        known(found, name, keys)
    return found


def _table(value: object, where: str) -> Table:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not a table")
    return cast(Table, value)


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{where} is not a list")
    return value
