"""Inquiry of the probes: server, workload and window, with answers remembered; and the form of their findings."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from jpo.errors import TelemetryError
from jpo.records import Identity
from jpo.telemetry import contract
from jpo.telemetry.diagnosis.similar_names import renamings, span
from jpo.telemetry.prometheus.names import METRICS, Names
from jpo.telemetry.prometheus.queries import quoted

if TYPE_CHECKING:
    from jpo.telemetry.prometheus.client import Client


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a probe, in one line.

    `remedy`: what the reader can do, empty when there is nothing to do; `error`: what kept a probe from its answer.
    """

    status: Literal["ok", "warning", "problem", "unknown"]
    text: str
    remedy: str = ""
    code: str | None = None
    error: TelemetryError | None = None


@dataclass(frozen=True)
class Inquiry:
    """The server, the workload and the window (unix seconds) that the probes ask about; answers are remembered."""

    client: "Client"
    identity: Identity | None
    since: float
    until: float
    names: Names
    known: dict[tuple[str, str | None], tuple[str, ...]] = field(default_factory=dict)

    def values(self, label: str, matching: str | None) -> tuple[str, ...]:
        """The values of a label of JPO's among the series of a selector."""
        return self.label_values(self.names.label(label), matching)

    def label_values(self, label: str, matching: str | None) -> tuple[str, ...]:
        """The values of a label, by the server's name for it, among the series of a selector; asked once."""
        if (label, matching) not in self.known:
            self.known[label, matching] = self.client.label_values(label, matching, self.since, self.until)
        return self.known[label, matching]

    def reported(self, *labels: str) -> str:
        """The selector of run reports with the workload's own values of these labels."""
        matchers = (f"{self.names.label(label)}={quoted(str(getattr(self.identity, label)))}" for label in labels)
        return f"{self.run_info}{{{','.join(matchers)}}}"

    @property
    def workload_selector(self) -> str:
        """The selector of the workload's run reports; of all runs where the workload is not known."""
        return self.reported(*(self.identity.labels if self.identity else ()))

    @property
    def run_info(self) -> str:
        return self.names.metric(contract.RUN_INFO)

    @property
    def days(self) -> str:
        """The length of the window, for messages."""
        return span(self.until - self.since)

    @cached_property
    def clock_offset_seconds(self) -> float:
        """How far the server's clock is ahead of ours, which was at `until` when the client was made."""
        return self.client.clock() - (self.until + self.client.session.seconds())

    @cached_property
    def metrics(self) -> frozenset[str]:
        return frozenset(self.client.label_values("__name__", None, self.since, self.until))

    @cached_property
    def run_ids(self) -> tuple[str, ...]:
        """The workload's runs that reported in the window."""
        return self.values("run_id", self.workload_selector)

    def existing(self, *roles: str) -> list[str]:
        """The names of these roles (prometheus/names.py) that the server has."""
        return [name for role in roles for name in self.names.alternatives(role) if name in self.metrics]

    def renamed(self, role: str) -> Finding | None:
        """A finding that a metric seems to have another name here; None if none is similar. Other roles' metrics do not count."""
        others = self.metrics - frozenset(self.existing(*METRICS))
        for name in self.names.alternatives(role):
            if similar := renamings(name, others):
                remedy = f'if that is it, write {role} = "{similar[0]}" under [prometheus.metrics]'
                text = f"no metric {name} in the last {self.days}; similar names: {', '.join(similar)}"
                return Finding("warning", text, remedy, "JPO-W144")
        return None


Probe = Callable[[Inquiry], Finding]


def answered(probe: Probe, inquiry: Inquiry) -> Finding:
    """What a probe finds; "unknown" when the server does not answer it."""
    try:
        return probe(inquiry)
    except TelemetryError as error:
        return Finding("unknown", error.finding, error.remedy, error.code, error)
