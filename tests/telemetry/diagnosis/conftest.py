"""An inquiry over a stub of a server's index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from jpo.records import Identity
from jpo.telemetry.diagnosis.inquiry import Inquiry
from jpo.telemetry.prometheus.names import Names


class StubIndex:
    """The values of each label for any selector; counts what was asked."""

    def __init__(self, labels: Mapping[str, Sequence[str]]) -> None:
        self.labels, self.asked = labels, list[tuple[str, str | None]]()

    def label_values(self, label: str, matching: str | None, begin: float, until: float) -> tuple[str, ...]:
        self.asked.append((label, matching))
        return tuple(self.labels.get(label, ()))


@pytest.fixture
def inquiry_on():
    """`inquiry_on(__name__=[...], run_id=[...])`: the workload digits/cnn/pytorch in the last 90 days."""

    def new(**labels: Sequence[str]) -> Inquiry:
        return Inquiry(StubIndex(labels), Identity("digits", "cnn", "pytorch"), 0.0, 90 * 86400.0, Names())

    return new
