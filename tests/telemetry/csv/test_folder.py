"""Many CSV logs at once: which files are meant, each run once, and one bad log never hides the others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.records import Identity
from jpo.telemetry.csv.folder import AT_ONCE, log_files, read_each, read_in_parts

DIGITS = Identity("digits", "cnn", "pytorch")
LOG = """\
# run_id=digits-0007
# dataset=digits
# model=cnn
# framework=pytorch
# start=1000.0
time,epoch,samples,train_loss,val_loss
1010.0,1,1437,0.9,0.5
# end=1031.0
# status=succeeded
"""


def read_logs(patterns, identity, **options):
    """All parts as one."""
    parts = list(read_in_parts(patterns, identity, **options))
    runs = sorted((run for part in parts for run in part.runs), key=lambda run: (run.ended_at, run.run_id))
    return replace(parts[-1], runs=tuple(runs))


@pytest.fixture
def write(tmp_path):
    def write(content, name="run.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def test_many_logs_give_the_runs_of_one_workload(write, tmp_path):
    write(LOG.replace("-0007", "-0009").replace("end=1031", "end=1041"), "a.csv")
    write(LOG, "b.csv")
    write(LOG.replace("model=cnn", "model=mlp"), "other.csv")
    write(LOG, "copy.csv")
    write("no log", "d.csv")
    found = read_logs([str(tmp_path / "*.csv")], DIGITS)
    assert [run.run_id for run in found.runs] == ["digits-0007", "digits-0009"]
    assert [skip.run_id for skip in found.skipped] == ["digits-0007", "d.csv"]
    assert (found.complete, found.watermark) == (False, None), "d.csv cannot be read"


def test_thousands_of_logs_come_in_parts_and_a_copy_of_one_in_an_earlier_part_is_noticed(write, tmp_path):
    for number in range(AT_ONCE + 2):
        write(LOG.replace("-0007", f"-{number:04}").replace("0.9,0.5", f"0.9,0.5{number:04}"), f"{number:04}.csv")
    write(LOG.replace("-0007", "-0001"), "copy.csv")
    parts = list(read_in_parts([tmp_path], DIGITS))
    assert [(len(part.runs), len(part.skipped)) for part in parts] == [(AT_ONCE, 0), (2, 1)]
    assert [run for part in parts for run in part.runs] == list(read_logs([tmp_path], DIGITS).runs)
    assert "0001.csv, has the same run_id" in parts[1].skipped[0].reason


def test_without_logs_there_is_one_empty_part(tmp_path):
    assert [part.runs for part in read_in_parts([tmp_path], DIGITS)] == [()]


def test_without_a_workload_all_are_read_and_the_same_id_in_another_one_is_another_run(write, tmp_path):
    write(LOG, "a.csv")
    write(LOG.replace("model=cnn", "model=mlp"), "b.csv")
    write(LOG, "c.csv")
    runs, unusable = read_each(log_files([tmp_path]))
    assert [(one.path.name, one.run.identity.model) for one in runs] == [("a.csv", "cnn"), ("b.csv", "mlp")]
    assert [(one.path.name, one.why.code) for one in unusable] == [("c.csv", "JPO-W130")]
    assert "a.csv, has the same run_id" in unusable[0].why.text


def test_a_log_cut_off_gives_way_to_a_whole_one_of_the_same_run(write, tmp_path):
    write(LOG.partition("# end")[0], "a.csv")
    write(LOG, "b.csv")
    runs, unusable = read_each(log_files([tmp_path]))
    assert [one.path.name for one in runs] == ["b.csv"]
    assert [(one.path.name, one.why.code) for one in unusable] == [("a.csv", "JPO-E111")]


def test_an_empty_log_does_not_make_the_look_incomplete(write, tmp_path):
    write("", "begun.csv")
    found = read_logs([tmp_path], DIGITS)
    assert (found.complete, [skip.run_id for skip in found.skipped]) == (True, ["begun.csv"])


def test_pipes_folders_and_dead_links_do_not_hang_or_hide_the_rest(write, tmp_path):
    write(LOG)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "dead.csv").symlink_to("nowhere")
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    found = read_logs([tmp_path], DIGITS)
    assert [run.run_id for run in found.runs] == ["digits-0007"]
    assert sorted(skip.run_id for skip in found.skipped) == ["dead.csv", "device.csv", "folder.csv", "pipe.csv"]


def test_folders_files_and_patterns_name_logs(write, tmp_path):
    path = write(LOG, "[1].csv")
    for name in (tmp_path, path, str(path), str(tmp_path / "?1*.csv"), str(tmp_path / "**" / "*.csv")):
        assert [run.run_id for run in read_logs([name], DIGITS).runs] == ["digits-0007"]


@pytest.mark.parametrize("pattern", ["*.csv", "a**b", "nul\0l", "missing"])
def test_a_pattern_without_a_match_is_reported(tmp_path, pattern):
    (skip,) = read_logs([str(tmp_path / pattern)], DIGITS).skipped
    assert skip.reason.endswith("no such file; name a CSV log")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "a**b"])
def test_what_no_file_can_be_called_is_a_log_that_cannot_be_read(name: str) -> None:
    assert [one.why.code for one in read_each(log_files([name]))[1]] == ["JPO-E110"]


def test_a_folder_without_logs_is_empty_and_no_error(tmp_path: Path) -> None:
    assert list(log_files([tmp_path])) == []


def test_logs_of_the_same_job_on_other_hardware_are_taken_for_what_they_are(write, tmp_path):
    on_a100 = LOG.replace("# start", "# hardware=a100\n# start")
    write(on_a100, "a.csv")
    write(on_a100.replace("a100", "t4"), "b.csv")
    write(on_a100.replace("a100", "h100").partition("# end")[0], "running.csv")
    here = Identity("digits", "cnn", "pytorch", "t4")
    found = read_logs([tmp_path], here)
    assert [run.identity.hardware for run in found.runs] == ["a100", "t4"]
    assert found.skipped == (), "what others leave behind is theirs"


def test_where_no_hardware_is_named_runs_on_any_are_the_workloads_own(write, tmp_path):
    write(LOG.replace("# start", "# hardware=a100\n# start"), "a.csv")
    write(LOG.replace("-0007", "-0008").replace("# start", "# hardware=t4\n# start"), "b.csv")
    assert [run.identity for run in read_logs([tmp_path], DIGITS).runs] == [DIGITS, DIGITS]
