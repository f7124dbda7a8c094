"""What an API server answers, read without trusting its shape: what is missing or of another kind is empty, no error."""

from collections.abc import Mapping
from datetime import datetime

Answer = Mapping[str, object]
"""One JSON object."""


def at(found: object, *path: str) -> object:
    """What stands there; None where nothing does."""
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def text(found: object, *path: str) -> str:
    value = at(found, *path)
    return value if isinstance(value, str) else ""


def table(found: object, *path: str) -> Answer:
    value = at(found, *path)
    return value if isinstance(value, Mapping) else {}


def items(found: object, *path: str) -> tuple[Answer, ...]:
    value = at(found, *path)
    return tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else ()


def whole_number(found: object, *path: str) -> int | None:
    value = at(found, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(found: object, *path: str) -> float | None:
    """A time in unix seconds; None where there is none, or none that can be read."""
    try:
        return datetime.fromisoformat(text(found, *path)).timestamp()
    except (ValueError, OverflowError):
        return None


def place(found: object) -> tuple[str, str]:
    """Name and namespace of an object, as the API asks for it."""
    return text(found, "metadata", "name"), text(found, "metadata", "namespace")


def condition(found: object, kind: str, status: str = "True") -> Answer:
    """The condition of this type and status that an object is in."""
    of_type = (each for each in items(found, "status", "conditions") if text(each, "type") == kind)
    return next((each for each in of_type if text(each, "status") == status), {})
