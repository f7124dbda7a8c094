"""The client of a Prometheus server: queries by prometheus-api-client over jpo.http's session.

`PrometheusConnect` builds each request; its `session` argument is filled with one that does what the library leaves open.
Importing this module loads requests, so it is imported when a query is sent.
"""

from collections.abc import Callable, Mapping
from typing import Self
from urllib.parse import quote as quote_path

from prometheus_api_client import PrometheusConnect

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.http.session import NO_RETRIES, GuardedSession, Service
from jpo.telemetry.prometheus.answers import AnswerRow, PartialAnswer, check, rows, texts, without_data

PROMETHEUS = Service(
    "Prometheus",
    check,
    absent="check the URL and that the server runs, or use --offline",
    late="raise --timeout, narrow --since, or use --offline",
    large="narrow the window with --since",
)
UNAVAILABLE = ("JPO-E101", "JPO-E104", "JPO-E105")
"""Codes of answers where there is no such status, or where a proxy withholds it from those who may query."""
LATEST = 253_402_300_800.0
"""The year 10000 in unix seconds; no server's clock is there."""


class Client:
    """A connection to one server, under one deadline that starts now; it counts requests and keeps warnings."""

    def __init__(self, source: Endpoint) -> None:
        self.session = GuardedSession(source, PROMETHEUS)
        self.place = self.session.place
        self._connect = PrometheusConnect(url=source.shown_url, session=self.session, retry=NO_RETRIES)

    def query(self, promql: str, at: float, *, since: float | None = None) -> list[AnswerRow]:
        """The series of an instant query at `at` (unix seconds); single samples where it asks for those since a time.

        Raises TelemetryError JPO-E101 to E109 otherwise; TooMuch among them where a narrower query would do, and PartialAnswer
        where the server warns of its own answer.
        """
        limits = {"time": f"{at:.3f}", "timeout": f"{max(0.001, self.session.left()):.3f}"}
        data = self._data(lambda: self._connect.custom_query(promql, params=limits))
        if self.session.answer.warnings:  # before its rows are judged: the server's own reason is nearer
            raise PartialAnswer(self.place, "answered in part", "ask again later", code="JPO-E113")
        return rows(self.place, data, "vector", at, at) if since is None else rows(self.place, data, "matrix", since, at)

    def clock(self) -> float:
        """The server's clock, unix seconds. Raises like `query`."""
        uncached = {"nocache": "1"}  # otherwise VictoriaMetrics returns the time of 30 s ago
        for row in rows(self.place, self._data(lambda: self._connect.custom_query("vector(time())", params=uncached)), "vector"):
            if not 0 < row.value < LATEST:  # also NaN
                finding = f"answered that it is {row.value:g} unix seconds now"
                raise TelemetryError(self.place, finding, "is this a Prometheus API?", code="JPO-E104")
            return row.value
        raise without_data(self.place)

    def label_values(self, label: str, matching: str | None, begin: float, until: float) -> tuple[str, ...]:
        """The values of a label, sorted by the server, among series in [begin, until] (unix seconds) that fit a selector.

        Some servers look at whole days: a value may be older than `begin`. Raises like `query`.
        """
        chosen = {"start": f"{begin:.3f}", "end": f"{until:.3f}", **({"match[]": matching} if matching else {})}
        path = quote_path(label, safe="")
        return texts(self.place, self._data(lambda: self._connect.get_label_values(path, params=chosen)))

    def status(self, name: str) -> Mapping[str, object]:
        """A status page of the server, e.g. `runtimeinfo`, `buildinfo`; {} where there is none (VictoriaMetrics, proxies).

        Raises TelemetryError JPO-E102, E103, E106, E108 and E109 like `query`.
        """
        address = f"{self.place}/api/v1/status/{quote_path(name, safe='')}"
        try:
            data = self._data(lambda: self.session.get(address))
        except TelemetryError as error:
            if error.code in UNAVAILABLE:
                return {}
            raise
        return data if isinstance(data, dict) else {}

    def _data(self, request: Callable[[], object]) -> object:
        """The `data` of the answer to a request; errors of the library become TelemetryErrors.

        From the session, which checked it: the library would return its rows without saying what they are.
        """
        try:
            request()
        except (KeyError, TypeError) as error:  # data of another shape
            raise without_data(self.place) from error
        return self.session.answer.data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()
