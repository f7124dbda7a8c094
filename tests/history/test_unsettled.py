"""What became of a change, by its config.ini."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from made import a_run, a_suggestion

from jpo.history import AuditEvent, Store, open_store
from jpo.history.unsettled import fate, open_ends, settle
from jpo.records import Finished, Workload

BEFORE, PLANNED = b"batch_size = 32\n", b"batch_size = 64\n"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        opened.append(a_suggestion("s1"), config="c.ini", source_digest=digest(BEFORE), planned_digest=digest(PLANNED))
        yield opened


@pytest.mark.parametrize(
    ("content", "became"), [(PLANNED, "written"), (BEFORE, "not written"), (b"batch_size = 7\n", "changed"), (None, "missing")]
)
def test_the_bytes_of_the_file_say_what_became_of_it(store: Store, content: bytes | None, became: str) -> None:
    (made,) = store.unsettled(a_suggestion().identity)
    assert fate(made, content) == became
    (sentence,) = open_ends(store, lambda path: content if path == "c.ini" else b"?")
    assert sentence.startswith("Suggestion s1: there is no record that it was written, ")


@pytest.mark.parametrize("kind", ["written", "conflict", "not written"])
def test_what_the_log_says_needs_no_look_into_the_file(store: Store, kind: str) -> None:
    store.audit(AuditEvent(kind, 1.0, a_suggestion().identity, {"suggestion_id": "s1"}))
    assert store.unsettled() == ()


def test_an_id_with_signs_of_a_pattern_is_one_id(store: Store) -> None:
    store.audit(AuditEvent("written", 1.0, a_suggestion().identity, {"suggestion_id": "s1"}))
    store.append(a_suggestion("s_", created_at=9e9), config="c.ini", source_digest="", planned_digest="")
    assert [made.data["suggestion_id"] for made in store.unsettled()] == ["s_"]


def test_only_the_newest_change_of_a_workload_can_still_be_open(store: Store) -> None:
    store.append(a_suggestion("s2", created_at=9e9), config="c.ini", source_digest="", planned_digest="")
    assert [made.data["suggestion_id"] for made in store.unsettled()] == ["s2"]


def test_who_reads_an_older_log_without_the_plan_knows_only_that_nothing_happened(store: Store) -> None:
    store.append(a_suggestion("s2", created_at=9e9), config="c.ini", source_digest=digest(BEFORE))
    (made,) = store.unsettled()
    assert (fate(made, BEFORE), fate(made, PLANNED)) == ("not written", "changed")


def test_a_run_with_its_values_says_that_a_change_was_written_wherever_its_file_is_now(store: Store, tmp_path: Path) -> None:
    made = a_suggestion("s1")
    elsewhere = Workload(made.identity, (), tmp_path / "config.ini", BEFORE)
    settle(store, elsewhere, now=200.0)
    assert store.written(made.identity) == frozenset()
    ran = a_run("r1", identity=made.identity, parameters=made.values.suggested, started_at=150.0, ended_at=160.0)
    store.record(Finished((ran,)), now=170.0)
    settle(store, elsewhere, now=200.0)
    assert store.written(made.identity) == {"s1"}
    assert store.audit_records()[-1].data["written_digest"] == digest(PLANNED)
