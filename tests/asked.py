"""Requests and decision problems for tests, with the values of their small records by name."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from typing import TypeVar

from jpo.agent.action import Allowed
from jpo.agent.budget import Boldness, Leeway
from jpo.agent.comparison import Comparison
from jpo.agent.problem import Problem
from jpo.cost import Prices
from jpo.optimizer.request import Goals, Request
from jpo.records import Belief, Calibration, Candidates, Parameters, Preference

Record = TypeVar("Record")
HOLDERS = (Allowed, Boldness, Calibration, Candidates, Comparison, Goals, Leeway, Problem, Request)
"""Records whose fields are named as if they were those of what holds them."""


def changed(record: Record, **values: object) -> Record:
    """The record with other values, of its own or of the small records that it holds."""
    own = {name: value for name, value in values.items() if name in _names(record)}
    for part in _names(record):
        held = getattr(record, part)
        inner = {name: value for name, value in values.items() if name not in own and name in _all_names(held)}
        own |= {part: changed(held, **inner)} if inner else {}
    return replace(record, **own)  # type: ignore[type-var]


def _names(record: object) -> list[str]:
    return [field.name for field in fields(record)] if isinstance(record, HOLDERS) else []  # type: ignore[arg-type]


def _all_names(record: object) -> set[str]:
    return {name for own in _names(record) for name in (own, *_all_names(getattr(record, own)))}


def a_problem(candidates: Candidates, belief: Belief, preference: Preference, **more: object) -> Problem:
    """A decision problem; `more`: as of `changed`."""
    return changed(Problem(Comparison(candidates, belief, preference)), **more)


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
