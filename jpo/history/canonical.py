"""Canonical JSON: one text for one value, so that equal records have equal hashes on every machine.

Keys are sorted, there are no blanks, floats are written as `repr` writes them (shortest text that reads back equal), everything
beyond ASCII is escaped. NaN and infinity have no text: what was not measured is None.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias

from jpo.errors import StoreError
from jpo.records import plain

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What can be written as JSON; any mapping and any sequence will do."""
_AS_IT_IS = {str, int, float, bool, type(None)}
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: object) -> str:
    """The one JSON text of a value made of records, mappings, sequences, texts and numbers.

    Raises StoreError: JPO-E508, a number is not finite or a type has no JSON form.
    """
    try:
        return _encode(_plain(value))
    except (TypeError, ValueError) as error:
        finding = f"a value cannot be recorded: {error}"
        raise StoreError("history", finding, "leave out what was not measured", code="JPO-E508") from error


def _plain(value: object) -> object:
    if type(value) in _AS_IT_IS:  # thousands of runs at once are mostly these
        return value
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return plain(value) if isinstance(value, float) else value
