"""What is read of a long history, counted in rows and statements, never in seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from made import a_run

from jpo.commands import history
from jpo.cost import Prices
from jpo.history import AuditEvent, Store, open_store
from jpo.plugins.page import story
from jpo.records import Finished, Identity


@dataclass
class Counted:
    """Statements that were executed meanwhile, and rows that they brought."""

    statements: list[str] = field(default_factory=list)
    rows: int = 0


@contextmanager
def counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    seen, execute = Counted(), store.database.rows

    def rows(statement: str, values: Mapping[str, object] | None = None) -> object:
        seen.statements.append(statement)
        found = execute(statement, values or {})
        seen.rows += len(found)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(store.database, "rows", rows)
        yield seen


@pytest.fixture
def store() -> Iterator[Store]:
    """Thirty workloads, of four runs each; the one with the highest number ran last."""
    with open_store("sqlite://") as store:
        some = (
            a_run(f"r{n}", 1e3 * job + n + 200.0, identity=Identity("d", f"m{job}", "f")) for job in range(30) for n in range(4)
        )
        store.record(Finished(tuple(some)), now=1e6)
        yield store


def test_runs_are_counted_without_reading_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(store, monkeypatch) as seen:
        numbers = store.numbers_of_runs()
    assert ([identity.model for identity in numbers][:2], set(numbers.values())) == (["m29", "m28"], {4})
    assert (len(seen.statements), seen.rows) == (1, 30)


def test_runs_on_record_are_looked_up_once_for_each_workload(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    again = Finished(tuple(entry.run for entry in store.recorded_runs()))
    with counted(store, monkeypatch) as seen:
        assert store.record(again, now=2e6) == ()
    assert len(seen.statements) == 30


def test_of_many_workloads_those_that_ran_last_have_a_ledger(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(store, monkeypatch) as seen:
        past = history.read(store, Prices(), None, {}, most=50, ledgers=3)
    assert [identity.model for identity in past.ledgers] == ["m27", "m28", "m29"]
    assert (past.workloads, past.newest, len(past.runs)) == (30, 50, 50)
    assert seen.rows < 51 + 30 + 3 * 8  # the newest runs, the workloads, and the runs of three


def test_one_reading_of_the_log_says_what_was_settled(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for job in range(3):
        store.audit(AuditEvent("written", 1.0, Identity("d", f"m{job}", "f"), {"suggestion_id": f"s{job}"}))
    with counted(store, monkeypatch) as seen:
        assert store.written() == {"s0", "s1", "s2"}
    assert (len(seen.statements), seen.rows) == (1, 3)
    assert store.written(Identity("d", "m1", "f")) == {"s1"}


def test_records_of_one_kind_are_read_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.audit(AuditEvent("learnt", 1.0, None, {"runs": 1}))
    store.audit(AuditEvent("learnt", 2.0, None, {"runs": 2}))
    with counted(store, monkeypatch) as seen:
        assert [record.at for record in store.audit_records(kind="learnt", limit=1)] == [2.0]
    assert seen.rows == 1


def test_a_report_has_the_workloads_that_ran_last_and_says_what_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "MOST_RUNS", 9)
    monkeypatch.setattr(story, "MOST_OF_EACH", 3)
    last, notes = story.within_bounds(store, None)
    assert {identity.model: most for identity, most in last.items()} == {"m29": 3, "m28": 3, "m27": 3}
    assert notes[0] == "of d/m29/f the newest 3 of 4 runs count here, and no older ones: name its CONFIG.INI for up to 9"
    assert notes[-1] == "the 3 workloads that ran last, of 30 on record: name the CONFIG.INI of another"
    one = Identity("d", "m3", "f")
    assert story.within_bounds(store, one) == ({one: 9}, [])
