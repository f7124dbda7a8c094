"""Options by the names which users and jpo.toml give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jpo.config.locate import IniOption
from jpo.config.source import shown
from jpo.errors import UsageError


def known(options: Iterable[IniOption], names: Collection[str]) -> list[IniOption]:
    """The options of any section whose lower-case name is one of `names`."""
    return [option for option in options if option.name.lower() in names]


def keyed(options: Iterable[IniOption], entry: str, key: str, place: str) -> IniOption:
    """The option which jpo.toml's `entry` names by "section.option"; both may hold dots themselves.

    Raises:
        UsageError: there is none, or dots make it two.
    """
    found = [o for o in options if key.startswith(f"{o.section}.") and key[len(o.section) + 1 :].lower() == o.name.lower()]
    if len(found) == 1:
        return found[0]
    finding = f"{entry} = {shown(key)} " + (f"could be two options of {place}" if found else f"is not in {place}")
    remedy = "rename one of them" if found else "correct the entry, or add that option to the file"
    raise UsageError("jpo.toml", finding, remedy, code="JPO-E207")


def which(what: str, found: Iterable[IniOption], place: str, entry: str) -> UsageError:
    """The complaint that several options could be meant, with the line of jpo.toml that decides: `entry` with KEY filled in."""
    first, *others = found
    where = " and ".join(f"{shown(option.key)} (line {option.line})" for option in (first, *others[:3]))
    key = first.key if first.key.isprintable() and not set(first.key) & set('"\\') else "section.option"
    remedy = "say which in jpo.toml: " + entry.replace("KEY", f'"{key}"')
    return UsageError(place, f"{what} could be {where}", remedy, code="JPO-E206")
