"""Endpoint: address, credentials and deadline of a server that is asked over HTTP.

The caller resolves token files and environment variables; only their values arrive here, and no text of an endpoint shows them.
"""

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jpo.errors import UsageError, quoted
from jpo.wording.hidden import SHORTEST_SENT

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110."""


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """A server, and what JPO shows to it.

    Attributes:
        url: base address with its route prefix, e.g. http://prometheus:9090; `user:password@` in it means basic authentication.
        timeout_seconds: deadline for all requests and retries together.
        username, password: basic authentication, or None.
        bearer_token: the token itself, or None.
        headers: further headers, e.g. X-Scope-OrgID.
        ca_file: certificate authorities to trust instead of the bundled ones.
        verify: False trusts any certificate.
        client_cert: files of JPO's own certificate and its key (mTLS), or None.
        sigv4_region: sign requests for this AWS region, or None.

    Raises UsageError: JPO-E107, when no request could ever be built from these values.
    """

    url: str
    timeout_seconds: float = 10.0
    username: str | None = None
    password: str | None = None
    bearer_token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_file: Path | None = None
    verify: bool = True
    client_cert: tuple[Path, Path] | None = None
    sigv4_region: str | None = None

    def __post_init__(self) -> None:
        _check_url(self.url)
        if not 0 < self.timeout_seconds < float("inf"):
            raise _unusable(self.shown_url, f"timeout of {self.timeout_seconds} seconds", "write a positive number of seconds")
        methods = {"bearer token": self.bearer_token, "user name": self.credentials, "sigv4": self.sigv4_region}
        chosen = [method for method, value in methods.items() if value is not None]
        if len(chosen) > 1:
            raise _unusable(self.shown_url, f"has {' and '.join(chosen)}", "keep one of them")
        for name, value in self.request_headers.items():
            if not HEADER_NAME.fullmatch(name):
                raise _unusable(self.shown_url, f"{quoted(name)} is not a header name", "write e.g. X-Scope-OrgID")
            if not (value.isprintable() and value.isascii() and value == value.strip()):
                finding = f"value of header {name} has line breaks, blanks around it or characters outside ASCII"
                raise _unusable(self.shown_url, finding, "remove them")
        certificate, key = self.client_cert or (None, None)
        for name, file in {"ca_file": self.ca_file, "cert_file": certificate, "key_file": key}.items():
            if file is not None and not _readable(file):
                raise _unusable(str(file), "does not exist or cannot be read", f"correct {name}, or the mode of the file")

    def __repr__(self) -> str:
        return f"Endpoint({self.shown_url!r}, timeout_seconds={self.timeout_seconds:g})"

    @property
    def shown_url(self) -> str:
        """The base address without credentials and closing slash: what requests use and messages show."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")

    @property
    def credentials(self) -> tuple[str, str] | None:
        """User and password for basic authentication: those named, else those in the URL."""
        if self.username is not None:
            return self.username, self.password or ""
        parts = urlsplit(self.url)
        return (unquote(parts.username or ""), unquote(parts.password or "")) if parts.username or parts.password else None

    @property
    def request_headers(self) -> dict[str, str]:
        """The headers of every request, with the bearer token if there is one."""
        bearer = {} if self.bearer_token is None else {"Authorization": f"Bearer {self.bearer_token}"}
        return {"Accept": "application/json", **self.headers, **bearer}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not be repeated even if a server does."""
        user, password = self.credentials or ("", "")
        basic = b64encode(f"{user}:{password}".encode()).decode() if password else ""
        secrets = (self.bearer_token or "", password, basic, *self.headers.values())
        return tuple(text for text in secrets if len(text) >= SHORTEST_SENT)


def _readable(file: Path) -> bool:
    try:
        return file.is_file() and os.access(file, os.R_OK)
    except OSError:  # a folder on the way is closed
        return False


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise _unusable("Prometheus URL", "host or port is malformed", "write e.g. http://prometheus:9090") from error
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # An address without a scheme may hold credentials in any place: it is not shown.
        raise _unusable("Prometheus URL", "has no http:// or https:// with a host", "write e.g. http://prometheus:9090")
    if not url.isprintable() or " " in url:  # urlsplit drops line breaks silently
        raise _unusable("Prometheus URL", "has blanks or control characters", "remove them")
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # a / ? or # in a password ends the host, and the rest would be shown
        raise _unusable("Prometheus URL", "has an @ after the host", "write / ? # @ in user and password as %2F %3F %23 %40")
    if parts.query or parts.fragment:
        raise _unusable(shown, "has a ? or # part", f"write only the base address, e.g. {shown}")


def _unusable(place: str, finding: str, remedy: str) -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E107")
