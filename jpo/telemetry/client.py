"""The guard layer: prometheus-api-client's queries over a session that keeps a deadline and believes little.

`PrometheusConnect.custom_query` builds each query; its `session` argument is filled with one that does what the library
leaves open: a deadline over everything, including name resolution and bodies that drip; redirects only to the same
server; one retry, and only where it helps; long queries in the request body; a limit on size; warnings kept. Importing
this module loads requests, so it is imported when a query is made. Proxies and netrc of the environment are not used:
what a source says is all that counts.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from prometheus_api_client import PrometheusConnect

from jpo.errors import TelemetryError
from jpo.telemetry.answers import PassingTrouble, Row, check, quote, rows
from jpo.telemetry.source import PrometheusSource

CONNECT_SECONDS = 2.0
RETRY_PAUSE_SECONDS = 0.5
LARGEST_ANSWER_BYTES = 64 * 2**20
"""About 3 million samples; a larger answer would take the memory of a small CI runner (nine times its size, measured)."""
LONGEST_URL = 6000
"""Bytes; proxies cut at 8 kB. Short queries stay GET: kube-rbac-proxy lets viewers GET, not POST."""
MOST_REDIRECTS = 5


class Client:
    """One look at one server. Counts requests and keeps warnings; its deadline starts when it is made."""

    def __init__(self, source: PrometheusSource) -> None:
        self.session = GuardedSession(source)
        self._connect = PrometheusConnect(
            url=source.shown_url,
            headers=source.request_headers,
            auth=_encoded(source.credentials),
            session=self.session,
            retry=urllib3.Retry(0, read=False),  # the session retries, the transport does not
        )

    def query(self, promql: str, at: float) -> list[Row]:
        """The series of an instant query at `at` (unix seconds); TelemetryError JPO-E101 to E109 otherwise."""
        limits = {"time": f"{at:.3f}", "timeout": f"{max(0.001, self.session.left()):.3f}"}
        try:
            result = self._connect.custom_query(promql, params=limits)
        except (requests.RequestException, ValueError) as error:  # a request that could not even be built
            raise self.session.explained(error) from None
        return rows(self.session.place, result)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.session.close()


class GuardedSession(requests.Session):
    """A requests session whose answers are complete, in time and from Prometheus, or a TelemetryError."""

    def __init__(self, source: PrometheusSource) -> None:
        super().__init__()
        self.trust_env = False
        self.verify = str(source.ca_file) if source.ca_file and source.verify else source.verify
        self.place = source.shown_url
        self.requests = 0
        self.warnings: dict[str, None] = {}
        self._source = source
        self._began = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def left(self) -> float:
        return self._source.timeout_seconds - self.seconds()

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """One checked answer; a second try where the first met trouble that passes."""
        _move_long_query_into_body(request)
        try:
            return self._checked(request, kwargs)
        except PassingTrouble:
            if self.left() < 2 * RETRY_PAUSE_SECONDS:
                raise
        time.sleep(RETRY_PAUSE_SECONDS)
        return self._checked(request, kwargs)

    def _checked(self, request: requests.PreparedRequest, kwargs: dict[str, Any]) -> requests.Response:
        try:
            response = self._within_deadline(partial(self._exchange, request, kwargs))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self.explained(error) from None  # its text may hold headers
        kind = response.headers.get("Content-Type", "")
        self.warnings.update(dict.fromkeys(check(self.place, response.status_code, kind, response.content, self._hide)))
        return response

    def _within_deadline(self, work: Callable[[], requests.Response]) -> requests.Response:
        """The result of `work`, or JPO-E103 when time is up: sockets have timeouts only per read, resolvers have none."""
        answer: Future[requests.Response] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except (TelemetryError, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                answer.set_exception(error)

        threading.Thread(target=run, name="jpo-telemetry", daemon=True).start()
        try:
            return answer.result(timeout=max(0.0, self.left()))
        except TimeoutError as error:
            raise self._too_late() from error

    def _exchange(self, request: requests.PreparedRequest, kwargs: dict[str, Any]) -> requests.Response:
        """Send, follow redirects on the same server, and read the whole body."""
        for _ in range(MOST_REDIRECTS + 1):
            left = self.left()
            if left <= 0:
                raise self._too_late()
            self.requests += 1
            # Straight to the adapter: Session.send would read the body of a redirect before anyone looks at its size.
            response = self.get_adapter(str(request.url)).send(
                request, stream=True, timeout=(min(CONNECT_SECONDS, left), left), verify=kwargs["verify"], cert=kwargs["cert"]
            )
            if not response.is_redirect:
                body = self._body(response)
                response.raw = io.BytesIO(body)  # what .content and .json() read from now on
                return response
            response.close()
            request = self._redirected(request, response.headers["Location"])
        raise TelemetryError(self.place, "redirects in a circle", "write the address that it leads to", code="JPO-E104")

    def _body(self, response: requests.Response) -> bytes:
        """The decoded body, read against the clock and the limit on size."""
        chunks, size = [], 0
        try:
            for chunk in response.raw.stream(16 * 1024, decode_content=True):
                chunks.append(chunk)
                size += len(chunk)
                if size > LARGEST_ANSWER_BYTES:
                    limit = f"answered with more than {LARGEST_ANSWER_BYTES // 2**20} MiB"
                    raise TelemetryError(self.place, limit, "narrow the window with --since", code="JPO-E109")
                if self.left() <= 0:
                    raise self._too_late()
        finally:
            response.close()
        return b"".join(chunks)

    def _redirected(self, request: requests.PreparedRequest, location: str) -> requests.PreparedRequest:
        old, new = urlsplit(str(request.url)), urlsplit(urljoin(str(request.url), location))
        same_server = (new.scheme, new.netloc) == (old.scheme, old.netloc)
        upgraded = (old.scheme, new.scheme) == ("http", "https") and new.hostname == old.hostname
        if not (same_server or upgraded):
            finding = f"redirects to another server, {quote(new.hostname)} (a sign-in page?)"
            raise TelemetryError(self.place, finding, "write the address of Prometheus itself", code="JPO-E104")
        following = request.copy()
        following.url = new.geturl()
        return following

    def explained(self, error: Exception) -> TelemetryError:
        """What a failure of the transport means. The library's own texts are not repeated: they may hold headers or the query."""
        offline = "check the URL and that the server runs, or use --offline"
        if isinstance(error, requests.exceptions.SSLError | urllib3.exceptions.SSLError):
            reason = "certificate is not trusted" if "CERTIFICATE_VERIFY" in str(error) else "TLS handshake failed"
            return TelemetryError(
                self.place, reason, "set ca_file to the server's certificate authority; is it https?", code="JPO-E106"
            )
        if isinstance(error, requests.ConnectTimeout):
            return TelemetryError(self.place, f"no connection within {CONNECT_SECONDS:g} s", offline, code="JPO-E102")
        if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
            return self._too_late()
        if isinstance(error, urllib3.exceptions.ProtocolError):
            return PassingTrouble(self.place, "answer was cut off", "check the proxy in front of Prometheus", code="JPO-E108")
        if isinstance(error, requests.ConnectionError) and isinstance(error.args[0], urllib3.exceptions.ProtocolError):
            return PassingTrouble(self.place, "closed the connection without an answer", offline, code="JPO-E102")
        if isinstance(error, requests.ConnectionError):
            finding = "host name is not known" if "NameResolution" in repr(error) else "no connection"
            return TelemetryError(self.place, finding, offline, code="JPO-E102")
        return TelemetryError(self.place, f"no usable answer ({type(error).__name__})", "check the URL", code="JPO-E104")

    def _too_late(self) -> TelemetryError:
        finding = f"no complete answer within {self._source.timeout_seconds:g} s"
        return TelemetryError(self.place, finding, "raise --timeout, narrow --since, or use --offline", code="JPO-E103")

    def _hide(self, text: str) -> str:
        for secret in self._source.secrets:
            text = text.replace(secret, "***")
        return text


def _encoded(credentials: tuple[str, str] | None) -> tuple[bytes, bytes] | None:
    """UTF-8, as RFC 7617 allows: requests alone knows only Latin-1."""
    return None if credentials is None else (credentials[0].encode(), credentials[1].encode())


def _move_long_query_into_body(request: requests.PreparedRequest) -> None:
    address, _, query = str(request.url).partition("?")
    if len(query) + len(address) > LONGEST_URL:
        request.method, request.url = "POST", address
        request.prepare_body(query, None)
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
