"""Workload of a config.ini: which job it describes, what JPO may tune there, and what is pinned.

The caller provides the names of options and the function from text to number: the guard owns both. Nothing is guessed: where two
options could be meant, the user says which.
"""

import datetime
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType

from jpo.config.identity import find_identity
from jpo.config.interpolation import Interpolation, Resolved
from jpo.config.locate import IniOption, OptionNames, ambiguous, keyed, locate, named
from jpo.config.source import Source, contents, decode
from jpo.config.terms import Found, in_terms
from jpo.errors import UsageError, quoted
from jpo.records import COUNTS, LARGEST_VALUE, PARAMETERS, SMALLEST_VALUE, Note, Parameter, Word, Workload

ParseValue = Callable[[str, str, str], float | None]


@dataclass(frozen=True, slots=True)
class _File:
    """A config.ini once it is read: its options, the references between them, and what messages call it."""

    options: tuple[IniOption, ...]
    references: Interpolation
    place: str


def read(
    path: Path,
    *,
    names: OptionNames,
    parse_value: ParseValue,
    frozen: Mapping[str, Note] = MappingProxyType({}),
    today: datetime.date,
    content: bytes | None = None,
) -> Workload:
    """The training job that config.ini describes.

    Args:
        path: the file; a symlink is followed.
        parse_value: (parameter, option, text) -> number in JPO's unit, None where the unit is unknown; raises ValueError.
        frozen: parameters that must not change, with the reason.
        today: `jpo: ignore until` holds before its date.
        content: what is read in place of the file; None: the file.

    Raises UsageError: the file cannot be read, is ambiguous, has no identity or nothing to tune.
    """
    data, place = contents(path) if content is None else content, str(path)
    source = decode(data, place)
    options = locate(source, place)
    refuse_strays(source, options, place)
    file = _File(options, Interpolation(options, place), place)
    known = dict.fromkeys((*PARAMETERS, *COUNTS, *names.known))
    found = {name: _found(name, file, names, parse_value, frozen.get(name), today) for name in known}
    parameters, terms = in_terms(found, names.keys, place)
    by_key: dict[str, Parameter] = {}
    for parameter in parameters:
        if (other := by_key.setdefault(parameter.key, parameter)) is not parameter:
            finding = f"{other.name} and {parameter.name} are both {quoted(parameter.key)} of {place}"
            raise UsageError("jpo.toml", finding, "give each its own key", code="JPO-E207")
    if not parameters:
        remedy = 'name what JPO may change in jpo.toml: [parameters] batch_size = { key = "section.option" }'
        raise UsageError(place, "contains no parameter that JPO knows", remedy, code="JPO-E205")
    read_lines = {line for one in found.values() if one for line in one.lines}
    others = tuple((o.key, o.line, o.text) for o in options if o.one_line and o.key.isprintable() and o.line not in read_lines)
    return Workload(find_identity(options, names, file.references, place), parameters, path, data, terms, others)


def _found(
    name: str, file: _File, names: OptionNames, parse_value: ParseValue, frozen: Note | None, today: datetime.date
) -> Found | None:
    """The number that the file has for one name, None where it has none."""
    asked = name in names.keys
    if asked:
        candidates = [keyed(file.options, f"parameters.{name}.key", names.keys[name], file.place)]
    else:
        said = {key.lower() for key in names.keys.values()}  # jpo.toml says what these are, so that their names do not
        candidates = [option for option in named(file.options, names.known.get(name, ())) if option.key.lower() not in said]
    per_node = "gpus_per_node" in names.keys or named(file.options, names.known.get("gpus_per_node", ()))
    if name == "nodes" and not asked and not per_node:
        return None  # all GPUs are said: nodes say nothing, and several of them no contradiction
    pins = {option: held(option, file.place, today) for option in candidates}
    lenient = name in COUNTS and not asked  # `nodes = node1,node2` is none
    tunable = _numbers(name, {option: bool(pin or frozen or lenient) for option, pin in pins.items()}, file, parse_value)
    if asked and not tunable and not (frozen or any(pins.values())):
        option = candidates[0]
        finding, remedy = f"{option.name} = {quoted(option.text)} has no unit", f"write e.g. {option.name} = 16Gi"
        raise UsageError(f"{file.place}:{option.line}", finding, remedy, code="JPO-E208")
    if not candidates and name not in (*PARAMETERS, *COUNTS):
        raise _missing(name, file)
    # Without those that another takes its value from: `lr`, where `learning_rate = %(lr)s`; and a count is 1 at least.
    origins = {option for reading, _ in tunable.values() for option in reading.chain[1:]}
    tunable = {o: found for o, found in tunable.items() if o not in origins and (not lenient or found[1] >= 1)}
    if len(tunable) > 1:
        raise ambiguous(name, tunable, file.place, f"[parameters] {name} = {{ key = KEY }}")
    for option, (reading, value) in tunable.items():
        stuck = _shared(name, reading, file, asked=asked) or _without_its_unit(name, reading, value, file, parse_value)
        edited = option if stuck else reading.origin
        why = pins[option] or held(reading.origin, file.place, today) or stuck
        return Found(option.name, edited, value, Note("", why) if why else frozen, tuple(o.line for o in reading.chain))
    return None


def _numbers(
    name: str, candidates: Mapping[IniOption, bool], file: _File, parse_value: ParseValue
) -> dict[IniOption, tuple[Resolved, float]]:
    """Options that hold a number. Memory of unknown unit is left out, as is held text that is no number (`auto # jpo: pin`)."""
    numbers = {}
    for option, is_held in candidates.items():
        try:
            if not option.one_line or not option.key.isprintable():
                why = "has unprintable characters" if option.one_line else "continues on the next line"
                remedy = "write name = value on one line, in plain text"
                raise UsageError(f"{file.place}:{option.line}", f"{quoted(option.key)} {why}", remedy, code="JPO-E209")
            reading = file.references.read(option)
            value = _number(name, option, reading.text, parse_value, file.place)
        except UsageError:
            if not is_held:
                raise
        else:
            if value is not None:
                numbers[option] = reading, value
    return numbers


def _shared(name: str, reading: Resolved, file: _File, *, asked: bool) -> str | None:
    """Why the value must stay: no option holds it alone, or others would change with it and jpo.toml does not name this one."""
    if reading.composed:
        return f"put together as {quoted(reading.origin.text)}; write it out to free it"
    if asked and len(reading.chain) == 1:
        return None
    if not (users := file.references.users(reading)):
        return None
    where, key = ", ".join(f"{option.key} (line {option.line})" for option in users), reading.origin.key
    return f'also the value of {where}; if they may change together, write [parameters] {name} = {{ key = "{key}" }}'


def _without_its_unit(name: str, reading: Resolved, value: float, file: _File, parse_value: ParseValue) -> str | None:
    """Why the origin of a reference must stay: by its own name its text has no unit, or another one (`ram_mb = %(size)s`)."""
    origin = reading.origin
    if len(reading.chain) == 1 or _number(name, origin, origin.text, parse_value, file.place) == value:
        return None
    return f"taken from {origin.key} (line {origin.line}), where it has no unit; write it there to free it"


def _number(name: str, option: IniOption, text: str, parse_value: ParseValue, place: str) -> float | None:
    here = f"{place}:{option.line}"
    try:
        value = parse_value(name, option.name, text)
    except ValueError as error:
        raise UsageError(here, str(error), code="JPO-E208") from error
    if value and not isinstance(value, Word) and not SMALLEST_VALUE <= abs(value) <= LARGEST_VALUE:
        finding = f"{option.name} = {quoted(text)} is not a value that a training job can use"
        raise UsageError(here, finding, "write what the job is to use", code="JPO-E208")
    return value


def _missing(name: str, file: _File) -> UsageError:
    """The error that jpo.toml declares a parameter of the team's own that the file does not have by its name."""
    here = [option.key for option in file.options if option.key.isprintable() and not set(option.key) & set('"\\')]
    near = [key for key in here if key.rpartition(".")[2].lower().replace("-", "_") == name]
    near = near or difflib.get_close_matches(name, here, n=1, cutoff=0.5)
    entry = f'{name} = {{ key = "{near[0] if near else "section.option"}", ... }}'
    finding = f"[parameters] {name}: {file.place} has no option of this name"
    return UsageError("jpo.toml", finding, f"name it, {entry}, or take the line out", code="JPO-E207")


DIRECTIVE = re.compile(r"(?:^|\s)[#;]+\s*jpo:\s*(.*)", re.IGNORECASE)
PIN = re.compile(r"pin\b", re.IGNORECASE)
IGNORE = re.compile(r"ignore\s+until\s+([0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])", re.IGNORECASE)
MEANT = re.compile(r"(pin|ignore)\b", re.IGNORECASE)


def held(option: IniOption, place: str, today: datetime.date) -> str | None:
    """The reason why an option must not be changed now, or None: `# jpo: pin` or `# jpo: ignore until 2027-01-01` (also `;`)
    behind the value or in the comment lines directly above it, with any words behind it.

    UsageError: a `jpo:` comment that cannot be understood, since a value that someone believes pinned must not change.
    """
    for line, comment in (*option.above, (option.line, option.tail)):
        for words in DIRECTIVE.findall(comment):
            reason = _reason(words, place, line, today)
            if reason:
                return reason
    return None


def refuse_strays(source: Source, options: Iterable[IniOption], place: str) -> None:
    """Raise UsageError for a pin that belongs to no option, for instance because a blank line separates them."""
    owned = {number for option in options for number in (option.line, *(line for line, _ in option.above))}
    for number, line in enumerate(source.lines, start=1):
        if number in owned or not line.strip().startswith(("#", ";", "[")):
            continue
        if any(MEANT.match(words) for words in DIRECTIVE.findall(line)):
            remedy = "put it behind the value or on the line directly above"
            raise UsageError(f"{place}:{number}", "this jpo: comment belongs to no option", remedy, code="JPO-E211")


def _reason(words: str, place: str, line: int, today: datetime.date) -> str | None:
    if PIN.match(words):
        return f"pinned in {PurePath(place).name}"
    until = IGNORE.match(words)
    try:
        day = datetime.date.fromisoformat(until[1] if until else "")
    except ValueError as error:
        remedy = "write # jpo: pin or # jpo: ignore until 2027-01-01"
        raise UsageError(f"{place}:{line}", f"jpo: {quoted(words.strip())} is not understood", remedy, code="JPO-E211") from error
    return f"ignored until {day} in {PurePath(place).name}" if today < day else None
