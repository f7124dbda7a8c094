"""Logs that contradict themselves: each says so once, with file and line, and is used, used in part, or skipped."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from jpo.records import Finished, Identity, RunStatus
from jpo.telemetry.csv.folder import read_each, read_in_parts

DIGITS = Identity("digits", "cnn", "pytorch")
START, NOW = 1_795_000_000.0, 1_795_900_000.0


def only_part(folder: Path) -> Finished:
    (part,) = read_in_parts([folder], DIGITS, now=NOW)
    return part


def write(
    folder: Path,
    name: str = "r",
    rows: object = None,
    *,
    start: object = START,
    end: object = START + 600,
    status: str = "succeeded",
    columns: str = "time,epoch,samples,train_loss,val_loss",
    **head: object,
) -> Path:
    """A log of ten epochs of a minute, unless told otherwise."""
    known = {"run_id": name, "dataset": "digits", "model": "cnn", "framework": "pytorch", "batch_size": 64, "epochs": 10}
    lines = [f"# {key}={value}" for key, value in {**known, **head, "start": start}.items()]
    lines += [columns, *(",".join(map(str, row)) for row in rows or epochs())]
    lines += [] if end is None else [f"# end={end}", f"# status={status}"]
    path = folder / f"{name}.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


def epochs(
    last: int = 10, train=lambda e: 1 / e, val=lambda e: 1.1 / e, time=lambda e: START + 60 * e
) -> list[tuple[object, ...]]:
    return [(time(e), e, 1500 * e, train(e), val(e)) for e in range(1, last + 1)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": epochs(14), "end": START + 900}, "line 22: epoch 14, and # epochs= in line 6 is 10"),
        ({"rows": epochs(3)}, "line 11: the last row is epoch 3 of 10, and # status= in line 13 says succeeded"),
        ({"rows": epochs(time=lambda e: START + 60 * (2 if e == 5 else e))}, "line 13: time goes back behind the row above"),
        ({"end": START + 300}, "line 18: its time is 300s after # end= in line 19"),
        ({"start": START + 200}, "rows begin 140s before # start= in line 7"),
        ({"duration_seconds": 6000}, "# duration_seconds= in line 7 is 6000, and end - start is 600s"),
        ({"rows": epochs(train=lambda e: "nan" if e in (3, 5) else 1 / e)}, "line 11: a loss is nan, the first of 2 such rows"),
        ({"rows": epochs(val=lambda e: 40 + 5.5 * e)}, "line 18: val_loss rose all the way to 95, as an accuracy does: used"),
        (
            {"start": NOW + 36000, "end": NOW + 36600, "rows": epochs(time=lambda e: NOW + 36000 + e)},
            "# end= in line 19 is 10.2h ahead of this machine's clock",
        ),
        (
            {"columns": "time,epoch,samples,val_loss,step", "rows": [(*row[:4], 1500 * row[1] / 128) for row in epochs()]},
            "line 18: 15000 samples in 117.188 steps are 128 each, and batch_size is 64",
        ),
    ],
)
def test_a_run_is_used_with_one_sentence(tmp_path: Path, given: dict[str, object], said: str) -> None:
    path = write(tmp_path, **given)  # type: ignore[arg-type]
    found = only_part(tmp_path)
    assert len(found.runs) == 1
    (note,) = found.doubts
    assert note.code == "JPO-W125"
    assert str(path) in note.text
    assert said in note.text


def test_local_time_for_utc_shows_in_when_the_file_was_written(tmp_path: Path) -> None:
    path = write(tmp_path)
    for written, said in [(START + 600 - 7190, 1), (START + 600 - 5760, 0), (START + 700, 0)]:
        os.utime(path, (written, written))
        found = only_part(tmp_path).doubts
        assert ["is 2h later than the file was written" in note.text for note in found] == [True] * said


def test_a_clock_that_stood_still_tells_no_duration(tmp_path: Path) -> None:
    write(tmp_path, end=START, rows=epochs(time=lambda e: START))
    found = only_part(tmp_path)
    assert [(run.started_at, run.outcome.duration_seconds) for run in found.runs] == [(None, None)]
    assert "counts as unknown" in found.doubts[0].text


def test_two_losses_that_rise_to_one_are_no_losses(tmp_path: Path) -> None:
    write(tmp_path, rows=epochs(train=lambda e: 0.5 + 0.045 * e, val=lambda e: 0.4 + 0.055 * e))
    found = only_part(tmp_path)
    assert [(run.outcome.train_loss, run.outcome.val_loss, run.outcome.loss_slope) for run in found.runs] == [(None, None, None)]
    assert "as an accuracy does: left out" in found.doubts[0].text


def test_a_model_that_learns_by_heart_keeps_its_loss(tmp_path: Path) -> None:
    write(tmp_path, rows=epochs(val=lambda e: 0.3 + 0.05 * e))
    (run,) = only_part(tmp_path).runs
    assert run.outcome.val_loss == pytest.approx(0.8)


def test_a_loss_that_rises_beside_an_accuracy_is_no_accuracy(tmp_path: Path) -> None:
    path = write(tmp_path, rows=epochs(val=lambda e: 0.3 + 0.05 * e))
    head, columns, rows = path.read_text().partition("time,epoch")
    lines = (columns + rows).splitlines()
    with_accuracy = [lines[0] + ",val_accuracy", *(f"{line},0.9" if line[:1].isdigit() else line for line in lines[1:])]
    path.write_text(head + "\n".join([*with_accuracy, ""]))
    found = only_part(tmp_path)
    assert [(run.outcome.val_loss, run.outcome.val_accuracy) for run in found.runs] == [(pytest.approx(0.8), 0.9)]
    assert not any("as an accuracy does" in note.text for note in found.doubts)


def test_success_with_a_loss_that_is_no_number_counts_as_diverged(tmp_path: Path) -> None:
    write(tmp_path, rows=epochs(val=lambda e: "nan" if e > 5 else 1 / e))
    found = only_part(tmp_path)
    assert [run.status for run in found.runs] == [RunStatus.DIVERGED]
    assert "says succeeded: it counts as diverged" in found.doubts[0].text


@pytest.mark.parametrize(("factor", "unit"), [(1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")])
@pytest.mark.parametrize("closed", [True, False])
def test_times_in_another_unit_are_named_and_skipped(tmp_path: Path, factor: float, unit: str, closed: bool) -> None:
    times = {"start": START * factor, "end": (START + 600) * factor if closed else None}
    write(tmp_path, rows=epochs(time=lambda e: (START + e) * factor), **times)
    found = only_part(tmp_path)
    assert found.runs == ()
    (skipped,) = found.skipped
    assert re.search(rf"# start= in line 7 is in {unit} .*: write unix seconds|in {unit}", skipped.reason)
    assert skipped.code == "JPO-W126"


def test_one_run_under_two_ids_counts_once(tmp_path: Path) -> None:
    first = write(tmp_path, "a")
    (tmp_path / "b.csv").write_text(first.read_text().replace("run_id=a", "run_id=b"))
    runs, unusable = read_each([first, tmp_path / "b.csv"], now=NOW)
    assert [logged.run.run_id for logged in runs] == ["a"]
    assert "is of the same run: same start, end and values" in unusable[0].why.text
    assert unusable[0].why.code == "JPO-W130"


def test_two_runs_with_one_id_are_told_by_their_values(tmp_path: Path) -> None:
    first = write(tmp_path, "a")
    second = tmp_path / "b.csv"
    second.write_text(first.read_text().replace("batch_size=64", "batch_size=32"))
    _, unusable = read_each([first, second], now=NOW)
    assert "and other values (batch_size 64 there, 32 here): give each run an id of its own" in unusable[0].why.text


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_of_a_log_and_its_copy_that_was_cut_off_the_whole_one_counts(tmp_path: Path, names: str) -> None:
    whole, cut = tmp_path / f"{names[0]}.csv", tmp_path / f"{names[1]}.csv"
    text = write(tmp_path, "one").read_text()
    whole.write_text(text)
    cut.write_text("\n".join(text.splitlines()[:12]) + "\n")
    runs, unusable = read_each(sorted([whole, cut]), now=NOW)
    assert [(logged.path, logged.run.fell_silent) for logged in runs] == [(whole, False)]
    assert [log.path for log in unusable] == [cut if names == "ab" else whole]
    assert "give each run an id of its own" not in unusable[0].why.text


def test_a_kind_is_told_once_whatever_the_number_of_logs(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"r{number}", end=START + 300 + number)
    (note,) = only_part(tmp_path).doubts
    assert note.text.endswith("(and the same in 4 more logs)")


def test_a_job_that_usually_stops_early_is_not_doubted(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, f"r{number}", epochs(3 + number), end=START + 600 + number)
    assert only_part(tmp_path).doubts == ()


@pytest.mark.parametrize(
    "given", [{}, {"rows": epochs(9)}, {"converged": "true", "rows": epochs(3)}, {"duration": "ten minutes"}]
)
def test_sound_logs_say_nothing(tmp_path: Path, given: dict[str, object]) -> None:
    write(tmp_path, **given)  # type: ignore[arg-type]
    found = only_part(tmp_path)
    assert (len(found.runs), found.doubts, found.skipped) == (1, (), ())
