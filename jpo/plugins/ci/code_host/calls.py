"""JSON calls to the API of a code host through the guarded session, and what a refusal means in one line."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

from jpo.errors import CodeHostError, TelemetryError
from jpo.files.reading import json_value
from jpo.http.answers import BUSY, Busy, CheckedAnswer, PassingTrouble
from jpo.http.endpoint import Endpoint
from jpo.http.quoting import quote
from jpo.http.session import GuardedSession, Service
from jpo.plugins.ci.code_host.merge_request import HostAccess
from jpo.plugins.ci.code_host.repository import strange

Kind = TypeVar("Kind")
REPEATABLE = ("GET", "PUT", "PATCH", "DELETE")
"""Once more of these does nothing else; a second POST is a second note."""
RATE_LIMITS = ("X-RateLimit-Remaining", "RateLimit-Remaining")
REACHABLE = "is it reachable from the runner?"
STRANGE = ("JPO-E104", "JPO-E109")
"""Of the session: an answer that is none of an API."""
REFUSALS = {
    401: ("does not accept the token", "JPO-E901"),
    403: ("does not let this token do that", "JPO-E902"),
    404: ("knows no such {missing}, or does not show it to this token", "JPO-E903"),
}


class InDoubtError(CodeHostError):
    """Nobody knows whether it arrived."""


class Calls:
    """Calls to the API of a host; a context manager. One deadline holds for all of them."""

    def __init__(self, access: HostAccess, *, timeout_seconds: float) -> None:
        gitlab = access.host == "gitlab"
        self._access = access
        source = Endpoint(
            url=access.api_url,
            timeout_seconds=timeout_seconds,
            bearer_token=None if gitlab else access.token,
            headers={"PRIVATE-TOKEN": access.token} if gitlab else {"X-GitHub-Api-Version": "2022-11-28"},
            ca_file=access.ca_file,
        )
        name = "GitLab" if gitlab else "GitHub"
        service = Service(name, self._accepted, absent=REACHABLE, late="raise --timeout", large="", repeatable=REPEATABLE)
        self._session = GuardedSession(source, service)

    def __enter__(self) -> "Calls":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def ask(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, query: Mapping[str, object] | None = None
    ) -> tuple[object, Mapping[str, str]]:
        """The JSON of an answer, and its headers.

        Raises InDoubtError: JPO-E905, temporary trouble: a POST may have been carried out; CodeHostError: JPO-E901 to E906.
        """
        url = f"{self._session.place}/{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response = self._session.request(method, url, json=body)
        except PassingTrouble as error:
            raise InDoubtError(error.place, error.finding, "try again later", code="JPO-E905") from error
        except TelemetryError as error:
            remedy = "set JPO_COMMENT_CA_FILE to its authority" if error.code == "JPO-E106" else REACHABLE
            code = "JPO-E906" if error.code in STRANGE else "JPO-E905"
            raise CodeHostError(error.place, error.finding, remedy, code=code) from error
        return self._session.answer.data, response.headers

    def found(self, path: str, **query: object) -> object | None:
        """What is there; None for what is not."""
        try:
            return self.ask("GET", path, query=query)[0]
        except CodeHostError as error:
            if error.code == "JPO-E903":
                return None
            raise

    def listed(self, path: str, **query: object) -> list[object]:
        found, _ = self.ask("GET", path, query=query)
        if not isinstance(found, list):
            raise strange(path)
        return found

    def _accepted(self, place: str, status: int, headers: Mapping[str, str], body: bytes) -> CheckedAnswer:
        """What was answered; status, content type and form say what it is instead."""
        if status == 204:
            return CheckedAnswer({})
        document = _document(body) if "json" in headers.get("Content-Type", "").lower() else None
        said = quote(_reason(document)) if document is not None else "a web page"
        limited = headers.get("Retry-After") or any(headers.get(name) == "0" for name in RATE_LIMITS)
        if status in BUSY or status >= 500 or (status == 403 and limited):
            raise Busy(place, f"is not available (HTTP {status}): {said}", code="JPO-E905")
        if status in REFUSALS:
            finding, code = REFUSALS[status]
            finding = finding.format(missing=self._access.purpose.missing)
            remedy = self._access.purpose.remedies.get((self._access.host, status), "")
            raise CodeHostError(place, f"{finding} (HTTP {status}): {said}", remedy, code=code)
        if document is None:
            finding = f"answered with HTTP {status} and no JSON (a sign-in page?)"
            raise CodeHostError(place, finding, "is this the address of the API?", code="JPO-E906")
        if not 200 <= status < 300:
            raise CodeHostError(place, f"refused {self._access.purpose.what} (HTTP {status}): {said}", code="JPO-E904")
        return CheckedAnswer(document)


def part(found: object, name: str, path: str, kind: type[Kind]) -> Kind:
    """A field of an answer; CodeHostError JPO-E906 where it has none of this name and kind."""
    if isinstance(found, dict) and name in found and isinstance(value := found[name], kind):
        return value
    raise strange(path)


def _document(body: bytes) -> dict[str, object] | list[object] | None:
    try:
        document = json_value(body)
    except ValueError:
        return None
    return document if isinstance(document, dict | list) else None


def _reason(document: object) -> str:
    """The host's own words: {"message": ...} of both, {"errors": [{"message": ...}]} of GitHub, lists by field
    and {"error", "error_description"} of GitLab; each once."""
    if not isinstance(document, dict):
        return "no reason given"
    said = [words for name in ("message", "errors", "error", "error_description") for words in _words(document.get(name))]
    return ": ".join(dict.fromkeys(said)) or "no reason given"


def _words(said: object, levels: int = 3) -> Iterator[str]:
    """The sentences in a part of an answer, as deep as hosts put them; of GitHub's errors without a message, field and code."""
    match said:
        case str() if said:
            yield said
        case [*parts] if levels:
            for part in parts:
                yield from _words(part, levels - 1)
        case {"message": str(message)}:
            yield message
        case {"field": str(field), "code": str(code)}:
            yield f"{field} {code}"
        case dict() if levels:
            for name, inner in said.items():
                yield from (f"{name} {words}" for words in _words(inner, levels - 1))
