"""Values as TOML writes them, exact as in JSON: what a terminal or a CI would obey, or nobody sees, is written as escapes."""

import re
from collections.abc import Mapping

from jpo.records import Word
from jpo.wording.printable import COMMANDS, UNSEEN_SIGN

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def value(setting: object) -> str:
    """One value in one line. Raises TypeError: TOML has no such value."""
    match setting:
        case bool():
            return str(setting).lower()
        case Word():
            return text(setting.word)
        case int() | float():
            return repr(setting)
        case str():
            return text(setting)
        case list() | tuple():
            return f"[{', '.join(map(value, setting))}]"
        case Mapping():
            lines = [f"{key(str(name))} = {value(inner)}" for name, inner in setting.items()]
            return f"{{ {', '.join(lines)} }}" if lines else "{}"
    raise TypeError(f"TOML has no {type(setting).__name__}")


def key(name: str) -> str:
    """A part of a key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else text(name)


def text(words: str) -> str:
    escaped = "".join(_character(each) for each in words)
    return f'"{COMMANDS.sub(lambda mark: mark[0][:-1] + _code(mark[0][-1]), escaped)}"'


def _character(each: str) -> str:
    if each in '"\\':
        return f"\\{each}"
    return each if each.isprintable() and not UNSEEN_SIGN.match(each) else _code(each)


def _code(each: str) -> str:
    return f"\\u{ord(each):04X}" if ord(each) < 0x10000 else f"\\U{ord(each):08X}"
