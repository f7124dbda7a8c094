"""Answers of AWS: errors of boto3 become a LaunchError of one line with AWS' own words, and without what only AWS should see."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from jpo.errors import LaunchError
from jpo.http.answers import LOGIN_SECONDS, LONGEST_SECONDS
from jpo.http.aws import CREDENTIALS, ROLE, code_of, session
from jpo.plugins.launch.excerpt import engine_words
from jpo.timeouts import NoAnswerInTime, within

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

Answer = TypeVar("Answer")
DOCS = "docs/plugins/launch.md"
REGION = 'write region = "eu-central-1" in [launch.aws]'
GOES_ON = "run the same command again to continue with the run"
QUOTING = ("SignatureDoesNotMatch", "IncompleteSignature", "InvalidSignatureException")
"""Codes whose messages repeat the request with its session token."""
LATER = re.compile(
    r"RequestLimitExceeded|Throttl|TooManyRequests|Internal|ServiceUnavailable|Unavailable|SlowDown|RequestTimeout"
    r"|BandwidthLimitExceeded|[45]\d\d"
)
"""Beginnings of the codes after which the same request is made again; a bare status is that of a cut answer, or of a proxy."""
MISSING = re.compile(
    r"Invalid(AMIID|AMIName|SubnetID|Subnet|Group|GroupId|SecurityGroupID|SecurityGroup)\b|NoSuchBucket|NoSuchEntity|ParameterNotFound"
)


def client(service: str, region: str | None) -> Any:
    """A client of boto3; LaunchError JPO-E767 without boto3 or without a region, JPO-E766 for a profile that does not exist."""

    def made() -> Any:
        connection = session(attempts=3)
        connection.get_credentials()
        return connection.client(service, region_name=region)

    try:
        return answer(f"AWS {service}", made, LOGIN_SECONDS)
    except ImportError as error:
        raise LaunchError("--on aws", "boto3 is not installed", 'pip install "jpo[aws]"', code="JPO-E767") from error


def words_of(error: "ClientError") -> str:
    """A refusal in AWS' own words: code and message, one line, without secrets."""
    code = code_of(error)
    message = "" if code in QUOTING else str(error.response.get("Error", {}).get("Message") or "")
    message = message.partition("Encoded authorization failure message")[0]
    return engine_words(code, message.strip().rstrip(": ."))


def answer(place: str, question: Callable[[], Answer], seconds: float = LONGEST_SECONDS) -> Answer:
    """The answer to a question.

    Raises LaunchError: JPO-E754, there is none, and the same may be asked again; JPO-E766, credentials are missing, expired or
    may not do it; JPO-E769, what [launch.aws] names does not exist; JPO-E753, AWS refuses otherwise.
    """
    from botocore import exceptions as aws
    from botocore.parsers import ResponseParserError

    nobody = (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError, aws.ProfileNotFound)
    logged_out = (aws.TokenRetrievalError, aws.UnauthorizedSSOTokenError, aws.SSOTokenLoadError)
    silent = (aws.HTTPClientError, aws.ConnectionError, aws.IncompleteReadError, ResponseParserError)
    network = f"check network and region; {GOES_ON}"
    troubles: tuple[tuple[Any, str, str, str], ...] = (
        (nobody, "found no AWS credentials", ROLE, "JPO-E766"),
        (logged_out, "has no valid login", "log in again: `aws sso login`", "JPO-E766"),
        ((aws.NoRegionError, aws.InvalidRegionError), "has no region that could be asked", REGION, "JPO-E767"),
        (aws.ParamValidationError, "is asked in a wrong way", "check [launch.aws]", "JPO-E769"),
        (silent, "gives no answer", network, "JPO-E754"),
        (aws.BotoCoreError, "cannot be asked", "check the configuration of AWS' tools", "JPO-E753"),
    )
    try:
        return within(seconds, [question])[0]
    except NoAnswerInTime as error:
        finding, remedy, code = f"gives {error}", f"check AWS' tools and their credential_process; {GOES_ON}", "JPO-E754"
    except aws.ClientError as error:
        finding, remedy, code = _refusal(error)
    except (LookupError, TypeError):  # a network that wants a login answers 200 with a page
        finding, remedy, code = "answers with something else than AWS would", network, "JPO-E754"
    except (aws.BotoCoreError, ResponseParserError) as error:
        kind, remedy, code = next(rest for types, *rest in troubles if isinstance(error, types))
        finding = f"{kind} ({engine_words(str(error)) if isinstance(error, aws.ParamValidationError) else type(error).__name__})"
    raise LaunchError(place, finding, remedy, code=code)


@contextmanager
def excused(codes: str) -> Iterator[None]:
    """Refusals whose codes match are none: what stands within ends there."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if not re.fullmatch(codes, code_of(error)):
            raise


def _refusal(error: "ClientError") -> tuple[str, str, str]:
    """Finding, remedy and code of a refusal."""
    code, words = code_of(error), words_of(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    if MISSING.match(code) or "iam instance profile" in words.lower():
        return f"does not have it ({words})", "correct the name in [launch.aws]", "JPO-E769"
    if code.startswith(CREDENTIALS):
        return f"does not let these credentials do it ({words})", f"renew them, or give them the rights of {DOCS}", "JPO-E766"
    if LATER.match(code) or status >= 500:
        return f"cannot answer now ({words})", "run the same command again; nothing is started twice", "JPO-E754"
    return f"refuses ({words})", f"as it says; {DOCS} has what a launch needs", "JPO-E753"
