"""Unknown names in settings: a mistyped limit must not become a missing one, so each is refused with the name meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from constraints.names import WELL_KNOWN
from constraints.quoted import quoted

SECTIONS = (
    *("workload", "parameters", "prices", "sla", "metric", "preferences", "preference", "prometheus", "csv", "imports"),
    *("store", "agent", "check", "quota", "card", "phases", "launch", "plugins"),
)
"""All tables of jpo.toml; in [plugins] stand those of others' plugins. What is in those that hold no limit is jpo's to check."""
OF_PARAMETERS = (
    "limit",
    "limits",
    "constraint",
    "constraints",
    "bounds",
    "range",
    "ranges",
    "min",
    "max",
    "max_change",
    "freeze",
)
"""What limits of parameters are called by who does not remember where they stand."""


def meant(name: str, known: Iterable[str]) -> str | None:
    """The nearest of the known names; None where none is near."""
    return next(iter(difflib.get_close_matches(name.lower(), tuple(known), n=1)), None)


def remedy(name: str, known: Iterable[str]) -> str:
    """What to write instead of an unknown name."""
    known = tuple(known)
    near = meant(name, known)
    return f"did you mean {near}?" if near else f"known are {', '.join(known)}" if known else "take it out"


def section_remedy(name: str) -> str:
    """What to write instead of an unknown section."""
    parameter = next((known for known, spellings in WELL_KNOWN.items() if name.lower() in spellings), None)
    if parameter:
        return f"did you mean [parameters.{parameter}]?"
    if name.lower() in OF_PARAMETERS:
        return "limits of parameters belong in [parameters], e.g. batch_size = { max = 512, max_change = 2 }"
    return remedy(name, SECTIONS)


def refuse_unknown_sections(tables: Iterable[str]) -> None:
    """Raise ValueError for a section that jpo.toml does not have; one line, with the nearest that it has."""
    for name in tables:
        if name not in SECTIONS:
            raise ValueError(f"[{quoted(name).strip(chr(39))}]: unknown section; {section_remedy(name)}")


def table_of(tables: Mapping[str, object], name: str, known: Iterable[str] = (), *, place: str = "") -> Mapping[str, object]:
    """The table of that name, empty if absent; if known keys are given, it may contain no others."""
    table = tables.get(name)
    place = place or f"[{name}]"
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        raise ValueError(f"{place}: {quoted(table)} is not a table; write [{name}] and one key = value per line")
    unknown = sorted(str(key) for key in table if known and key not in known)
    if unknown:
        raise ValueError(f"{place}: unknown key {quoted(unknown[0])}; {remedy(unknown[0], known)}")
    return table
