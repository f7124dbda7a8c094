"""Search space in the caller's words (choices and ranges per parameter, or a list of configurations), in numbers and back.

JPO computes with numbers; a parameter with a choice that is none (a GPU type, an optimizer) has them numbered in the order given.
"""

import math
from collections.abc import Hashable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field, replace

from jpo.errors import UsageError
from jpo.records import SAME, Range, in_order

Configuration = Mapping[str, object]
Space = Mapping[str, "Sequence[object] | Range"] | Sequence[Configuration]


@dataclass(frozen=True, slots=True)
class NumberedSpace:
    """Search space in numbers: the values of each parameter, or all configurations, and what the numbers mean to the caller.

    Attributes:
        names: parameters, JPO's own first.
        ladders: values per parameter, ascending; empty where configurations are listed.
        listed: all configurations; None where every combination of the ladders is one.
        words: per parameter, number -> the caller's own value.
        worded: parameters whose numbers are positions in a list of words.
        ranged: parameters with a Range, of which the ladder is a selection.
    """

    names: tuple[str, ...]
    ladders: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    listed: tuple[Mapping[str, float], ...] | None = None
    words: Mapping[str, Mapping[float, object]] = field(default_factory=dict)
    worded: frozenset[str] = frozenset()
    ranged: frozenset[str] = frozenset()

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether a configuration lies in the space, on the ladders or between the rungs of a Range."""
        rungs = self.ladders.items()
        return bool(rungs) and all(
            values[name] in ladder or (name in self.ranged and ladder[0] <= values[name] <= ladder[-1]) for name, ladder in rungs
        )

    def knowing(self, configuration: object) -> "NumberedSpace":
        """The space with a number for each word of a configuration that is no choice: outside is a place as well."""
        words = {name: dict(words) for name, words in self.words.items()}
        for name, value in _mapping("configuration", configuration).items():
            if name in self.worded and value not in words[name].values():
                words[name][float(len(words[name]))] = _hashable(name, value)
        return replace(self, words=words) if words != self.words else self

    def numbers(self, configuration: Configuration) -> dict[str, float]:
        """A configuration in numbers. Raises UsageError for an unknown parameter, or what is neither number nor known word."""
        unknown = [name for name in _mapping("configuration", configuration) if name not in self.names]
        if unknown:
            raise _wrong(f"has no parameter {unknown[0]}", f"it has {', '.join(self.names)}")
        return {name: self._number(name, configuration[name]) for name in self.names if name in configuration}

    def meaning(self, numbers: Mapping[str, float]) -> dict[str, object]:
        """The caller's own values; what ran and is no choice stays a number."""
        return {name: self.words[name].get(value, value) for name, value in numbers.items()}

    def _number(self, name: str, value: object) -> float:
        words = self.words[name]
        if name in self.worded:
            number = next((place for place, word in words.items() if word == value), None)
        else:
            number = _as_number(value)
        if number is None or not math.isfinite(number):
            raise UsageError(f"space {name}", f"has no {value!r}", "give a number or one of its choices", code="JPO-E720")
        if number in words:
            return number
        return next((choice for choice in words if math.isclose(choice, number, rel_tol=SAME)), number)


def numbered_space(space: object) -> NumberedSpace:
    """Read a space. Raises UsageError (JPO-E720) where it is empty, or its configurations name different parameters."""
    if isinstance(space, Mapping):
        values = {name: _values(name, given) for name, given in space.items()}
        names = _ordered(values)
        words = {name: dict(values[name]) for name in names}
        ranged = frozenset(name for name in names if isinstance(space[name], Range))
        return NumberedSpace(names, {name: tuple(sorted(words[name])) for name in names}, None, words, _worded(words), ranged)
    if isinstance(space, str | Set) or not isinstance(space, Sequence):
        raise _wrong(f"is {space!r:.80}", "give {'batch_size': [32, 64, 128]} or a list of configurations")
    return _listed(space)


def _listed(configurations: Sequence[object]) -> NumberedSpace:
    if not configurations:
        raise _wrong("lists no configuration", "list those that can run")
    rows = [_mapping("space", configuration) for configuration in configurations]
    names = _ordered(rows[0])
    for row in rows:
        if set(row) != set(names):
            raise _wrong(f"lists configurations of different parameters: {dict(row)}", "give every one the same parameters")
    words = {name: dict(_values(name, [row[name] for row in rows])) for name in names}
    choices = NumberedSpace(names, words=words, worded=_worded(words))
    listed = dict.fromkeys(tuple(choices.numbers(row).values()) for row in rows)
    return replace(choices, listed=tuple(dict(zip(names, row, strict=True)) for row in listed))


def _values(name: str, given: object) -> list[tuple[float, object]]:
    """(number, the caller's own value) of every choice."""
    if isinstance(given, Range):
        return [(value, int(value) if given.integer else value) for value in given.steps()]
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Sized) or not len(given):  # a set has no order
        raise _wrong(f"gives {name} no choices, found {given!r:.80}", f"give {name} a list of values or a Range")
    values = [_hashable(name, value) for value in given]  # type: ignore[attr-defined]
    numbers = [_as_number(value) for value in values]
    if any(number is not None and not math.isfinite(number) for number in numbers):
        raise _wrong(f"gives {name} a choice that is not finite: {given!r:.80}", "leave it out")
    if None in numbers:
        return [(float(i), value) for i, value in enumerate(dict.fromkeys(values))]
    return [(number, value) for number, value in zip(numbers, values, strict=True) if number is not None]


def _worded(words: Mapping[str, Mapping[float, object]]) -> frozenset[str]:
    return frozenset(name for name, values in words.items() if any(_as_number(value) is None for value in values.values()))


def _as_number(value: object) -> float | None:
    """None for what is no number; infinite for one that is too large."""
    if isinstance(value, str | bytes):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return math.inf


def _hashable(name: str, value: object) -> object:
    if not isinstance(value, Hashable):
        raise _wrong(f"has {name} = {value!r:.80}, which is not a single value", "give numbers or words")
    return value


def _mapping(place: str, given: object) -> Configuration:
    if not isinstance(given, Mapping):
        raise UsageError(place, f"is {given!r:.80}", "give a value per parameter, e.g. {'batch_size': 32}", code="JPO-E720")
    return given


def _ordered(names: Mapping[str, object]) -> tuple[str, ...]:
    """JPO's own first. Raises UsageError where there is none, or a name is no word."""
    if not names:
        raise _wrong("has no parameters", "name at least one, e.g. {'batch_size': [32, 64, 128]}")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise _wrong(f"names a parameter {name!r}", "give it a name")
    return in_order(names)


def _wrong(finding: str, remedy: str) -> UsageError:
    return UsageError("space", finding, remedy, code="JPO-E720")
