"""What a secret looks like, and what only looks like one. No text below is a secret of anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.wording.hidden import HIDDEN, hidden, is_secret, keep_secret, secrets_of
from jpo.wording.printable import printable

RANDOM = "9f8a7b6c5d4e3f2a1b0c"
SECRETS = {
    f"ghp_{RANDOM}": "HTTP 401 with * of somebody",
    f"github_pat_11AB{RANDOM}_{RANDOM}": "remote: * is expired",
    f"glpat-{RANDOM}": "fatal: could not read from https://gitlab.example (*)",
    f"glrt-{RANDOM}": "runner *",
    f"sk-proj-{RANDOM}": "openai.AuthenticationError: Incorrect API key provided: *",
    "xoxb-1234567890-abcdefghij": "slack: * revoked",
    "AKIAIOSFODNN7EXAMPLE": "InvalidAccessKeyId: *",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv": "google: *",
    "hf_aBcDeFgHiJkLmNoPqRsTuV": "huggingface_hub: 401 for *",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl": "jwt * has expired",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----": "key:\n*\nend",
    f"npm_{RANDOM}{RANDOM}": "npm ERR! * is no token",
    "AWS4-HMAC-SHA256 Credential=AKID/20261123/x/aps/aws4_request, SignedHeaders=host, Signature=0f1e": "* is wrong",
    "hunter2": "password: *",
    "correct": "mysql --password * -h db",
    "hunter3": "login with password * failed",
    "s3cr3t!": "the password is *, they said",
    "two words": "{'password': '*', 'user': 'me'}",
    "hunter4": "API_KEY=* is wrong",
    f"{RANDOM}a": "api key * rejected",
    f"{RANDOM}b": "token * refused",
    f"{RANDOM}c": "wandb: key * rejected",
    f"{RANDOM}d": '{"token": "*", "id": 3}',
    f"{RANDOM}e": "GET https://api.example/v1?token=*&page=2 failed",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "aws_secret_access_key = *",
    "abc.def-ghi": "Authorization: Bearer *",
    "YWRtaW46aHVudGVyMg==": "sent Basic *",
    "hunter5": "curl -u admin:* https://host failed",
    "hunter6": "cannot reach postgresql://me:*@db/x",
    f"{RANDOM}f": "fatal: https://*@github.com/us/ours not found",
    "hunter7": "KeyError: 'password=*'",
    "hunter8": '"{\\"api_key\\": \\"*\\"}"',
    "hunter9": "{b'password': b'*'}",
    "hunter10": "[('user', 'me'), ('password', '*')]",
    "hunter11": "<db user='me' password='*'/>",
    "hunter12": "password := *",
    "hunter13": "password          -> *",
    "hunter14": "export DB_PASS=*",
    "hunter15": "curl -uadmin:* https://host failed",
    f"{RANDOM}0": "Proxy-Authorization: *",
    f"{RANDOM}1": "X-Auth: no; Cookie: *",
    f"sk_live_{RANDOM}": "stripe: * is expired",
    f"ya29.{RANDOM}-x": "google: * is expired",
    f"hvs.{RANDOM}CAES": "vault: * is expired",
    f"glpat-{RANDOM}0": "user_* is expired",
    f"{RANDOM}%2Bx": "https://blob.example/c?sv=2020&sig=* (403)",
}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_and_nothing_else_is(secret: str) -> None:
    said = SECRETS[secret]
    assert hidden(said.replace("*", secret)) == said.replace("*", HIDDEN)


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x1b]8;;\x07", "\0", "\u200b", "\xad", "\u2060", "\u3164"])
def test_signs_that_are_not_seen_do_not_keep_a_secret_from_being_hidden(sign: str) -> None:
    token = f"ghp_{RANDOM}"
    assert hidden(f"{sign}{token[:9]}{sign}{token[9:]} of me") == f"{HIDDEN} of me"
    assert hidden(f"{sign}password{sign}: {sign}hunter2") == f"password: {HIDDEN}"
    assert hidden(f"s3{sign}cret", ["s3cret"]) == HIDDEN
    assert token[9:] not in printable(f"{token[:9]}{sign}{token[9:]}")
    assert hidden(f"{sign}done{sign}, eos_token = </s>") == f"{sign}done{sign}, eos_token = </s>"


@pytest.mark.parametrize("form", ["qx7%2Fz%22%2B9", 'qx7/z\\"+9', "cXg3L3oiKzk=", 'qx7/z"+9'])
def test_a_kept_secret_is_hidden_as_addresses_json_and_headers_have_it(form: str) -> None:
    assert HIDDEN in hidden(f"got {form}.", ['qx7/z"+9'])
    assert form.rstrip("=") not in hidden(f"got {form}.", ['qx7/z"+9'])


def test_what_is_said_in_what_is_said_takes_no_time_and_no_depth() -> None:
    assert hidden("key=" * 5000) == "key=" * 5000


def test_the_secret_of_an_access_key_needs_no_name() -> None:
    assert hidden("AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY") == f"{HIDDEN} {HIDDEN}"
    assert hidden("commit 3548dffd3548dffd3548dffd3548dffd3548dffd") == "commit 3548dffd3548dffd3548dffd3548dffd3548dffd"


def test_lines_of_a_private_key_are_hidden_without_its_beginning() -> None:
    line = "MIIEpAIBAAKCAQEA" * 4
    assert hidden(f"before\n    {line}\nafter") == f"before\n{HIDDEN}\nafter"
    assert hidden(f"before\n{line}\nafter") == f"before\n{HIDDEN}\nafter"
    assert hidden("3548dffd" * 8) == "3548dffd" * 8  # a hash


@pytest.mark.parametrize("line", (Path(__file__).parent / "ordinary.log").read_text("utf-8").splitlines())
def test_an_ordinary_line_stays(line: str) -> None:
    assert hidden(line) == line


def test_what_is_kept_is_hidden_in_any_case_and_the_longest_first() -> None:
    keep_secret("s3cret", "s3cret-and-more", None, "", "no")
    assert hidden("no S3CRET, s3cret-and-more") == f"no {HIDDEN}, {HIDDEN}"
    assert hidden("mine, of another", ["mine"]) == f"{HIDDEN}, of another"


def test_values_of_variables_that_are_called_like_secrets() -> None:
    assert secrets_of(
        {
            "WANDB_API_KEY": "0123456789abcdef",
            "DB_PASSWORD": "correct horse\nbattery staple\n",
            "CI_JOB_TOKEN": "of-the-job",
            "JPO_PROMETHEUS__AUTH__TOKEN_FILE": "/run/secrets/token",
            "JPO_PROMETHEUS__AUTH__TYPE": "bearer",
            "MAX_TOKENS": "40960000",
            "SSH_AUTH_SOCK": "/run/ssh-x/agent.1",
            "TLS_KEY": "/etc/tls/tls.key",
            "CACHE_KEY": "linux-node-3",
            "USE_TOKEN": "1",
            "HOME": "/home/somebody",
        }
    ) == {"0123456789abcdef", "correct horse", "battery staple", "of-the-job"}


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("password", "hunter2", True),
        ("wandb_key", RANDOM, True),
        ("notes", f"use ghp_{RANDOM}", True),
        ("store", "postgresql://me:hunter2@db/jpo", True),
        ("password", "${PASSWORD}", False),
        ("password_file", "/run/secrets/password", False),
        ("eos_token", "</s>", False),
        ("key", "validation_accuracy_top5", False),
        ("learning_rate", "0.001", False),
    ],
)
def test_a_setting_that_holds_a_secret(name: str, value: str, *, is_one: bool) -> None:
    assert is_secret(name, value) == is_one
