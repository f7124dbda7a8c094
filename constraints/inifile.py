"""config.ini as the second look reads it: its values, the parameters among them, and what else differs between two files.

Independent of jpo's own reader on purpose. What it does not understand is not a parameter to it, and must then not change.
"""

from __future__ import annotations

import configparser
import datetime
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from constraints.limit import Limit
from constraints.limits import Limits
from constraints.names import COUNTS, LENIENT, WELL_KNOWN, parse_value
from constraints.own import read_value
from constraints.printable import printable
from constraints.quoted import quoted
from constraints.verdict import Violation
from constraints.words import Word

MAX_BYTES = 16 << 20  # a larger file is not a config.ini
REFERENCE = re.compile(r"%\(([^)]{1,200})\)s")  # no option has a longer name, and each of a million `%(` is looked at no farther
MOST_USERS = 3
DEEPEST = 10  # references of references that configparser follows
NO_DEFAULTS = "\0"  # a name that no section has: [DEFAULT] is a section like the others then

Key = tuple[str, str]  # (section, option in lower case)


@dataclass(frozen=True, slots=True)
class IniFile:
    """Contents of a config.ini: its bytes, sections, every value as written with its inline comment (None: an option without
    value), and the comment lines directly above an option."""

    path: Path
    data: bytes
    sections: frozenset[str]
    values: Mapping[Key, str | None]
    above: Mapping[Key, str]


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """A parameter in a file: the key whose text says its number, the number, and the comments that belong to it.

    `chain` are the keys that are read for it: the last is `key`, the others refer to it (`learning_rate = %(lr)s`).
    """

    key: Key
    value: float
    comment: str
    chain: tuple[Key, ...] = ()


def read(path: Path) -> IniFile:
    """A config.ini read as configparser does, without interpolation; UTF-8 with or without BOM, else Latin-1.

    Raises:
        ValueError: it cannot be read or understood; one line, `place: finding; remedy`.
    """
    data = read_bytes(path)
    parser = configparser.ConfigParser(interpolation=None, default_section=NO_DEFAULTS, allow_no_value=True)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = io.StringIO(text, newline=None).readlines()  # newline=None: CRLF and CR end lines, as in a file opened as text
    try:
        parser.read_file(lines)
    except configparser.DuplicateSectionError as error:
        raise ValueError(f"{path}:{error.lineno}: section {quoted(error.section)} appears again; keep one of them") from error
    except configparser.DuplicateOptionError as error:
        name = f"{error.section}.{error.option}"
        raise ValueError(f"{path}:{error.lineno}: {quoted(name)} appears again; keep one of them") from error
    except configparser.MissingSectionHeaderError as error:
        raise ValueError(f"{path}:{error.lineno}: no section yet; put a line like [training] before it") from error
    except configparser.ParsingError as error:
        raise ValueError(f"{path}:{error.errors[0][0]}: is not option = value; correct or remove the line") from error
    except AttributeError as error:  # Python < 3.13 on such a line
        raise ValueError(f"{path}: an indented line continues an option that has no value; remove its blanks") from error
    values = {(section, option): value for section in parser.sections() for option, value in parser[section].items()}
    return IniFile(path, data, frozenset(parser.sections()), values, _comments_above(lines))


def read_bytes(path: Path) -> bytes:
    """The content of a plain file of reasonable size."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:  # Path.open takes no opener
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{path}: is not a plain file; name a file")
            data = file.read(MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise ValueError(f"{path}: is not a plain file; name a file") from error
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}); name an existing file") from error
    if len(data) > MAX_BYTES:
        raise ValueError(f"{path}: is larger than 16 MiB; name a config.ini")
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # otherwise opening a pipe waits for its writer


def split_comment(written: str) -> tuple[str, str]:
    """A value as written -> (value, inline comment). A comment starts at a # or ; that follows a blank or opens the value."""
    text, comment = re.fullmatch(r"(?s)(.*?)((?:(?:^|\s)[#;].*)?)", written).groups()  # type: ignore[union-attr]  # it matches any text
    return text.strip(), comment.strip()


def find_parameters(ini: IniFile, limits: Limits) -> tuple[dict[str, ParameterValue], list[str]]:
    """Parameters of a file by name, and a notice about each option that is named or looks like a parameter but is not used."""
    parameters, notices = {}, []
    claimed = {key for limit in limits.parameters.values() if limit.key for key in _named(ini, limit.key)}
    for name, limit in limits.parameters.items():
        well_known = (key for key in ini.values if key[1] in WELL_KNOWN.get(name, (name,)) and key not in claimed)
        keys = _named(ini, limit.key) if limit.key else list(well_known)
        candidates = []
        for key in keys:
            try:
                candidates.append(found_at(ini, name, key, limit))
            except ValueError as error:
                if limit.key or name not in COUNTS:
                    notices.append(f"{ini.path}: {error}; it must not change")
        origins = {key for candidate in candidates for key in candidate.chain[1:]}
        candidates = [c for c in candidates if c.chain[0] not in origins and (limit.key or name not in COUNTS or c.value >= 1)]
        if len(candidates) == 1:
            parameters[name] = candidates[0]
        elif candidates:
            where = " and ".join(dotted(candidate.chain[0]) for candidate in candidates)
            notices.append(f"{ini.path}: {name} is in {where}; say which in [parameters] {name} key; none may change")
        elif limit.key and not keys:
            notices.append(f"{ini.path}: there is no {limit.key}, which [parameters] {name} key names")
    for total, term in (("gpus", "gpus_per_node"), ("batch_size", "batch_size_per_device")):
        if not {total, term} <= parameters.keys():
            continue
        if keyed := [name for name in (total, term) if limits.parameters[name].key][:1]:
            del parameters[term if keyed == [total] else total]
        elif parameters[term].chain[0][1] in LENIENT:
            del parameters[term]
        else:
            where = " and ".join(dotted(parameters.pop(name).key) for name in (total, term))
            notices.append(f"{ini.path}: {total} is in {where}; say which in [parameters] {total} key; none may change")
    return parameters, notices


def found_at(ini: IniFile, name: str, key: Key, limit: Limit) -> ParameterValue:
    """The parameter with the value of this key, or of the one to which it refers.

    Raises:
        ValueError: there is none, or it is not a number that can be understood.
    """
    chain = chain_of(ini, key)
    texts = [split_comment(ini.values[one] or "") for one in chain]
    value = _value(name, chain[0][1], texts[-1][0], limit)
    if value is None:
        raise ValueError(f"{dotted(key)} = {quoted(texts[-1][0])} has no unit; write e.g. 16Gi")
    comments = (f"{ini.above.get(one, '')} {comment}".strip() for one, (_, comment) in zip(chain, texts, strict=True))
    return ParameterValue(chain[-1], value, " ".join(comments).strip(), chain)


def _value(name: str, option: str, text: str, limit: Limit) -> float | None:
    if name in WELL_KNOWN:
        return parse_value(name, option, text)
    value = read_value(option, text, limit)
    return Word(value) if isinstance(value, str) else value


def chain_of(ini: IniFile, key: Key) -> tuple[Key, ...]:
    """A key and those that are read for it, one after the other: `%(lr)s` is lr of its section, else of [DEFAULT].

    Raises:
        ValueError: one of them is missing, or has no value on one line.
    """
    chain = [key]
    while True:
        written = ini.values.get(chain[-1])
        if written is None or "\n" in written:
            raise ValueError(f"{dotted(chain[-1])} {'has no value' if written is None else 'spans several lines'}")
        reference = REFERENCE.fullmatch(split_comment(written)[0])
        if reference is None:
            return tuple(chain)
        chain.append(_referred(ini, key[0], reference[1]))
        if len(chain) > DEEPEST:
            raise ValueError(f"{dotted(key)} refers to itself, or through too many others")


def users(ini: IniFile, parameter: ParameterValue) -> list[Key]:
    """Some of the keys besides the parameter's own that say something else when its text changes, because they refer to it."""
    referring: dict[tuple[str, str], list[Key]] = {}
    for key, written in ini.values.items():
        for name in set(REFERENCE.findall((written or "").replace("%%", ""))):
            referring.setdefault((key[0], name.lower()), []).append(key)
    own = parameter.key[0]
    waiting = [(section, parameter.key) for section in ({own, *(key[0] for key in referring)} if own == "DEFAULT" else {own})]
    seen, found = set(waiting), set[Key]()
    while waiting and len(found) < MOST_USERS:
        section, read = waiting.pop()
        if _referred(ini, section, read[1]) != read:
            continue  # the section has a key of that name itself
        for key in (*referring.get((section, read[1]), ()), *referring.get(("DEFAULT", read[1]), ())):
            if (section, key) not in seen:
                seen.add((section, key))
                waiting.append((section, key))
                found |= {key} - set(parameter.chain)
    return sorted(found)


def _referred(ini: IniFile, section: str, name: str) -> Key:
    own = (section, name.lower())
    return own if own in ini.values else ("DEFAULT", name.lower())


def held_by(comment: str, today: datetime.date) -> str | None:
    """The reason why a comment holds its value: `# jpo: pin`, or `# jpo: ignore until 2027-01-01` until that day; else None."""
    if re.search(r"(?i)[#;]\s*jpo:\s*pin\b", comment):
        return "pinned in config.ini"
    for until in re.findall(r"(?i)[#;]\s*jpo:\s*ignore\s+until\s+([\w-]+)", comment):
        try:
            over = today >= datetime.date.fromisoformat(until)
        except ValueError:
            over = False  # a date that cannot be read holds
        if not over:
            return f"frozen in config.ini until {until}"
    return None


def other_changes(before: IniFile, after: IniFile, tuned: frozenset[Key]) -> Iterator[Violation]:
    """Violations for what differs besides the numbers of the tuned keys. Names only: a config.ini may contain passwords."""
    for section in sorted(before.sections ^ after.sections):
        yield _changed(f"[{section}]", "added" if section in after.sections else "removed")
    for key in sorted(before.values.keys() | after.values.keys()):
        old, new = before.values.get(key), after.values.get(key)
        if key not in before.values or key not in after.values:
            if key[0] in before.sections & after.sections:
                yield _changed(dotted(key), "added" if key in after.values else "removed")
        elif key in tuned and old is not None and new is not None:
            if split_comment(old)[1] != split_comment(new)[1]:
                yield _changed(f"the comment of {dotted(key)}", "changed")
        elif old != new:
            yield _changed(dotted(key), "changed")


def followed(key: Key, origin: Key) -> Violation:
    """The violation that a key says something else because it refers to one that was changed."""
    return _changed(dotted(key), f"changed with {dotted(origin)}, to which it refers")


def dotted(key: Key) -> str:
    """A key as `section.option`, printable."""
    return printable(".".join(key))


def _comments_above(lines: Iterable[str]) -> dict[Key, str]:
    """The comment lines directly above each option. A line that only looks like an option may add to them, never take away."""
    above: dict[Key, str] = {}
    section, pending = "", ""
    for line in map(str.strip, lines):
        if line.startswith(("#", ";")):
            pending = f"{pending} {line}"
            continue
        if header := re.match(r"\[(.+)\]", line):
            section = header[1]
        elif pending and line:
            key = (section, re.split("[=:]", line, maxsplit=1)[0].strip().lower())
            above[key] = above.get(key, "") + pending
        pending = ""
    return above


def _changed(what: str, how: str) -> Violation:
    what = printable(what)
    return Violation(
        what, how, "unchanged", "nothing_else_changes", f"{what} was {how}; only the values of parameters may differ"
    )


def _named(ini: IniFile, key: str) -> list[Key]:
    """The keys that `section.option` may mean; both names may contain dots."""
    dots = [at for at, character in enumerate(key) if character == "."]
    return [place for at in dots if (place := (key[:at], key[at + 1 :].lower())) in ini.values]
