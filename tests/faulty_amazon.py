"""EC2, Service Quotas and S3 at the end of a path on which one call goes wrong: attempts of boto3 have one invocation id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from amazon import ERROR
from faulty_path import ON_THE_WAY, Path, Request, Wrong, path_to

S3_ERROR = "<Error><Code>{}</Code><Message>{}</Message></Error>"
WAYS = {
    **ON_THE_WAY,
    "throttled": Wrong(carried_out=False, answer=("RequestLimitExceeded", 503)),
    "an error of AWS": Wrong(carried_out=False, answer=("InternalError", 500)),
    "an error after it was done": Wrong(carried_out=True, answer=("InternalError", 500)),
    "unavailable": Wrong(carried_out=False, answer=("ServiceUnavailable", 503)),
    "no capacity": Wrong(carried_out=False, answer=("InsufficientInstanceCapacity", 500), only="RunInstances"),
}


@dataclass(frozen=True)
class FaultyAmazon:
    """`ec2`, `s3`: URLs of what answers."""

    ec2: str
    s3: str

    def call(self, request: Request) -> tuple[str, object]:
        return _name(request), request.headers.get("amz-sdk-invocation-id", "")

    def address(self, request: Request) -> str:
        return self.ec2 if _form(request) or "X-Amz-Target" in request.headers else self.s3

    def error(self, request: Request, code: str, _status: int) -> bytes:
        return str((ERROR if _form(request) else S3_ERROR).format(code, "not now")).encode()


def _form(request: Request) -> dict[str, list[str]]:
    """What EC2 is asked; empty: it is another service."""
    return parse_qs(request.body.decode("latin-1")) if b"Action=" in request.body[:4000] else {}


def _name(request: Request) -> str:
    form = _form(request)
    if "X-Amz-Target" in request.headers:
        return request.headers["X-Amz-Target"].partition(".")[2]
    if form:
        return "RunInstances, dry" if "DryRun" in form else form["Action"][0]
    query, last = urlsplit(request.path).query, urlsplit(request.path).path.rpartition("/")[2]
    return f"{request.method} {'list' if 'list-type' in query else last}"


@contextmanager
def path_to_amazon(ec2: str, s3: str) -> Iterator[Path]:
    """Clients of boto3 wait for an answer that comes as long as it takes, and not for one that does not."""
    from botocore.awsrequest import AWSHTTPConnectionPool
    from urllib3 import Timeout
    from urllib3.exceptions import ReadTimeoutError

    urlopen = AWSHTTPConnectionPool.urlopen
    with path_to(FaultyAmazon(ec2, s3)) as route, pytest.MonkeyPatch.context() as patch:

        def asked(pool: Any, *request: Any, headers: Any, **how: Any) -> Any:
            silent = pool.port == route.server_port and route.is_silent(headers["amz-sdk-invocation-id"].decode())
            wait = Timeout(connect=60.0, read=0.02 if silent else 60.0)  # the fault decides, not how busy this machine is
            try:
                return urlopen(pool, *request, headers=headers, timeout=wait, **how)
            except ReadTimeoutError:
                assert route.silences.acquire(timeout=60.0)
                raise

        patch.setattr(AWSHTTPConnectionPool, "urlopen", asked)
        yield route
