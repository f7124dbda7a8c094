"""Logs that were read before: not parsed again while nothing has changed, and with the same answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.records import Finished, Identity
from jpo.telemetry.csv.folder import read_in_parts
from jpo.telemetry.csv.remembered import FEW, Memory, packed, reading_of, unpacked
from jpo.telemetry.outcome import NONE_OWN, Own

DIGITS = Identity("digits", "cnn", "pytorch")
MLP = replace(DIGITS, model="mlp")
NOW = 1_800_000_000.0
LOG = """\
# run_id={run}
# dataset=digits
# model={model}
# framework=pytorch
# epochs={epochs}
# start=1795255200.0
time,epoch,samples,train_loss,val_loss
1795255210.0,1,1437,0.9,0.{loss}
# end=1795255231.0
# status=succeeded
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(
        name: str, run: str, *, model: str = "cnn", epochs: int = 1, loss: int = 5, changed_at: float = 1795255231.0
    ) -> Path:
        path = tmp_path / "runs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(LOG.format(run=run, model=model, epochs=epochs, loss=loss))
        os.utime(path, (changed_at, changed_at))
        return path

    return write


def garbled(path: Path) -> None:
    """Other bytes, of which size and time say nothing."""
    times = path.stat()
    path.write_bytes(b"x" * times.st_size)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def read(folder: Path, memory: Memory, identity: Identity = DIGITS) -> Finished:
    (finished,) = read_in_parts([folder / "runs"], identity, now=NOW, memory=memory)
    return finished


def again(memory: Memory) -> Memory:
    """What is left of it after it was saved and loaded."""
    return unpacked(packed(memory), memory.reading)


def test_a_log_that_was_read_is_not_parsed_again_until_it_changes(write: Write, tmp_path: Path) -> None:
    one, other = write("a.csv", "a", loss=51), write("b.csv", "b", loss=52)
    first = Memory("digest")
    assert [run.run_id for run in read(tmp_path, first).runs] == ["a", "b"]
    garbled(one)
    write("b.csv", "b", loss=523)
    second = again(first)
    found = read(tmp_path, second)
    assert [run.outcome.val_loss for run in found.runs] == [0.523]
    assert not found.skipped, "a.csv was parsed"
    assert (second.changed, set(second.current)) == (1, {str(one), str(other)})


def test_logs_of_other_workloads_are_passed_by_unread_and_read_for_their_own(write: Write, tmp_path: Path) -> None:
    write("a.csv", "a", model="mlp")
    first = Memory()
    assert not read(tmp_path, first).runs
    second = again(first)
    assert [run.run_id for run in read(tmp_path, second, MLP).runs] == ["a"]
    assert not read(tmp_path, again(second), MLP).runs, "on record as MLP's"


def test_a_copy_of_a_remembered_log_is_noticed_by_its_id_and_by_its_content(write: Write, tmp_path: Path) -> None:
    write("a.csv", "a")
    first = Memory()
    read(tmp_path, first)
    write("b.csv", "a", loss=6)
    write("c.csv", "c")
    reasons = [skip.reason for skip in read(tmp_path, again(first)).skipped]
    assert "a.csv, has the same run_id, and other values (val_loss 0.5 there, 0.6 here)" in reasons[0]
    assert "a.csv, is of the same run: same start, end and values" in reasons[1]


def test_of_two_logs_of_one_run_the_earlier_counts_even_where_the_later_is_remembered(write: Write, tmp_path: Path) -> None:
    write("b.csv", "b")
    first = Memory()
    read(tmp_path, first)
    write("a.csv", "b", loss=6)
    found = read(tmp_path, again(first))
    assert ([run.outcome.val_loss for run in found.runs], len(found.skipped)) == ([0.6], 1)


def test_what_must_be_said_each_time_is_not_remembered(write: Write, tmp_path: Path) -> None:
    """A run that ended early among such that did not, and a log that cannot be read; nor one that may still change."""
    for name in "abc":
        write(f"{name}.csv", name, loss=ord(name))
    write("early.csv", "early", epochs=9, loss=7)
    write("fresh.csv", "fresh", loss=8, changed_at=NOW - 5)
    (tmp_path / "runs" / "torn.csv").write_text("no log")
    first = Memory()
    told = read(tmp_path, first)
    second = read(tmp_path, again(first))
    assert told.doubts == second.doubts != ()
    assert told.skipped == second.skipped
    assert [run.run_id for run in second.runs] == ["early", "fresh"]


def test_what_was_read_in_another_way_or_is_damaged_counts_for_nothing(write: Write, tmp_path: Path) -> None:
    write("a.csv", "a")
    memory = Memory(reading_of(NONE_OWN, "1.0"))
    read(tmp_path, memory)
    state = packed(memory)
    assert unpacked(state, memory.reading).before == memory.current
    for reading in (reading_of(NONE_OWN, "1.1"), reading_of(Own({"dropout": False}), "1.0")):
        assert not unpacked(state, reading).before
    for damaged in (None, b"", state[:-9], b"x" + state, packed(Memory())[:5]):
        assert not unpacked(damaged, memory.reading).before


def test_few_new_logs_are_rather_read_again_than_saved() -> None:
    assert not Memory(changed=FEW).worth_saving
    assert Memory(changed=FEW + 1).worth_saving
