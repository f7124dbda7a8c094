"""Interpolation: `learning_rate = %(lr)s` as the training code reads it, with Python's configparser as it is by default.

A reference is looked up in the section of the option that is read, then in [DEFAULT]. JPO reads what comes of it and writes only
where it comes from. `${section:option}` (ExtendedInterpolation) is refused: by default configparser reads it as plain text, so
whoever needs a number there reads the file in a way that cannot be seen from it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jpo.config.locate import IniOption
from jpo.errors import UsageError, quoted

DEFAULT = "DEFAULT"
REFERENCE = re.compile(r"%\(([^)]{1,200})\)s")  # no option has a longer name, and each of a million `%(` is looked at no farther
PIECE = re.compile(r"%%|%\(([^)]{1,200})\)s|%|[^%]+")
EXTENDED = re.compile(r"\$\{[^}]{0,200}\}")
DEEPEST = 10
"""References of references that configparser follows (configparser.MAX_INTERPOLATION_DEPTH)."""
MOST_USERS = 3
"""Options that are named as referring to another; more say no more."""
WRITE_IT = "write the value itself"
LONGEST = 1000
"""Characters of a value: references of references could make it endless."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an option says once its references are followed.

    Attributes:
        text: what the training code reads.
        chain: the options that are read for it, from the option itself to its origin, whose text this is.
        composed: it is put together from references and text, so that no option holds it alone.
    """

    text: str
    chain: tuple[IniOption, ...]
    composed: bool = False

    @property
    def origin(self) -> IniOption:
        """The option which holds the text."""
        return self.chain[-1]


class Interpolation:
    """The references between the options of one file."""

    def __init__(self, options: Sequence[IniOption], place: str) -> None:
        self._options = options
        self._at = {(option.section, option.name.lower()): option for option in options}
        self._place = place
        self._referring: dict[str, dict[str, list[IniOption]]] = {}  # by section and name: who refers to the name
        for option in options:
            text = option.text if option.one_line else option.value or ""  # over several lines with what comments it may have
            for name in dict.fromkeys(REFERENCE.findall(text.replace("%%", ""))):
                self._referring.setdefault(option.section, {}).setdefault(name.lower(), []).append(option)

    def read(self, option: IniOption) -> Resolved:
        """The option as the training code reads it.

        Raises:
            UsageError: JPO-E212, a reference leads nowhere, in a circle or to several values, or is not configparser's default.
        """
        if EXTENDED.search(option.text):
            finding = f"{option.name} = {quoted(option.text)} is not what Python's configparser resolves by default"
            remedy = "write the number, or pin it: # jpo: pin"
            raise UsageError(f"{self._place}:{option.line}", finding, remedy, code="JPO-E212")
        if "%(" not in option.text:
            return Resolved(option.text, (option,))
        readings: list[Resolved] = []
        problem: UsageError | None = None
        # One of [DEFAULT] is read through each section that has none of the name.
        sections = dict.fromkeys(other.section for other in self._options) if option.section == DEFAULT else (option.section,)
        for section in sections:
            if section != option.section and (section, option.name.lower()) in self._at:
                continue
            try:
                readings.append(self._in(section, option))
            except UsageError as error:  # whoever reads the option reads it through another section
                problem = problem or error
        if not readings:
            assert problem is not None, "there is at least one section"
            raise problem
        if len({reading.origin.line for reading in readings}) > 1 or len({reading.text for reading in readings}) > 1:
            finding = f"{option.name} = {quoted(option.text)} has another value in each section that reads it"
            raise self._broken(option, finding, "write it into the section which the training code reads")
        return readings[0]

    def users(self, reading: Resolved) -> tuple[IniOption, ...]:
        """Other options that would change with the origin of this one, at most MOST_USERS: from it back to who refers to it."""
        inside, found = {option.line for option in reading.chain}, dict[int, IniOption]()
        own = reading.origin.section
        waiting = [(view, reading.origin) for view in (dict.fromkeys((own, *self._referring)) if own == DEFAULT else (own,))]
        seen = set(waiting)
        while waiting and len(found) < MOST_USERS:
            view, option = waiting.pop()
            name = option.name.lower()
            if (self._at.get((view, name)) or self._at.get((DEFAULT, name))) is not option:
                continue  # a section with an option of its own by that name reads that
            for other in (*self._referring.get(view, {}).get(name, ()), *self._referring.get(DEFAULT, {}).get(name, ())):
                if (view, other) not in seen:
                    seen.add((view, other))
                    waiting.append((view, other))
                    found |= {} if other.line in inside else {other.line: other}
        return tuple(found.values())[:MOST_USERS]

    def _in(self, section: str, option: IniOption) -> Resolved:
        chain = [option]
        while reference := REFERENCE.fullmatch(chain[-1].text):
            chain.append(self._found(section, reference[1], option))
            if len(chain) > DEEPEST:
                raise self._broken(option, f"{option.name} = {quoted(option.text)} refers to itself or too deep", WRITE_IT)
        text = "".join(self._pieces(section, chain[-1], option, len(chain)))
        if len(text) > LONGEST:
            raise self._broken(
                option, f"{option.name} = {quoted(option.text)} becomes longer than {LONGEST} characters", WRITE_IT
            )
        return Resolved(text, tuple(chain), composed="%" in chain[-1].text)

    def _pieces(self, section: str, option: IniOption, asked: IniOption, depth: int) -> Iterator[str]:
        """The text of an option in pieces, until it is too long."""
        length = 0
        for piece in PIECE.finditer(option.text):
            if piece[0] == "%":
                finding = f"{option.name} = {quoted(option.text)} has a % that configparser does not understand"
                raise self._broken(option, finding, "write %% for a percent sign, %(name)s for another option's value")
            if piece[1] is None:
                more = piece[0].replace("%%", "%")
            elif depth >= DEEPEST:
                raise self._broken(asked, f"{asked.name} = {quoted(asked.text)} refers to itself or too deep", WRITE_IT)
            else:
                more = "".join(self._pieces(section, self._found(section, piece[1], asked), asked, depth + 1))
            length += len(more)
            yield more
            if length > LONGEST:
                return

    def _found(self, section: str, name: str, asked: IniOption) -> IniOption:
        found = self._at.get((section, name.lower())) or self._at.get((DEFAULT, name.lower()))
        if found is None:
            finding = (
                f"{asked.name} = {quoted(asked.text)} refers to {quoted(name)}, which is neither in [{section}] nor in [DEFAULT]"
            )
            raise self._broken(asked, finding, f"add {quoted(name)[1:-1]} = ... there, or write the value itself")
        if not found.one_line or not found.text or not found.key.isprintable():
            raise self._broken(
                found, f"{quoted(found.key)} is not a value on one line", "write name = value on one line, in plain text"
            )
        return found

    def _broken(self, option: IniOption, finding: str, remedy: str) -> UsageError:
        return UsageError(f"{self._place}:{option.line}", finding, remedy, code="JPO-E212")
