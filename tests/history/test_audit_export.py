"""Audit records for other programs: CloudEvents from which the chain can be verified, tables that run no formula."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime

import pytest

from jpo.history.audit import GENESIS, chain, read_row
from jpo.history.audit_export import COLUMNS, cells, cloud_event, moment
from jpo.history.canonical import canonical
from jpo.records import Identity

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
    found = dict(zip(COLUMNS, cells(read_row(SECOND), "3 runs", "root@vm"), strict=True))
    assert (found["number"], found["time"], found["at"], found["dataset"]) == (2, "", 1e300, "")
    assert (found["what"], found["by"], found["data"]) == ("3 runs", "root@vm", '{"runs": 3}')


@pytest.mark.parametrize("at", [1e300, -1e300, 3e11, -7e10, float("inf")])
def test_no_time_is_too_far_away(at: float) -> None:
    assert moment(at) is None
