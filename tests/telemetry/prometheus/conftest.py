"""A stub of a server's client, which answers each query from a table of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest

from jpo.records import Identity
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.scope import Scope

Points = float | Sequence[tuple[float, float]]


class StubClient:
    """Answers by the key of a query (its label `quantity`), else by the name of its metric; counts what was asked."""

    place = "a stub"

    def __init__(
        self, answers: Mapping[str, Sequence[tuple[Mapping[str, str], Points]]], metrics: Sequence[str] = (), clock: float = 1e4
    ) -> None:
        self.answers, self.metrics, self.asked = answers, metrics, list[str]()
        self.clock = lambda: clock

    def query(self, promql: str, at: float, *, since: float | None = None) -> list[AnswerRow]:
        self.asked.append(promql)
        keys = re.findall(r'"quantity","([^"]*)","",""', promql)
        found = [(key, row) for key in keys for row in self.answers.get(key, ())]
        if not keys:
            found = [("", row) for row in self.answers.get(promql.partition("{")[0], ())]
        own = {} if since is None else Identity("digits", "cnn", "pytorch").labels  # samples carry all of their labels
        return [
            AnswerRow({**own, **labels, "quantity": key}, ((at, points),) if isinstance(points, float | int) else tuple(points))
            for key, (labels, points) in found
        ]

    def label_values(self, label: str, matching: str | None, begin: float, until: float) -> tuple[str, ...]:
        self.asked.append(f"{label} of {matching}")
        return tuple(self.metrics)


@pytest.fixture
def scope_on():
    """`scope_on(answers, metrics)`: the workload digits/cnn/pytorch between 0 and 10,000 s, at first contact."""

    def new(answers=None, metrics=(), *, mark=-float("inf"), clock=1e4, names=None) -> Scope:
        client = StubClient(answers or {}, metrics, clock)
        return Scope(client, names or Names(), Identity("digits", "cnn", "pytorch"), 0.0, 1e4, mark)

    return new
