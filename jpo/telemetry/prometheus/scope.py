"""Scope of the queries to a server: which workload, in which window.

Queries use the site's names; the labels of their answers come back under JPO's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jpo.errors import TelemetryError
from jpo.http.answers import TooMuch
from jpo.records import Identity
from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import AnswerRow, strange
from jpo.telemetry.prometheus.names import Names

if TYPE_CHECKING:
    from jpo.telemetry.prometheus.client import Client

NO_INDEX = ("JPO-E101", "JPO-E104", "JPO-E105")
"""Codes of a server, or of the proxy in front of it, that answers queries and nothing else."""
BEFORE_START_SECONDS = 60.0
"""Pods exist a little before their run reports its start."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Server, workload and window of a set of queries.

    Attributes:
        begin, until: unix seconds; a run must lie between them as a whole. Nothing later than `until` is read.
        mark: the watermark, unix seconds: runs that ended up to here are on record; -inf at first contact.
        run_ids: the only runs to look at; empty: all.
    """

    client: "Client"
    names: Names
    identity: Identity
    begin: float
    until: float
    mark: float
    run_ids: tuple[str, ...] = ()

    def ask(self, query: str, *, samples: bool = False) -> list[AnswerRow]:
        """The series of a query, with JPO's label names next to the server's; `samples`: it asks for each one in the window."""
        rows = self.client.query(query, self.until, since=self.begin if samples else None)
        return [replace(row, labels={**row.labels, **self.names.roles(row.labels)}) for row in rows]

    def ask_all(self, asked: Mapping[str, str]) -> list[tuple[str, AnswerRow]]:
        """The rows of several queries, each with the key of its query, in the order of these, which servers do not keep.

        Raises TelemetryError: JPO-E104, a row has no key of these queries: it answers something else. As the client raises it.
        """
        rows_of: dict[str, list[AnswerRow]] = {key: [] for key in asked}
        for query in queries.unions(asked):
            for row in self.ask(query):
                if (key := row.labels.get("quantity", "")) not in rows_of:
                    raise strange(self.client.place)
                rows_of[key].append(row)
        return [(key, row) for key, rows in rows_of.items() for row in rows]

    def indexed(self, label: str, chosen: str, begin: float) -> frozenset[str] | None:
        """The values of a label among the chosen series since `begin`, unix seconds; None where the index is withheld."""
        try:
            return frozenset(self.client.label_values(label, chosen, begin, self.until))
        except TelemetryError as error:
            if error.code not in NO_INDEX or isinstance(error, TooMuch):
                raise
        return None

    def since_start_of(self, starts: Iterable[float | None]) -> "Scope":
        """The scope from these starts on, as far as they are known: so that little else is read."""
        first = min((start for start in starts if start is not None), default=self.begin)
        return replace(self, begin=max(self.begin, first - BEFORE_START_SECONDS))

    def chosen(self, run_ids: Sequence[str] = (), *, loose: bool = False) -> str:
        """The selector of these runs of the workload, of all where they are too many to name. `loose` as in queries.selector."""
        return queries.selector(self.identity, run_ids or self.run_ids, names=self.names, loose=loose)

    def samples(self, role: str, run_ids: Sequence[str], *, loose: bool = False) -> list[AnswerRow]:
        """Each single sample of these runs in a metric; those of other runs may be among them. `loose` as in queries.selector."""
        longest = queries.LONGEST_PATTERN_ALONE
        chosen = queries.selector(self.identity, run_ids, names=self.names, loose=loose, longest=longest)
        chosen = queries.own(self.names, chosen) if role == contract.OWN_METRIC else chosen
        rows = self.ask(self.names.metric(role) + chosen + queries.window(self.begin, self.until), samples=True)
        identity = self.identity.labels.items()
        if not all(row.labels.get(label, value if loose else "") == value for row in rows for label, value in identity):
            raise strange(self.client.place)
        return rows
