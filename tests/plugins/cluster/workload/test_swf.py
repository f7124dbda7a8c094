"""Logs in the Standard Workload Format: the rules of reading, and where a fault is."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.workload.swf import read_swf


def line(
    job: int, submit: float, run: float = 100, allocated: int = 4, asked: int = -1, requested: float = -1, user: int = 7
) -> str:
    return f"{job} {submit} 5 {run} {allocated} -1 -1 {asked} {requested} -1 1 {user} -1 -1 -1 -1 -1 -1"


def log(folder: Path, *lines: str) -> Path:
    path = folder / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_processors_are_the_larger_number_and_a_missing_request_is_the_run_time(tmp_path: Path) -> None:
    found = read_swf(log(tmp_path, line(1, 0, asked=8), line(2, 1, run=50, allocated=16, asked=2, requested=70)))
    assert found.jobs.processors.tolist() == [8, 16]
    assert found.jobs.requested_seconds.tolist() == [100, 70]
    assert found.jobs.users.tolist() == [7, 7]


def test_jobs_that_never_ran_are_left_out_and_counted(tmp_path: Path) -> None:
    dead = (line(2, 1, run=0), line(3, 2, run=-1), line(4, 3, allocated=-1), line(5, 4, allocated=0))
    found = read_swf(log(tmp_path, line(1, 0), *dead))
    assert (found.jobs.ids.tolist(), found.never_ran) == ([1], 4)


def test_jobs_are_sorted_by_submit_time_then_id_and_know_their_lines(tmp_path: Path) -> None:
    found = read_swf(log(tmp_path, "; Note: unsorted", line(9, 50), "", line(4, 20), line(3, 50)))
    assert found.jobs.ids.tolist() == [4, 3, 9]
    assert found.lines == (4, 5, 2)
    assert read_swf(tmp_path / "log.swf", first=2).jobs.ids.tolist() == [4, 3]


def test_unix_times_are_counted_from_the_header_or_from_the_first_job(tmp_path: Path) -> None:
    jobs = line(1, 893466700), line(2, 893466800)
    with_header = read_swf(log(tmp_path, "; UnixStartTime: 893466664", *jobs))
    assert (with_header.jobs.submit_seconds.tolist(), with_header.counted_from) == ([36, 136], 893466664)
    without = read_swf(log(tmp_path, *jobs))
    assert (without.jobs.submit_seconds.tolist(), without.counted_from) == ([0, 100], 893466700)
    own = read_swf(log(tmp_path, "; UnixStartTime: 893466664", line(1, 5094)))
    assert (own.jobs.submit_seconds.tolist(), own.counted_from) == ([5094], 0)


@pytest.mark.parametrize(
    ("header", "size"), [("; MaxProcs: 128\n; MaxNodes: 64", 128), (";MaxNodes: 64", 64), ("; Other: 3", None)]
)
def test_the_header_says_how_large_the_machine_is(tmp_path: Path, header: str, size: int | None) -> None:
    assert read_swf(log(tmp_path, header, line(1, 0))).machine_processors == size


def test_gzip_and_further_columns_change_nothing(tmp_path: Path) -> None:
    plain = read_swf(log(tmp_path, line(1, 0), line(2, 3)))
    packed = tmp_path / "log"
    packed.write_bytes(gzip.compress(f"{line(1, 0)} 4.5 more\r\n{line(2, 3)}\r\n".encode()))
    assert read_swf(packed).jobs.submit_seconds.tolist() == plain.jobs.submit_seconds.tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (line(2, 1).replace("100", "1h"), "log.swf:2: column 4 (run time) is '1h', not a number"),
        (line(2, 1).replace("100", "1_0"), "log.swf:2: column 4 (run time) is '1_0', not a number"),
        (line(2, 1).replace("100", "nan"), "column 4 (run time) is nan, which is neither a time nor a count"),
        (line(2, 1).replace("100", "1e300"), "column 4 (run time) is 1e300, which is neither a time nor a count"),
        (line(2, -1), "log.swf:2: column 2 (submit time) is -1, which is negative; every job has one, from 0"),
        (line(2, 1, run=-7), "log.swf:2: column 4 (run time) is -7, which is negative"),
        (line(2, 1, requested=-3), "log.swf:2: column 9 (requested time) is -3, which is negative"),
        (line(2, 1).replace(" 4 ", " 4.5 "), "log.swf:2: column 5 (allocated processors) is 4.5, not a whole number"),
        ("2 1 5 100 4", "log.swf:2: column 6 (average CPU time) is missing: the line has 5 of 18 columns"),
        (line(2, 1)[:-3], "log.swf:2: column 18 (think time) is missing: the line has 17 of 18 columns"),
        ("x" * 70_000, "log.swf:2: is longer than 65536 characters"),
        (f"{line(2, 1)}\r{line(3, 2)}", "log.swf:2: has a carriage return within the line"),
    ],
)
def test_a_malformed_line_is_named_with_its_column(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_swf(log(tmp_path, line(1, 0), text))
    assert told in str(caught.value)
    assert (caught.value.exit_code, caught.value.code) == (2, "JPO-E740")


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(f"\ufeff; MaxProcs: 64\r\n{line(1, 0)}\r\n".encode())
    assert read_swf(path).machine_processors == 64


@pytest.mark.parametrize(
    "content", [b"", b"; MaxProcs: 4\n", b"\x1f\x8bdamaged", gzip.compress(b"1 2 3", mtime=0)[:-6], b"\x00\xff\n"]
)
def test_files_that_are_no_log_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"log\.swf"):
        read_swf(path)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.swf"):
        with pytest.raises(UsageError, match=r"cannot be read|is a directory"):
            read_swf(path)
