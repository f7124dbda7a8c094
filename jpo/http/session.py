"""GuardedSession: a requests session with a deadline, which trusts no answer unchecked.

One deadline over everything, including name resolution and bodies that trickle in; redirects only to the same server; retries
only where they help; long queries in the request body; a limit on size; warnings kept; each hop of a request signed anew.
Proxies and netrc of the environment are not used: only what the endpoint says counts.
"""

import io
import ssl
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException, RemoteDisconnected
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
import urllib3
from requests.auth import HTTPBasicAuth

from jpo.errors import TelemetryError
from jpo.http.answers import CheckedAnswer, PassingTrouble, TooMuch, seconds_to_wait
from jpo.http.aws import Signer
from jpo.http.endpoint import Endpoint
from jpo.http.quoting import quote
from jpo.http.tls import check_files, why_refused
from jpo.timeouts import NoAnswerInTime, within
from jpo.wording.hidden import keep_secret

CONNECT_SECONDS = 2.0
SHORTEST_TRY_SECONDS = 0.5
"""Time that must be left for another attempt."""
LARGEST_ANSWER_BYTES = 64 * 2**20
"""About 3 million samples; a larger answer would take the memory of a small CI runner (nine times its size, measured)."""
LONGEST_URL = 6000
"""Bytes; proxies cut at 8 kB. Short queries stay GET: kube-rbac-proxy lets viewers GET, not POST."""
MOST_REDIRECTS = 5
NO_RETRIES = urllib3.Retry(0, read=False)
"""Of the transport: the session retries."""


@dataclass(frozen=True, slots=True)
class Service:
    """What a server is.

    Attributes:
        check: accepts an answer by place, status, headers and body, or raises what it is instead.
        absent, late, large: what helps where it does not answer, not in time, or with too much.
        repeatable: methods that may be sent again after temporary trouble.
    """

    name: str
    check: Callable[..., CheckedAnswer]
    absent: str
    late: str
    large: str
    repeatable: tuple[str, ...] = ("GET", "POST")


class GuardedSession(requests.Session):
    """A requests session whose answers are complete, in time and from the service that was meant, or a TelemetryError."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        super().__init__()
        self._service = service
        check_files(endpoint.ca_file, endpoint.client_cert)
        self.trust_env = False
        self.verify = str(endpoint.ca_file) if endpoint.ca_file and endpoint.verify else endpoint.verify
        if endpoint.client_cert:
            certificate, key = endpoint.client_cert
            self.cert = (str(certificate), str(key))
        self.headers.update({"Accept-Encoding": "gzip", **endpoint.request_headers})
        if endpoint.credentials:
            user, password = endpoint.credentials
            self.auth = HTTPBasicAuth(user.encode(), password.encode())  # RFC 7617 allows UTF-8; requests' own choice is Latin-1
        self.place = endpoint.shown_url
        self.requests = 0
        self.warnings: dict[str, None] = {}
        self.answer = CheckedAnswer({}, ())
        """The last one; the library returns less of it."""
        keep_secret(*endpoint.secrets)
        self._endpoint = endpoint
        self._signer = Signer(endpoint.sigv4_region, self.place) if endpoint.sigv4_region else None
        self._asked_to_wait_seconds = 0.0
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Seconds since the session was opened."""
        return time.monotonic() - self._began

    def left(self) -> float:
        """Seconds until the deadline."""
        return self._endpoint.timeout_seconds - self.seconds()

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        """As of requests; the errors of a request that could not even be built become TelemetryErrors as well."""
        try:
            return super().request(*arguments, **options)
        except (requests.RequestException, ValueError) as error:
            raise self._explained(error) from None

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """One checked answer; retried after temporary trouble, as long as there is time."""
        address, _, query = str(request.url).partition("?")
        if len(query) + len(address) > LONGEST_URL and address.endswith("/query"):  # no other endpoint takes POST everywhere
            request.method, request.url = "POST", address
            request.prepare_body(query, None)
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        tries = 0
        while True:
            try:
                return self._checked(request, kwargs)
            except PassingTrouble as trouble:
                if tries == len(trouble.pauses) or request.method not in self._service.repeatable:
                    raise
                pause = max(trouble.pauses[tries], self._asked_to_wait_seconds)
                if self.left() < pause + SHORTEST_TRY_SECONDS:
                    raise
            time.sleep(pause)
            tries += 1

    def _checked(self, request: requests.PreparedRequest, kwargs: dict[str, Any]) -> requests.Response:
        self._asked_to_wait_seconds = 0.0
        try:
            response = self._within_deadline(partial(self._exchange, request, kwargs))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self._explained(error) from None  # its text may hold headers
        self._asked_to_wait_seconds = seconds_to_wait(response.headers)
        self.answer = self._service.check(self.place, response.status_code, response.headers, response.content)
        self.warnings.update(dict.fromkeys(self.answer.warnings))
        return response

    def _within_deadline(self, work: Callable[[], requests.Response]) -> requests.Response:
        """The result of `work`, or JPO-E103 when time is up: sockets have timeouts only per read, resolvers have none."""
        # The report says that nothing is verified; urllib3 would say it on every request.
        silent = warnings.catch_warnings(action="ignore", category=urllib3.exceptions.InsecureRequestWarning)
        with nullcontext() if self.verify else silent:
            try:
                return within(self.left(), [work])[0]
            except NoAnswerInTime as error:
                raise self._too_late() from error

    def _exchange(self, request: requests.PreparedRequest, kwargs: dict[str, Any]) -> requests.Response:
        """Send, follow redirects on the same server, and read the whole body."""
        for _ in range(MOST_REDIRECTS + 1):
            if self._signer:
                self._signer.sign(request)
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
            encoding = response.headers.get("Content-Encoding", "identity")
            if encoding.strip().lower() not in ("gzip", "identity"):  # encoded twice, a few bytes become gigabytes in one step
                finding = f"answered in the encoding {quote(encoding)}"
                raise TelemetryError(self.place, finding, f"check the proxy in front of {self._service.name}", code="JPO-E104")
            self._check_size(response.raw.length_remaining or 0)
            for chunk in response.raw.stream(16 * 1024, decode_content=True):
                chunks.append(chunk)
                size += len(chunk)
                self._check_size(size)
                if self.left() <= 0:
                    raise self._too_late()
        finally:
            response.close()
        return b"".join(chunks)

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > LARGEST_ANSWER_BYTES:
            finding = f"answered with more than {LARGEST_ANSWER_BYTES // 2**20} MiB"
            raise TooMuch(self.place, finding, self._service.large, code="JPO-E109")

    def _redirected(self, request: requests.PreparedRequest, location: str) -> requests.PreparedRequest:
        old, new = urlsplit(str(request.url)), urlsplit(urljoin(str(request.url), location))
        upgraded = (old.scheme, new.scheme) == ("http", "https") and new.hostname == old.hostname
        if not (_server(new) == _server(old) or upgraded):
            elsewhere = quote(new.hostname or new.scheme)
            finding = f"redirects to another server, {elsewhere} (a sign-in page?)"
            raise TelemetryError(self.place, finding, f"write the address of {self._service.name} itself", code="JPO-E104")
        following = request.copy()
        following.url = new.geturl()
        return following

    def _explained(self, error: Exception) -> TelemetryError:
        """The error for a failed transport. The library's own texts are not repeated: they may hold headers or the query."""
        offline = self._service.absent
        if isinstance(error, requests.exceptions.SSLError | urllib3.exceptions.SSLError | ssl.SSLError):
            return TelemetryError(self.place, *why_refused(str(error)), code="JPO-E106")
        if isinstance(error, requests.ConnectTimeout):
            return TelemetryError(self.place, f"no connection within {CONNECT_SECONDS:g} s", offline, code="JPO-E102")
        if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
            return self._too_late()
        if isinstance(error, urllib3.exceptions.ProtocolError):
            remedy = f"check the proxy in front of {self._service.name}"
            return PassingTrouble(self.place, "answer was cut off", remedy, code="JPO-E108")
        if isinstance(error, requests.ConnectionError) and isinstance(error.args[0], urllib3.exceptions.ProtocolError):
            cause = error.args[0].args[-1]  # RemoteDisconnected: no answer at all, though http.client calls it a bad one
            if isinstance(cause, HTTPException) and not isinstance(cause, RemoteDisconnected):
                finding = "does not answer in HTTP"
                return TelemetryError(self.place, finding, "check the port; is it one for gRPC?", code="JPO-E104")
            return PassingTrouble(self.place, "closed the connection without an answer", offline, code="JPO-E102")
        if isinstance(error, requests.ConnectionError):
            finding = "host name is not known" if "NameResolution" in repr(error) else "no connection"
            return TelemetryError(self.place, finding, offline, code="JPO-E102")
        return TelemetryError(self.place, f"no usable answer ({type(error).__name__})", "check the URL", code="JPO-E104")

    def _too_late(self) -> TelemetryError:
        finding = f"no complete answer within {self._endpoint.timeout_seconds:g} s"
        return TelemetryError(self.place, finding, self._service.late, code="JPO-E103")


def _server(address: SplitResult) -> tuple[str, str | None, int | None]:
    return address.scheme, address.hostname, address.port or {"http": 80, "https": 443}.get(address.scheme)
