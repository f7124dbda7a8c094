"""AWS Signature Version 4, which Amazon's managed Prometheus requires; botocore finds the credentials and signs.

Credentials are those of AWS' own tools: environment, profile, role of pod or machine. Needs `pip install "jpo[sigv4]"`.
"""

from __future__ import annotations

import requests

from jpo.errors import TelemetryError, UsageError
from jpo.http.aws import ROLE
from jpo.http.quoting import keep_secret

SERVICE = "aps"
"""Amazon Managed Service for Prometheus."""


class Signer:
    """Signer of requests for a region, each one as it is sent: a signature covers address and body, and ages in five minutes.

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

    def sign(self, request: requests.PreparedRequest) -> None:
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
