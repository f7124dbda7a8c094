"""AWS: sessions of boto3, whose clients' answers are bounded in time and whose tokens no quote repeats, and signed requests.

Credentials (environment, profile, role of pod or machine) and endpoints are those of AWS' own tools. Sessions need
`pip install "jpo[aws]"`.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from jpo.errors import TelemetryError, UsageError
from jpo.wording.hidden import keep_secret

if TYPE_CHECKING:
    import requests
    from botocore.exceptions import ClientError
    from botocore.loaders import Loader

SERVICE = "aps"
"""Amazon Managed Service for Prometheus."""
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
def _descriptions() -> "Loader":
    """What boto3 knows of AWS' services: tens of megabytes, read once for all clients of a process."""
    from botocore.loaders import create_loader

    return create_loader()


def _keep_token(request: Any, **_: object) -> None:
    token = request.headers.get("X-Amz-Security-Token")
    keep_secret(token.decode() if isinstance(token, bytes) else token)


def code_of(error: "ClientError") -> str:
    """Code of a refusal, e.g. "InsufficientInstanceCapacity"."""
    return str(error.response.get("Error", {}).get("Code", "unknown"))[:80]


class Signer:
    """Signer of requests for a region (AWS Signature Version 4), which Amazon's managed Prometheus requires; botocore signs.

    Each one as it is sent: a signature covers address and body, and ages in five minutes. Needs `pip install "jpo[sigv4]"`.
    Raises UsageError JPO-E115 when botocore is missing.
    """

    def __init__(self, region: str, place: str) -> None:
        try:
            import botocore.auth  # here, not above: an extra, and 0.1 s
            import botocore.session
        except ImportError as error:
            finding, remedy = "sigv4 needs botocore, which is not installed", 'pip install "jpo[sigv4]"'
            raise UsageError("[prometheus] auth", finding, remedy, code="JPO-E115") from error
        self._region, self._place = region, place
        self._session = botocore.session.Session()

    def sign(self, request: "requests.PreparedRequest") -> None:
        """Put the headers of the signature on a request; TelemetryError JPO-E116 without credentials."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError, ClientError

        address, mark, query = str(request.url).partition("?")
        request.url = address + mark + query.replace("+", "%20")  # requests writes + for a blank, AWS reads a plus
        covered = {name: value for name, value in request.headers.items() if name.lower() == "content-type"}
        signed = AWSRequest(method=request.method, url=request.url, data=request.body, headers=covered)
        try:
            credentials = self._session.get_credentials()
            if credentials is None:
                raise self._unsigned("found no AWS credentials")
            frozen = credentials.get_frozen_credentials()
            SigV4Auth(frozen, SERVICE, self._region).add_auth(signed)
        except (BotoCoreError, ClientError, RuntimeError, OSError, ValueError) as error:  # a profile may run helpers
            raise self._unsigned(f"got no AWS credentials ({type(error).__name__})") from error
        keep_secret(frozen.secret_key, frozen.token)
        request.headers.update(dict(signed.headers.items()))

    def _unsigned(self, finding: str) -> TelemetryError:
        return TelemetryError(self._place, finding, ROLE, code="JPO-E116")
