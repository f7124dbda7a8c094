"""Sessions of boto3, against a server of the test."""

from __future__ import annotations

import pytest

pytest.importorskip("boto3")

from answering import sends, served
from botocore.exceptions import ClientError

from jpo.http.aws import CREDENTIALS, code_of, session
from jpo.http.quoting import quote

TOKEN = "session-token-of-the-test"


def test_a_token_is_quoted_of_nobody_once_it_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"ACCESS_KEY_ID": "AKIA", "SECRET_ACCESS_KEY": "s3cret", "SESSION_TOKEN": TOKEN}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with served(sends({"__type": "AccessDeniedException", "Message": TOKEN}, 400)) as server:
        quotas = session(attempts=1).client("service-quotas", "eu-central-1", endpoint_url=server.url)
        assert quote(TOKEN) == TOKEN
        with pytest.raises(ClientError) as caught:
            quotas.list_services()
    assert code_of(caught.value).startswith(CREDENTIALS)
    assert quote(str(caught.value)).endswith(": [hidden]")
    assert len(server.asked) == 1
