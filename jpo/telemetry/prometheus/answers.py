"""Answers of a server, checked before any number is used: status, content type, JSON and shape.

Pure functions; client.py sends the requests. Causes and remedies follow what real servers and the proxies in front of them
answered (docs/decisions/0002).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from jpo.errors import TelemetryError
from jpo.files.reading import json_value, number
from jpo.http.answers import BUSY, Busy, CheckedAnswer, PassingTrouble, TooMuch
from jpo.http.quoting import LONGEST, quote
from jpo.wording.hidden import hidden

LIMITS = re.compile(
    r"too many (samples|points|chunks|series|bytes)"  # Prometheus, VictoriaMetrics
    r"|exceeded maximum resolution"  # Prometheus: query_range
    r"|-search\.max(Samples|Unique|Points|Series|QueryLen|Memory|Export)"  # VictoriaMetrics' flags
    r"|not enough memory for processing"  # VictoriaMetrics
    r"|timeout exceeded"  # VictoriaMetrics: -search.maxQueryDuration
    r"|context deadline exceeded"  # Prometheus: --query.timeout, where its storage notices first
    r"|err-(mimir|cortex)-max-|exceeds the limit|exceeded the maximum number"  # Mimir, Cortex
    r"|(series|samples|chunks|bytes) limit exceeded|exceeded (series|samples|chunks|bytes) limit|ResourceExhausted",  # Thanos
    re.IGNORECASE,
)
"""What servers say when a query asks for more than they give at once."""
INFORMATION = "PromQL info:"
"""Beginning of remarks that Prometheus 2.48 to 2.53 and Thanos put among the warnings; they concern metric names."""
PARTIAL = ("isPartial", "partial", "partialResponse")
"""What servers write next to `data` of an answer that lacks something; the first is that of VictoriaMetrics' cluster."""
PARTIAL_HEADER = re.compile(r"warning|.*-warnings|.*partial.*|.*results-limited", re.IGNORECASE)
"""HTTP headers that say the same: RFC 7234 (a stale copy), M3 (M3-Results-Limited, M3-Warnings), proxies of their own."""
SAYS_NO = ("", "0", "false", "no", "none")
SLACK_SECONDS = 300.0
"""How far a time may lie outside of the window that was asked: VictoriaMetrics looks half a minute back."""
Kind = Literal["vector", "matrix"]
"""What was asked for: a value of each series, or its samples."""


class PartialAnswer(TelemetryError):
    """Code JPO-E113: the server says that its answer lacks something. Nothing that was read with it counts."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One series of an answer: its labels and (unix seconds, value) points; an instant vector has one point each."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def value(self) -> float:
        return self.points[-1][1]


def check(place: str, status: int, headers: Mapping[str, str], body: bytes) -> CheckedAnswer:
    """Accept an answer of Prometheus' HTTP API with `data` of any shape, or say what it is instead.

    `headers`: with `Content-Type`.

    Raises PassingTrouble: worth another attempt; TooMuch: worth a narrower query; TelemetryError: JPO-E101 to E105 and E108.
    """
    content_type = headers.get("Content-Type", "").lower()
    document = _document(body) if "json" in content_type else None
    if status in (401, 403):
        what = "refused the credentials" if status == 401 else "does not allow this user to query"
        finding = f"{what} (HTTP {status}): {quote(_reason(document or {}))}"
        raise TelemetryError(place, finding, "check user, password or token in [prometheus] auth", code="JPO-E101")
    if document is None and status == 200 and "json" in content_type:
        remedy = "check the proxy in front of Prometheus"
        raise PassingTrouble(place, "answer was cut off or is not JSON", remedy, code="JPO-E108")
    if document is None or "status" not in document:
        raise _not_prometheus(place, status, content_type, body)
    if status != 200 or document["status"] != "success":
        raise _refused(place, status, document, _reason(document))
    data = document.get("data")
    if not isinstance(data, dict | list):
        raise without_data(place)
    warnings = document.get("warnings") or []
    said = [*map(str, warnings if isinstance(warnings, list) else [warnings]), *_partial(headers, document)]
    return CheckedAnswer(data, tuple(quote(text) for text in said if not text.startswith(INFORMATION)))


def without_data(place: str) -> TelemetryError:
    return TelemetryError(place, "answered without data", "is this the address of a Prometheus API?", code="JPO-E104")


def _partial(headers: Mapping[str, str], document: Mapping[str, object]) -> list[str]:
    """What else says that something is missing. Only a plain no says that nothing is: all else has a reason."""
    data = document.get("data")
    places = [document, data] if isinstance(data, dict) else [document]
    flags = [place.get(name) for place in places for name in PARTIAL]
    said = [f"{name}: {value}" for name, value in headers.items() if PARTIAL_HEADER.fullmatch(name) and not _no(value)]
    return [*said, *(["the answer is partial"] if not all(map(_no, flags)) else [])]


def _no(value: object) -> bool:
    return value is None or str(value).strip().lower() in SAYS_NO


def rows(place: str, data: object, kind: Kind, begin: float = -math.inf, until: float = math.inf) -> list[AnswerRow]:
    """The series of `data`, in the kind that was asked for, each one once, with times in [begin, until] (unix seconds).

    Raises TelemetryError: JPO-E104, they are of another kind or shape: an answer to another question is not an empty one.
    """
    if not isinstance(data, dict) or "result" not in data:
        raise without_data(place)
    if data.get("resultType") != kind:
        raise strange(place, f"answered with {quote(data.get('resultType') or 'data of no kind')}, where a {kind} was asked for")
    if not isinstance(data["result"], list):
        raise strange(place, "answered with malformed series")
    try:
        found = [_row(item, kind) for item in data["result"]]
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:  # JSON knows whole numbers of any length
        raise strange(place, "answered with malformed series") from error
    if len({frozenset(row.labels.items()) for row in found}) < len(found):
        raise strange(place, "answered with the same series twice")
    if not all(begin - SLACK_SECONDS <= time <= until + SLACK_SECONDS for row in found for time, _ in row.points):
        raise strange(place, "answered with times that were not asked for")
    return found


def strange(place: str, finding: str = "answered with series that were not asked for") -> TelemetryError:
    """JPO-E104 for rows that cannot be answers to our query, however well they are formed."""
    remedy = "is this a Prometheus API, and no cache or stub in front of it?"
    return TelemetryError(place, finding, remedy, code="JPO-E104")


def _row(item: dict[str, object], kind: Kind) -> AnswerRow:
    labels, points = item["metric"], item["values"] if kind == "matrix" else [item["value"]]
    if not isinstance(labels, dict) or not isinstance(points, list) or not points:
        raise TypeError
    if not all(isinstance(value, str) for value in labels.values()):
        raise TypeError
    for time, value in points:  # a sample's value is always text
        if isinstance(time, bool) or not isinstance(time, int | float) or not math.isfinite(time) or not isinstance(value, str):
            raise TypeError
    row = AnswerRow(labels, tuple((float(time), number(value)) for time, value in points))
    if any(later < earlier for (earlier, _), (later, _) in pairwise(row.points)):
        raise ValueError
    return row


def texts(place: str, data: object) -> tuple[str, ...]:
    """The values of a label; JPO-E104 when they have another shape."""
    if not isinstance(data, list) or not all(isinstance(value, str) for value in data):
        raise without_data(place)
    return tuple(data)


def _document(body: bytes) -> dict[str, object] | None:
    """The JSON object of a body; None when it is not JSON that says one thing, empty when it is something else than an object."""
    try:
        document = json_value(body)
    except ValueError:
        return None
    return document if isinstance(document, dict) else {}


def _not_prometheus(place: str, status: int, content_type: str, body: bytes) -> TelemetryError:
    if status in (413, 414):
        return TooMuch(place, f"query is too long for a proxy (HTTP {status})", "narrow the window with --since", code="JPO-E105")
    if status in BUSY:
        return Busy(place, f"is not available (HTTP {status})", "try again later, or use --offline", code="JPO-E102")
    if b"HTTP request to an HTTPS server" in body[:500] or b"request was sent to HTTPS port" in body[:500]:  # Go, nginx
        return TelemetryError(place, "is an HTTPS server", "write https:// in the URL", code="JPO-E104")
    if b"SSL certificate" in body[:500]:  # nginx
        return TelemetryError(place, "asks for a client certificate", "set cert_file and key_file", code="JPO-E106")
    what = "a web page (a sign-in page?)" if "html" in content_type else f"HTTP {status} without a Prometheus answer"
    remedy = "check the URL; is there a route prefix such as /prometheus?"
    return TelemetryError(place, f"answered with {what}", remedy, code="JPO-E104")


def _reason(document: dict[str, object]) -> str:
    """The server's words. VictoriaMetrics repeats the query, which may be long, and names the cause after it."""
    text = hidden(str(document.get("error") or document.get("message") or "no reason given"))  # message: AWS
    return (text.rpartition('": ')[2] or text) if len(text) > LONGEST else text


def _refused(place: str, status: int, document: dict[str, object], reason: str) -> TelemetryError:
    if document.get("errorType") in ("timeout", "canceled"):
        # Another attempt would meet the same limit of the server: narrow the query instead.
        return TooMuch(place, f"gave up the query: {quote(reason)}", "narrow the window with --since", code="JPO-E103")
    too_much = LIMITS.search(reason)
    if status in BUSY and not too_much:
        finding = f"is not available (HTTP {status}): {quote(reason)}"
        return Busy(place, finding, "try again later, or use --offline", code="JPO-E102")
    if status == 404:
        remedy = "check the URL; is there a route prefix such as /prometheus?"
        return TelemetryError(place, f"knows no such address (HTTP 404): {quote(reason)}", remedy, code="JPO-E104")
    finding = f"rejected the query (HTTP {status}): {quote(reason)}"
    if too_much:
        return TooMuch(place, finding, "narrow the window with --since", code="JPO-E105")
    return TelemetryError(place, finding, "narrow the window with --since, or report it as a bug of JPO", code="JPO-E105")
