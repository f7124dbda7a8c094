"""Requests and decision problems for tests, with the values of their small records by name."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from jpo.agent.action import Allowed
from jpo.cost import Prices
from jpo.optimizer.request import Goals, Request
from jpo.records import Parameters, Preference

Record = TypeVar("Record")


def changed(record: Record, **values: object) -> Record:
    """The record with other values, of its own or of the small records that it holds."""
    parts: dict[str, Any] = {}
    for name, value in values.items():
        held = {field.name: parts.get(field.name, getattr(record, field.name)) for field in fields(record)}  # type: ignore[arg-type]
        if name in held:
            parts[name] = value
            continue
        (part,) = (at for at, one in held.items() if is_dataclass(one) and name in {field.name for field in fields(one)})
        parts[part] = replace(held[part], **{name: value})  # type: ignore[type-var]
    return replace(record, **parts)  # type: ignore[type-var]


def a_request(
    current: Parameters,
    free: Collection[str] = (),
    admissible: Callable[[Parameters, Parameters], bool] = lambda _today, _proposed: True,
    preference: Preference = Preference(),  # noqa: B008 - frozen
    prices: Prices = Prices(),  # noqa: B008 - frozen
    **more: object,
) -> Request:
    """A request that allows and wants this; `more`: as of `changed`."""
    return changed(Request(current, Allowed(free, admissible), Goals(preference), prices=prices), **more)
