"""Which answers of a server are believed: status, content type, JSON and shape, checked before any number is used.

Pure functions; client.py does the talking. Causes and remedies follow what real servers and the proxies in front of them answered
(docs/decisions/0002).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jpo.errors import TelemetryError

LONGEST_QUOTE = 200
"""Characters of a server's own words that are repeated in a message."""


class PassingTrouble(TelemetryError):
    """Trouble that a second try may cure: the server is busy, the answer was cut off."""


@dataclass(frozen=True, slots=True)
class Row:
    """One series of an answer: its labels and (unix seconds, value) points; an instant vector has one point each."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def value(self) -> float:
        return self.points[-1][1]


def check(place: str, status: int, content_type: str, body: bytes, hide: Callable[[str], str] = str) -> tuple[str, ...]:
    """Accept an answer of the query API, or say what it is instead.

    Args:
        hide: takes secrets out of the server's own words before they are cut and repeated.

    Returns:
        The server's warnings; any of them means that the answer may be partial (Thanos, Mimir, VictoriaMetrics).

    Raises:
        PassingTrouble: worth a second try.
        TelemetryError: JPO-E101 to E105 and E108.
    """
    if status in (401, 403):
        found = "refused the credentials" if status == 401 else "does not allow this user to query"
        raise TelemetryError(
            place, f"{found} (HTTP {status})", "check user, password or token in [prometheus] auth", code="JPO-E101"
        )
    document = _document(body) if "json" in content_type else None
    if document is None and status == 200 and "json" in content_type:
        raise PassingTrouble(
            place, "answer was cut off or is not JSON", "check the proxy in front of Prometheus", code="JPO-E108"
        )
    if document is None or "status" not in document:
        raise _not_prometheus(place, status, content_type, body)
    if status != 200 or document["status"] != "success":
        raise _refused(place, status, document, quote(hide(str(document.get("error", "no reason given")))))
    data = document.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("result"), list):
        raise TelemetryError(place, "answered without data", "is this the address of a Prometheus API?", code="JPO-E104")
    warnings = document.get("warnings") or ()
    return tuple(quote(hide(str(w))) for w in (warnings if isinstance(warnings, list | tuple) else [warnings]))


def rows(place: str, result: object) -> list[Row]:
    """The series of `data.result`; JPO-E104 when they have another shape."""
    try:
        return [_row(item) for item in result]  # type: ignore[attr-defined]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise TelemetryError(place, "answered with malformed series", "is this a Prometheus API?", code="JPO-E104") from error


def _row(item: dict[str, object]) -> Row:
    labels, points = item["metric"], item["values"] if "values" in item else [item["value"]]
    if not isinstance(labels, dict) or not isinstance(points, list) or not points:
        raise TypeError
    return Row({str(k): str(v) for k, v in labels.items()}, tuple((float(t), float(v)) for t, v in points))


def quote(text: object) -> str:
    """Words of a server, fit for one line of a terminal: no control characters, not longer than LONGEST_QUOTE."""
    line = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * LONGEST_QUOTE])
    line = " ".join(line.split())
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + "…"


def _document(body: bytes) -> dict[str, object] | None:
    """The JSON object of a body; None when it is not JSON, empty when it is something else than an object."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else {}


def _not_prometheus(place: str, status: int, content_type: str, body: bytes) -> TelemetryError:
    if status in (429, 500, 502, 503, 504):
        return PassingTrouble(place, f"is not available (HTTP {status})", "try again later, or use --offline", code="JPO-E102")
    if b"HTTP request to an HTTPS server" in body[:500]:
        return TelemetryError(place, "is an HTTPS server", "write https:// in the URL", code="JPO-E104")
    what = "a web page (a sign-in page?)" if "html" in content_type else f"HTTP {status} without a Prometheus answer"
    return TelemetryError(
        place, f"answered with {what}", "check the URL; is there a route prefix such as /prometheus?", code="JPO-E104"
    )


def _refused(place: str, status: int, document: dict[str, object], reason: str) -> TelemetryError:
    if document.get("errorType") in ("timeout", "canceled"):
        # A second try would run into the same limit of the server: narrow the question instead.
        return TelemetryError(place, f"gave up the query: {reason}", "narrow the window with --since", code="JPO-E103")
    if status in (429, 500, 502, 503, 504):
        return PassingTrouble(
            place, f"is not available (HTTP {status}): {reason}", "try again later, or use --offline", code="JPO-E102"
        )
    return TelemetryError(
        place,
        f"rejected the query (HTTP {status}): {reason}",
        "narrow the window with --since, or report it as a bug of JPO",
        code="JPO-E105",
    )
