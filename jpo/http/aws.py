"""Sessions of boto3: clients whose answers are bounded in time, and whose tokens no quote repeats. They only connect.

Credentials and endpoints are those of AWS' own tools. Needs `pip install "jpo[aws]"`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jpo.http.quoting import keep_secret

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from botocore.loaders import Loader

REQUEST_SECONDS = 20.0
"""Longest wait for one answer."""
CREDENTIALS: tuple[str, ...] = ("Auth", "InvalidClientTokenId", "Unrecognized", "Expired", "Signature", "IncompleteSignature")
CREDENTIALS += ("OptIn", "Unauthorized", "AccessDenied", "InvalidAccessKeyId", "MissingAuthenticationToken", "RequestExpired")
CREDENTIALS += ("Forbidden", "403")
"""Beginnings of the codes by which AWS does not accept credentials, or does not let them do it."""
ROLE = "give this job an AWS role or profile; `aws sts get-caller-identity` shows what it has"
"""What helps without credentials."""


def session(*, attempts: int, request_seconds: float = REQUEST_SECONDS) -> Any:
    """A session of boto3, of which clients are made; ImportError without boto3, and 0.2 s with it."""
    import boto3
    import botocore.session
    from botocore.config import Config

    core, retries = botocore.session.get_session(), {"total_max_attempts": attempts, "mode": "standard"}
    config = Config(connect_timeout=request_seconds, read_timeout=request_seconds, retries=retries)
    core.set_default_client_config(config)
    core.register_component("data_loader", _descriptions())
    core.register("before-send", _keep_token)
    return boto3.session.Session(botocore_session=core)


@cache
def _descriptions() -> Loader:
    """What boto3 knows of AWS' services: tens of megabytes, read once for all clients of a process."""
    from botocore.loaders import create_loader

    return create_loader()


def _keep_token(request: Any, **_: object) -> None:
    token = request.headers.get("X-Amz-Security-Token")
    keep_secret(token.decode() if isinstance(token, bytes) else token)


def code_of(error: ClientError) -> str:
    """Code of a refusal, e.g. "InsufficientInstanceCapacity"."""
    return str(error.response.get("Error", {}).get("Code", "unknown"))[:80]
