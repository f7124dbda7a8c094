"""Lookup of options by the names that users and jpo.toml give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from jpo.config.locate import IniOption
from jpo.errors import UsageError, quoted


@dataclass(frozen=True, slots=True)
class OptionNames:
    """Names by which the options of a config.ini are found.

    Attributes:
        known: parameter -> well-known option names in lower case; they are looked up in every section. A team's own has one.
        known_identity: the same for dataset, model and framework, the most usual first.
        keys: parameter -> "section.option" where jpo.toml names it; it precedes `known`.
        identity_keys: the same for dataset, model and framework.
    """

    known: Mapping[str, tuple[str, ...]]
    known_identity: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, str] = field(default_factory=dict)
    identity_keys: Mapping[str, str] = field(default_factory=dict)


def named(options: Iterable[IniOption], names: Collection[str]) -> list[IniOption]:
    """Options of any section whose lower-case name is one of `names`."""
    return [option for option in options if option.name.lower() in names]


def keyed(options: Iterable[IniOption], entry: str, key: str, place: str) -> IniOption:
    """The option that jpo.toml's `entry` names by "section.option"; both parts may contain dots.

    Raises:
        UsageError: there is none, or dots make it two.
    """
    matching = [o for o in options if key.startswith(f"{o.section}.") and key[len(o.section) + 1 :].lower() == o.name.lower()]
    if len(matching) == 1:
        return matching[0]
    finding = f"{entry} = {quoted(key)} " + (f"could be two options of {place}" if matching else f"is not in {place}")
    remedy = "rename one of them" if matching else "correct the entry, or add that option to the file"
    raise UsageError("jpo.toml", finding, remedy, code="JPO-E207")


def ambiguous(what: str, candidates: Iterable[IniOption], place: str, entry: str) -> UsageError:
    """The error that several options could be meant, with the line of jpo.toml that decides: `entry` with KEY filled in."""
    first, *others = candidates
    where = " and ".join(f"{quoted(option.key)} (line {option.line})" for option in (first, *others[:3]))
    remedy = "say which in jpo.toml: " + entry.replace("KEY", key_of(first))
    return UsageError(place, f"{what} could be {where}", remedy, code="JPO-E206")


def key_of(option: IniOption) -> str:
    """The key of an option as it is written in jpo.toml."""
    plain = option.key.isprintable() and not set(option.key) & set('"\\')
    return f'"{option.key if plain else "section.option"}"'
