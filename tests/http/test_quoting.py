"""What a server says is one line, cut, and without what it was sent."""

from __future__ import annotations

from jpo.http.quoting import LONGEST, quote
from jpo.wording.hidden import keep_secret


def test_words_of_a_server_fit_on_one_line_of_a_terminal():
    assert quote("red \x1b[31m\nalert\u202e") == "red [31m alert"
    assert len(quote("x" * 10_000)) == 201


def test_what_this_process_sends_is_quoted_of_no_server():
    assert quote("no s3cret") == "no s3cret"
    keep_secret("s3cret", "s3cret-and-more", None, "", "no")
    assert quote("no S3CRET, s3cret-and-more", "s3cret") == "no [hidden], [hidden]: [hidden]"
    assert quote("x" * (LONGEST - 2) + "s3cret") == "x" * (LONGEST - 2) + "[h…"
