"""`dataclass` of the standard library at a quarter of its price: to make the records was a fifth of the CPU of `jpo suggest`.

`dataclasses` writes six methods of each frozen class and compiles them one by one, .45 ms before anything is done. Here only
`__init__` is written; what else a record does stands below, once for all of them. Fields, slots, `replace` and `asdict` are the
library's. Not offered: `InitVar`, and fields that are no arguments or keywords only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, astuple, field, fields, replace
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "astuple", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False):  # noqa: A002 - the library's name
        """The library's decorator; see there."""
        if not frozen:
            return dataclasses.dataclass(cls, eq=eq, repr=repr, slots=slots)
        if cls is None:
            return lambda cls: dataclass(cls, frozen=True, eq=eq, repr=repr, slots=slots)
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        methods = {"__init__": written_init(made), "__setattr__": refuse, "__delattr__": refuse, "__reduce__": rebuilt}
        methods |= {"__repr__": shown} if repr else {}
        methods |= compared_by([each.name for each in fields(made) if each.compare]) if eq else {}
        for name, method in methods.items():
            if vars(cls).get(name) is None:  # a class that compares by itself has None as its hash
                setattr(made, name, method)
        return made


def written_init(cls: type[Any]) -> Callable[..., None]:
    """Each argument to its field, where it is absent the default, which may be made anew; then what checks the whole."""
    scope: dict[str, Any] = {"__put": object.__setattr__, "__absent": MISSING}
    arguments, lines = ["self"], []
    for each in fields(cls):
        name, value, default = each.name, each.name, ""
        if each.default_factory is not MISSING:
            scope[f"__new_{name}"] = each.default_factory
            default, value = "=__absent", f"__new_{name}() if {name} is __absent else {name}"
        elif each.default is not MISSING:
            scope[f"__default_{name}"] = each.default
            default = f"=__default_{name}"
        arguments.append(name + default)
        lines.append(f"__put(self, '{name}', {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n " + "\n ".join(lines or ["pass"]), scope)  # noqa: S102 - as the library does
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in fields(cls)} | {"return": None}
    return init


def compared_by(names: list[str]) -> dict[str, Callable[..., Any]]:
    """Records of one class are equal, and have one hash, where these fields are."""
    read: Callable[[object], Any] = attrgetter(*names) if names else lambda record: ()
    values = read if len(names) != 1 else lambda record: (read(record),)  # a tuple, in which a NaN is equal to itself

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


@recursive_repr()
def shown(self: Any) -> str:
    """As one would write it."""
    return f"{type(self).__qualname__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields(self) if f.repr)})"


def refuse(_self: object, name: str, *value: object) -> None:
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def rebuilt(self: Any) -> tuple[type[Any], tuple[object, ...]]:
    """How a copy is made: as every other one, so that it is checked too."""
    return type(self), tuple(getattr(self, each.name) for each in fields(self))
