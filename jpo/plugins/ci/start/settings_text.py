"""A commented jpo.toml for a config.ini: what was found in it, the limits that hold anyway, and what else can be said.

It is a start to be edited: with it JPO does the same as without. Each line of [parameters] is tried before it is written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jpo.errors import UsageError
from jpo.files.reading import toml
from jpo.plugins.ci.start.left_open import Chosen
from jpo.project.load import LoadedSettings, merge
from jpo.project.tables.faults import Origin
from jpo.project.workload import NOT_FREED, limits_of, read_workload
from jpo.records import Parameter, Workload
from jpo.wording.numbers import plain
from jpo.wording.printable import printable

HEAD = """\
# What JPO may change in {config}, within which limits, and what matters to you. Made by `jpo init`.
# With these lines JPO does the same as without this file: every one may be changed or deleted. `jpo config check` reads it again.
# Secrets do not belong here: JPO_PROMETHEUS__AUTH__TOKEN, JPO_STORE__URL and the like are for the environment.

[workload]
{workload}

[parameters]
# What was found. Limits behind the # apply without a word here; more are choices, multiple_of, step = "pow2" and freeze = true.
"""
TAIL = """\
# What an hour costs, so that runs have a cost. Without prices they have none, and resources are weighed at usual prices.
# [prices]
# usd_per_gpu_hour = 2.50
# usd_per_cpu_hour = 0.04

# What matters to you; the weights sum to 1.
# [preference]
# time = 0.5
# cost = 0.5

# What every run must keep.
# [sla]
# time_max = "6h"
# cost_max = 20.0
"""
SOURCES = """
# Where finished runs are found: Prometheus, and the CSV logs that runlog writes. Both may be used.
{prometheus}
# [csv]
# logs = ["runs/*.csv"]

"""


def settings_text(
    workload: Workload,
    settings: LoadedSettings,
    chosen: Sequence[Chosen] = (),
    *,
    config: str,
    prometheus_url: str | None,
    now: float,
) -> str:
    """The text of jpo.toml.

    Args:
        chosen: lines without which config.ini leaves something open; `settings` have them.
        config: config.ini as jpo.toml names it.
        prometheus_url: an address that may be written into a file; None: it is left to the environment.
    """
    named = quoted(config)
    said = f"config = {named}" if named else '# config = "config.ini"'
    said = "\n".join((said, *lines_of("workload", chosen)))
    if prometheus_url and (address := quoted(prometheus_url)):
        prometheus = f"[prometheus]\nurl = {address}\n"
    else:
        prometheus = '# [prometheus]\n# url = "http://prometheus:9090"  # or PROMETHEUS_URL in the environment\n'
    lines = "\n".join(missing_lines(workload, settings, chosen, now=now, all_of_them=True))
    head = HEAD.format(config=printable(config), workload=said)
    return f"{head}{lines}\n{SOURCES.format(prometheus=prometheus)}{TAIL}"


def parameter_lines(workload: Workload, settings: LoadedSettings, *, now: float) -> Iterator[tuple[str, str]]:
    """A line for each parameter, by its term: one that JPO may change, or a comment with the reason why it stays as it is."""
    free = [p for p in workload.parameters if not p.held and same_with([p], workload, settings, now=now)]
    if not same_with(free, workload, settings, now=now):
        free = []
    for p in workload.parameters:
        entry = _entry(p)
        if p in free:
            yield p.term, f"{entry}  # {_limits(p, settings)}"
        elif entry:
            why = f"stays {printable(p.text)}: {printable(p.held.text)}" if p.held else "found by its name alone"
            how = "; take the first # away to free it" if p.held and p.held.code == NOT_FREED.code else ""
            yield p.term, f"# {entry}  # {why}{how}"


def missing_lines(
    workload: Workload, settings: LoadedSettings, chosen: Sequence[Chosen] = (), *, now: float, all_of_them: bool = False
) -> tuple[str, ...]:
    """The lines of [parameters] that are not in jpo.toml yet, those that were chosen among them."""
    named = settings.tables.get("parameters", {})
    said = set(named if isinstance(named, Mapping) and not all_of_them else ())
    decided = {line.partition(" ")[0]: line for line in lines_of("parameters", chosen)}
    lines = {term: line for term, line in parameter_lines(workload, settings, now=now) if term not in said}
    return tuple((lines | decided).values())


def lines_of(table: str, chosen: Sequence[Chosen]) -> tuple[str, ...]:
    """The chosen lines of a table, each with those that might stand in its place."""
    return tuple(
        "  # config.ini leaves it open; or: ".join((one.line, " or ".join(one.others))) if one.others else one.line
        for one in chosen
        if one.table == table
    )


def same_with(some: Sequence[Parameter], workload: Workload, settings: LoadedSettings, *, now: float) -> bool:
    """Whether config.ini means the same once jpo.toml names these parameters."""
    try:
        tables: Mapping[str, Any] = toml("[parameters]\n" + "\n".join(map(_entry, some)))
        layers = [(Origin("file", "settings"), settings.tables), (Origin("file", "jpo.toml"), tables)]
        named = merge(layers, root=settings.root, toml=None)
        found = read_workload(workload.path, named, now=now, content=workload.on_disk)
    except (UsageError, ValueError):  # a key that could be two options, or that TOML cannot say
        return False
    return (found.parameters, found.identity, found.terms) == (workload.parameters, workload.identity, workload.terms)


def quoted(text: str) -> str:
    """A TOML string; empty where TOML has none for it (half a character of a file name that is no UTF-8)."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return ""
    signs = (sign if sign.isprintable() and sign not in '"\\' else f"\\U{ord(sign):08X}" for sign in text)
    return f'"{"".join(signs)}"'


def _entry(parameter: Parameter) -> str:
    key = quoted(parameter.key)
    return f"{parameter.term} = {{ key = {key} }}" if key else ""


def _limits(parameter: Parameter, settings: LoadedSettings) -> str:
    limit = limits_of(settings).parameters.get(parameter.term)
    if limit is None:
        return "no limits"
    given: Iterable[tuple[str, float | None]] = (("min", limit.low), ("max", limit.high), ("max_change", limit.max_change))
    said = [f"{name} = {plain(value)}" for name, value in given if value is not None and abs(value) != float("inf")]
    return ", ".join(said) or "no limits"
