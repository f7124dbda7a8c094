"""Several answers in one result: who has none is one of them (tests/commands/test_suggest_each.py has those with one)."""

from __future__ import annotations

from pathlib import Path

from jpo.errors import UsageError
from jpo.report.forms import text
from jpo.report.suggested import as_json, document

MISSING = (Path("a/config.ini"), UsageError("a/config.ini", "cannot be read", "check the path", code="JPO-E201"))


def test_who_has_no_answer_is_named_and_counted() -> None:
    lines = text.render(document([MISSING, MISSING]), width=80, colour=False, encoding="utf-8").splitlines()
    assert lines.count("FAILED: a/config.ini: cannot be read [JPO-E201]") == 2
    assert lines.count("  a/config.ini: kept as it is") == 2
    assert lines[-1] == "2 files: 2 failed"


def test_programs_get_the_whole_error() -> None:
    job = {"config": "a/config.ini", "failure": "a/config.ini: cannot be read; check the path", "code": "JPO-E201"}
    assert as_json([MISSING]) == {"schema_version": 1, "jobs": [job]}
