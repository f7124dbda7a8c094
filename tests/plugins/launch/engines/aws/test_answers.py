from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("boto3")

from botocore import exceptions as aws
from left_running import alive, end, hanging

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws import answers
from jpo.plugins.launch.engines.aws.answers import answer, client, words_of
from jpo.wording.printable import LONGEST_QUOTE


def refusal(code: str, message: str, status: int = 400) -> aws.ClientError:
    answered = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return aws.ClientError(answered, "RunInstances")  # type: ignore[arg-type]


def raised(error: Exception) -> LaunchError:
    def question() -> None:
        raise error

    with pytest.raises(LaunchError) as caught:
        answer("EC2", question)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (refusal("RequestLimitExceeded", "slow", 503), "JPO-E754"),
        (refusal("ThrottlingException", "slow"), "JPO-E754"),
        (refusal("Whatever", "broken", 500), "JPO-E754"),
        (refusal("ExpiredToken", "expired"), "JPO-E766"),
        (refusal("AccessDenied", "no", 403), "JPO-E766"),
        (refusal("403", "Forbidden", 403), "JPO-E766"),
        (refusal("InvalidAMIID.NotFound", "The image id '[ami-1]' does not exist"), "JPO-E769"),
        (refusal("InvalidGroup.NotFound", "none"), "JPO-E769"),
        (refusal("InvalidParameterValue", "Invalid IAM Instance Profile name"), "JPO-E769"),
        (refusal("InsufficientFreeAddressesInSubnet", "full"), "JPO-E753"),
        (aws.NoCredentialsError(), "JPO-E766"),
        (aws.ProfileNotFound(profile="p"), "JPO-E766"),
        (aws.NoRegionError(), "JPO-E767"),
        (aws.ConnectionClosedError(endpoint_url="https://x"), "JPO-E754"),
        (aws.ReadTimeoutError(endpoint_url="https://x"), "JPO-E754"),
        (aws.ParamValidationError(report="no\nyes"), "JPO-E769"),
        (aws.UnknownServiceError(service_name="x", known_service_names="y"), "JPO-E753"),
    ],
)
def test_each_kind_of_trouble_has_its_code(error: Exception, code: str) -> None:
    assert raised(error).code == code


def test_words_are_aws_own_in_one_line_and_short() -> None:
    assert words_of(refusal("VcpuLimitExceeded", "You have\nrequested more.")) == "VcpuLimitExceeded: You have requested more"
    assert len(words_of(refusal("X", "a b " * 1000))) <= LONGEST_QUOTE + len("...")


@pytest.mark.parametrize(
    "secret", ["AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "IQoJb3JpZ2luX2VjEJr+3w=="]
)
def test_what_looks_like_a_key_is_left_out(secret: str) -> None:
    assert secret not in words_of(refusal("AuthFailure", f"rejects {secret} of i-0123456789abcdef0"))
    assert "i-0123456789abcdef0" in words_of(refusal("AuthFailure", f"rejects {secret} of i-0123456789abcdef0"))


def test_a_region_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(LaunchError) as caught:
        client("ec2", "not a region")
    assert caught.value.code in ("JPO-E767", "JPO-E753")


def test_a_credential_process_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LOGIN_SECONDS", 0.5)
    mark = str(tmp_path / "mark")
    (tmp_path / "config").write_text(f"[default]\ncredential_process = {hanging(tmp_path / 'login', mark)}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    try:
        with pytest.raises(LaunchError, match=r"no answer within 0\.5 s; check .*credential_process") as caught:
            client("ec2", "us-east-1")
        assert (caught.value.code, alive(mark)) == ("JPO-E754", 0)
    finally:
        end(mark)
