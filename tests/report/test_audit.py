"""Records of the audit log in words: a sentence for each kind, and for what this version does not know."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime

import pytest

from jpo.history import AuditRecord
from jpo.history.audit import GENESIS, chain, read_row
from jpo.history.canonical import canonical
from jpo.records import Identity
from jpo.report import audit
from jpo.report.audit import COLUMNS, AuditPage, cells, cloud_event, in_words, maker, moment
from jpo.report.forms import html, markdown

DECIDED = {"decided_by": "sac", "confidence": 0.93, "suggestion_id": "s1"}
FORECAST = {"now": {"duration_seconds": {"mean": 13920.0}}, "next": {"duration_seconds": {"mean": 10680.0}}}


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        (
            "suggested",
            {**DECIDED, "changes": [{"key": "training.batch_size", "old": "64", "new": "128"}], "forecast": FORECAST},
            "training.batch_size 64 → 128; decided by the SAC agent, chance of its claim 93%, 3h 52m → 2h 58m expected (s1)",
        ),
        ("kept", {**DECIDED, "config": "c.ini", "reasons": ["nothing is better"]}, "c.ini as it is: nothing is better (s1)"),
        (
            "rolled back",
            {
                "suggestion_id": "s2",
                "config": "c.ini",
                "changes": [{"key": "training.batch_size", "old": "128", "new": "64"}],
                "undoes": "s1",
                "pinned_until": 86400.0,
            },
            "training.batch_size 128 → 64, as before s1, pinned until 1970-01-02 (s2)",
        ),
        (
            "rolled back",
            {"suggestion_id": "s2", "config": "c.ini", "changes": [], "undoes": "s1", "pinned_until": None},
            "c.ini as it is, as before s1 (s2)",
        ),
        ("rolled back", {"suggestion_id": "s3", "config": "c.ini", "changes": [], "undoes": None}, "pins are lifted (s3)"),
        (
            "refused",
            {
                "current": {"batch_size": 16.0, "gpus": 1.0},
                "suggested": {"batch_size": 512.0, "gpus": 1.0},
                "violations": ["a", "b"],
            },
            "batch_size 16 → 512: a; b",
        ),
        (
            "refused",
            {"current": {"gpus": 1.0}, "suggested": {}, "violations": ["[sla]: x"]},
            "whatever could be suggested: [sla]: x",
        ),
        ("written", {"config": "c.ini", "suggestion_id": "s1"}, "c.ini has the values of s1"),
        ("conflict", {"reason": "c.ini: was changed", "suggestion_id": "s1"}, "c.ini: was changed (s1)"),
        ("not written", {"reason": "disk full", "suggestion_id": "s1"}, "disk full (s1)"),
        (
            "forgotten",
            {"runs": 1, "series": 3, "size_bytes": 9000, "ended_before": 1_700_000_000.0},
            "3 series of 1 run that ended before 2023-11-14",
        ),
        (
            "observed",
            {"run_id": "r1", "status": "failed", "source": "csv", "outcome": {"duration_seconds": 40.0}, "suggestion_id": "s1"},
            "run r1 failed, 40s (csv), with the values of s1",
        ),
        ("observed", {"run_id": "r", "status": "succeeded", "source": "csv", "outcome": {}}, "run r succeeded (csv)"),
        ("learnt", {"runs": 3, "updates": 400, "rebuilt": True}, "3 runs taken in, 400 updates altogether, begun anew"),
        (
            "tested",
            {"policy": "ab" * 32, "released": ["safe"], "results": {"safe": {"passed": True, "ratio": 0.99}}},
            "release test of policy abababababab: safe passed (0.990); it decides: safe",
        ),
        (
            "tested",
            {
                "policy": "ab" * 32,
                "released": [],
                "results": {
                    "pooled": {"ratio": 0.9932, "standard_error": 0.0034, "harm": 0.21, "rule_harm": 0.22, "jobs": 660},
                    "safe": {"ratio": 1.01, "standard_error": 0.006, "harm": 0.17, "rule_harm": 0.17, "jobs": 47},
                },
            },
            (
                "release test of policy abababababab: 0.993 ± 0.003 of what the belief rule costs per run on 660 simulated jobs; "
                "harm 21%, of the rule 22%; it decides: nowhere"
            ),
        ),
    ],
)
def test_each_kind_has_its_sentence(kind: str, data: dict[str, object], sentence: str) -> None:
    assert in_words(kind, data) == sentence


@pytest.mark.parametrize("kind", ["suggested", "kept", "refused", "written", "conflict", "observed", "learnt", "tested", "new"])
@pytest.mark.parametrize("data", [{}, {"changes": 5, "by": {}}, {"changes": [1], "outcome": "x", "results": 1, "current": None}])
def test_what_an_older_newer_or_forged_record_says_is_shown_as_it_is(kind: str, data: dict[str, object]) -> None:
    assert in_words(kind, data).startswith("{")
    assert "by" not in in_words(kind, data)


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ({"where": "local", "user": "ann", "host": "box"}, "ann@box"),
        ({"where": "github", "user": "octocat", "host": "x", "url": "https://u"}, "octocat github https://u"),
        ({"where": "ci"}, "ci"),
        (None, ""),
        (["x"], ""),
    ],
)
def test_the_maker_is_named_with_where_to_look_further(by: object, told: str) -> None:
    assert maker({"by": by}) == told


RECORD = AuditRecord(
    3,
    1.7e9,
    "observed",
    Identity("<d>", "m", "f"),
    {"run_id": "r|1", "status": "failed", "source": "csv", "outcome": {}},
    "a" * 64,
    "b" * 64,
)


def test_a_record_is_a_line() -> None:
    assert audit.text_line(RECORD, 120, colour=False) == (
        "     3  2023-11-14 22:13:20Z  observed     <d>/m/f  run r|1 failed (csv)\n"
    )
    assert "\x1b[2mobserved" in audit.text_line(RECORD, 120, colour=True)


def test_a_page_is_a_table_with_its_texts_escaped() -> None:
    document = audit.document(AuditPage([RECORD], newest=1))
    row = "| 3 | 2023-11-14 22:13:20Z | observed | `<d>/m/f` | run r\\|1 failed (csv) |"
    assert row in markdown.render(document)
    assert "> **Note:** newest 1 only, older ones are left out" in markdown.render(document)
    assert "<code>&lt;d&gt;/m/f</code>" in html.render(document)


def test_json_csv_and_events_are_lines() -> None:
    assert audit.json_line(RECORD).startswith('{"at": 1700000000.0, "data": {')
    (event,) = audit.events([RECORD], "sqlite:///x")
    assert '"source": "sqlite:///x"' in event
    header, row = audit.csv_lines([RECORD])
    assert (header.split(",")[:2], row.split(",")[0]) == (["number", "time"], "3")


# --- export: CloudEvents from which the chain can be verified, tables that run no formula

DIGITS = Identity("digits", "cnn/2", "pytorch")
FIRST = chain(None, 1_763_700_000.1234567, "not written", DIGITS, canonical({"reason": "grün", "ratio": 1.0}))
SECOND = chain(FIRST, 1e300, "learnt", None, '{"runs":3}')


def test_an_event_has_the_attributes_of_cloudevents() -> None:
    event = cloud_event(read_row(FIRST), "sqlite:////var/jpo.db")
    assert (event["specversion"], event["id"], event["source"]) == ("1.0", "1", "sqlite:////var/jpo.db")
    assert (event["type"], event["subject"]) == ("io.jpo.not-written", "digits/cnn/2/pytorch")
    assert event["time"] == "2025-11-21T04:40:00.123457Z"
    assert datetime.fromisoformat(event["time"]).timestamp() == pytest.approx(FIRST.at, abs=1e-6)
    assert event["data"] == {"reason": "grün", "ratio": 1.0}


@pytest.mark.parametrize("row", [FIRST, SECOND])
def test_names_are_lower_case_and_extensions_are_texts(row: object) -> None:
    event = cloud_event(read_row(row), "x:y")  # type: ignore[arg-type]
    assert all(re.fullmatch("[a-z0-9]{1,20}", name) for name in event)
    assert {name for name, value in event.items() if not isinstance(value, str)} == {"data"}


def test_what_does_not_exist_is_absent_not_null() -> None:
    event = cloud_event(read_row(SECOND), "x:y")
    assert not {"subject", "dataset", "model", "framework", "time"} & event.keys()
    assert event["at"] == "1e+300"


def test_the_chain_can_be_verified_from_the_exported_lines_alone() -> None:
    head = GENESIS
    for row in (FIRST, SECOND):
        event = json.loads(json.dumps(cloud_event(read_row(row), "x:y")))
        hashed = {name: event.get(name) for name in ("data", "dataset", "framework", "model")}
        hashed |= {"at": float(event["at"]), "kind": event["type"][7:].replace("-", " "), "number": int(event["id"])}
        text = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
        assert event["previous"] == head
        head = hashlib.sha256((head + text).encode()).hexdigest()
        assert event["hash"] == head


def test_a_row_has_a_cell_for_each_column() -> None:
    found = dict(zip(COLUMNS, cells(read_row(SECOND)), strict=True))
    assert (found["number"], found["time"], found["at"], found["dataset"]) == (2, "", 1e300, "")
    assert (found["what"], found["by"], found["data"]) == ('{"runs": 3}', "", '{"runs": 3}')


@pytest.mark.parametrize("at", [1e300, -1e300, 3e11, -7e10, float("inf")])
def test_no_time_is_too_far_away(at: float) -> None:
    assert moment(at) is None
