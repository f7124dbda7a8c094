"""Location of each option of config.ini (line, columns of its value, comments that belong to it), and options by name.

Python's configparser itself determines the lines, so that there is no second grammar which could disagree with what training code
reads. configupdater is not used here: its time grows with the square of a section's options (16,000 take 3 s).
"""

import configparser
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.config.source import Source
from jpo.errors import UsageError, quoted

DELIMITER = re.compile("[=:]")
COMMENT = re.compile(r"(?<=\s)[#;]")
"""Where an inline comment starts, as configparser's inline_comment_prefixes=("#", ";") has it."""


@dataclass(frozen=True, slots=True)
class IniOption:
    """One option of the file.

    Attributes:
        section, name: as written.
        line: 1-based line on which it starts.
        start, end: columns of the value in that line, in characters.
        text: the value on that line without inline comment and surrounding blanks; empty when there is none.
        tail: the rest of the line after the value.
        value: what configparser reads without inline comments; None for an option without a delimiter.
        one_line: False when the value continues on later lines.
        above: the comment lines directly above, with their line numbers.
    """

    section: str
    name: str
    line: int
    start: int = field(compare=False)
    end: int = field(compare=False)
    text: str
    tail: str
    value: str | None
    one_line: bool
    above: tuple[tuple[int, str], ...]

    @property
    def key(self) -> str:
        """The option's name in jpo.toml and messages."""
        return f"{self.section}.{self.name}"


@dataclass(frozen=True, slots=True)
class OptionNames:
    """Names by which the options of a config.ini are found.

    Attributes:
        known: parameter -> well-known option names in lower case; they are looked up in every section. A team's own has one.
        known_identity: the same for dataset, model and framework, the most usual first.
        keys: parameter -> "section.option" where jpo.toml names it; it precedes `known`.
        identity_keys: the same for dataset, model and framework.
        said: dataset, model and framework as jpo.toml says them for this file; they precede what the file says.
        unsaid: the same for a file that does not say them itself.
    """

    known: Mapping[str, tuple[str, ...]]
    known_identity: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, str] = field(default_factory=dict)
    identity_keys: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    unsaid: Mapping[str, str] = field(default_factory=dict)


class Undecided(UsageError):
    """Something that config.ini leaves open and a line of jpo.toml decides.

    `choices`: such lines, each with its table, the likeliest first; `missing`: parts of the identity that are said nowhere.
    """

    def __init__(
        self, place: str, finding: str, remedy: str, *, code: str, choices: Sequence[str] = (), missing: Sequence[str] = ()
    ) -> None:
        super().__init__(place, finding, remedy, code=code)
        self.choices, self.missing = tuple(choices), tuple(missing)


def locate(source: Source, place: str) -> tuple[IniOption, ...]:
    """Options of the file, in its order. Raises UsageError where configparser cannot read the file."""
    reader = _Reader(inline_comments=False)
    try:
        reader.read_file(reader.numbered(source))
    except (configparser.Error, AttributeError) as error:  # AttributeError: Python < 3.13 on a line that continues a lone key
        raise _unreadable(error, reader.line, place) from error
    starts = tuple(reader.starts)
    rows = ((section, value) for section in reader.sections() for _, value in reader.items(section))
    return tuple(_option(section, name, line, value, source) for (section, value), (line, name) in zip(rows, starts, strict=True))


def values_with_inline_comments(source: Source) -> dict[tuple[str, str], str | None] | None:
    """Values that training code reads if it lets configparser strip inline comments: (section, lower-case option) -> value.

    None when it cannot read the file: then no such code reads it.
    """
    reader = _Reader(inline_comments=True)
    try:
        reader.read_file(reader.numbered(source))
    except (configparser.Error, AttributeError):
        return None
    return {(section, option): value for section in reader.sections() for option, value in reader.items(section)}


class _Reader(configparser.ConfigParser):
    """A configparser that records where options start: it calls `optionxform` exactly once for each of them, on its line."""

    def __init__(self, *, inline_comments: bool) -> None:
        super().__init__(
            interpolation=None,
            allow_no_value=True,
            inline_comment_prefixes=("#", ";") if inline_comments else None,
            default_section="\n",  # no header can hold it: [DEFAULT] is then a section like others
        )
        self.line = 0
        self.starts: list[tuple[int, str]] = []

    def numbered(self, source: Source) -> Iterator[str]:
        """The lines as a text file yields them, each counted when configparser takes it."""
        for self.line, line in enumerate(source.lines, start=1):
            yield line.rstrip("\r\n") + "\n"

    def optionxform(self, optionstr: str) -> str:
        self.starts.append((self.line, optionstr))
        return optionstr.lower()


def _option(section: str, name: str, line: int, value: str | None, source: Source) -> IniOption:
    written = source.lines[line - 1].rstrip("\r\n")
    delimiter = DELIMITER.search(written)
    after = delimiter.end() if delimiter else len(written)
    comment = COMMENT.search(written, after)
    room = written[after : comment.start() if comment else len(written)]
    text = room.strip()
    start = after + len(room) - len(room.lstrip()) if text else after
    end = start + len(text)
    one_line = (value or "") == written[after:].strip()
    first = line
    while first > 1 and source.lines[first - 2].strip().startswith(("#", ";")):
        first -= 1
    above = tuple((number, source.lines[number - 1]) for number in range(first, line))
    return IniOption(section, name, line, start, end, text, written[end:], value, one_line, above)


def _unreadable(error: configparser.Error | AttributeError, line: int, place: str) -> UsageError:
    """configparser's error as a UsageError, with line and remedy."""
    match error:
        case configparser.DuplicateSectionError():
            finding, remedy = f"section {quoted(error.section)} appears a second time", "merge the two"
        case configparser.DuplicateOptionError():
            finding = f"option {quoted(error.option)} appears a second time in section {quoted(error.section)}"
            remedy = "delete one of the two"
        case configparser.MissingSectionHeaderError():
            finding, remedy = "there is no [section] above this line", "put a line such as [training] above it"
            if place.endswith(".toml"):
                remedy = f"did you mean --config {place}?"
        case configparser.ParsingError(errors=[(int(first), _), *_]):
            line, finding, remedy = first, "an option needs a name", "write name = value"
        case _:
            finding = "continues an option which has no value"
            remedy = "remove the blanks at its start, or write name = value above"
    return UsageError(f"{place}:{line}", finding, remedy, code="JPO-E203")


def named(options: Iterable[IniOption], names: Collection[str]) -> list[IniOption]:
    """Options of any section whose lower-case name is one of `names`."""
    return [option for option in options if option.name.lower() in names]


def keyed(options: Iterable[IniOption], entry: str, key: str, place: str) -> IniOption:
    """The option that jpo.toml's `entry` names by "section.option"; both parts may contain dots.

    UsageError where there is none, or dots make it two.
    """
    matching = [o for o in options if key.startswith(f"{o.section}.") and key[len(o.section) + 1 :].lower() == o.name.lower()]
    if len(matching) == 1:
        return matching[0]
    finding = f"{entry} = {quoted(key)} " + (f"could be two options of {place}" if matching else f"is not in {place}")
    remedy = "rename one of them" if matching else "write section and option as the file has them, or add the option to it"
    raise UsageError("jpo.toml", finding, remedy, code="JPO-E207")


def ambiguous(what: str, candidates: Iterable[IniOption], place: str, entry: str) -> Undecided:
    """The error that several options could be meant, with the line of jpo.toml that decides: `entry` with KEY filled in."""
    some = tuple(candidates)
    where = " and ".join(f"{quoted(option.key)} (line {option.line})" for option in some[:4])
    choices = [entry.replace("KEY", key_of(option)) for option in some]
    remedy = "say which in jpo.toml: " + choices[0]
    return Undecided(place, f"{what} could be {where}", remedy, code="JPO-E206", choices=choices)


def key_of(option: IniOption) -> str:
    """The key of an option as it is written in jpo.toml."""
    plain = option.key.isprintable() and not set(option.key) & set('"\\')
    return f'"{option.key if plain else "section.option"}"'
