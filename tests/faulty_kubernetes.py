"""An API server at the end of a path on which one call goes wrong: attempts of a Session belong to one of its calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from faulty_path import ON_THE_WAY, Path, Request, Wrong, path_to
from kubernetes_cluster import PATH, problem

from jpo.plugins.launch.engines.kubernetes import session
from jpo.plugins.launch.engines.kubernetes.session import Session

WAYS = {
    **ON_THE_WAY,
    "throttled": Wrong(carried_out=False, answer=("too many requests, please try again later", 429)),
    "an error of the server": Wrong(carried_out=False, answer=("etcdserver: leader changed", 500)),
    "an error after it was done": Wrong(carried_out=True, answer=("etcdserver: request timed out", 500)),
    "unavailable": Wrong(carried_out=False, answer=("apiserver is shutting down", 503)),
    "a gateway that does not wait": Wrong(carried_out=True, answer=("Gateway Timeout", 504)),
    "a login that has expired": Wrong(carried_out=False, answer=("Unauthorized", 401)),
    "a conflict": Wrong(carried_out=False, answer=("the object has been modified", 409), only="PATCH .*"),
    "no quota": Wrong(carried_out=False, answer=("exceeded quota: team", 403), only="POST .*"),
}


class FaultyKubernetes:
    """`url` of the API server; `calls`: how many a Session has made."""

    def __init__(self, url: str) -> None:
        self.url, self.calls = url, 0

    def call(self, request: Request) -> tuple[str, object]:
        found = PATH.fullmatch(request.path.partition("?")[0])
        assert found, request.path
        return f"{request.method} {'/'.join(filter(None, (found['kind'], found['sub'])))}", self.calls

    def address(self, _request: Request) -> str:
        return self.url

    def error(self, _request: Request, code: str, status: int) -> bytes:
        return json.dumps(problem(status, code)[1]).encode()


@contextmanager
def path_to_cluster(url: str) -> Iterator[Path]:
    """Each call of a Session is one, whatever it tries again, and does not wait long for an answer that will not come."""
    response, service = Session._response, FaultyKubernetes(url)
    with path_to(service) as route, pytest.MonkeyPatch.context() as patch:

        def begun(*told: Any) -> Any:
            service.calls += 1
            patch.setattr(session, "TIMEOUT", (5.0, 0.2 if route.is_silent(service.calls) else 30.0))
            return response(*told)

        patch.setattr(Session, "_response", begun)
        yield route
