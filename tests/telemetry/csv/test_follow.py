"""Following a log: new rows only, even if the file is replaced meanwhile, and an end that is the run's own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.errors import TelemetryError
from jpo.records import RunStatus
from jpo.telemetry.csv import follow as module
from jpo.telemetry.csv.follow import LogRow, LogUpdate, Tail, follow
from jpo.telemetry.csv.log import read_log

NOW = float(int(time.time()))  # files are written now: silence counts from there
HEAD = f"""\
# run_id=digits-0007
# dataset=digits
# model=cnn
# framework=pytorch
# batch_size=64
# epochs=3
# start={NOW - 30}
time,epoch,samples,train_loss,val_loss
"""
ROWS = [f"{NOW - 20},1,1437,0.9,0.5\n", f"{NOW - 10},2,2874,0.6,\n", f"{NOW},3,4311,0.5,0.25\n"]
END = f"# end={NOW + 1}\n# status=succeeded\n"
LOG = HEAD + "".join(ROWS) + END


class Story:
    """A clock that plays the next step of what happens to the file whenever the follower sleeps."""

    def __init__(self, *steps: Callable[[], object], afterwards: float = 100.0) -> None:
        self.now = NOW
        self._steps = list(steps)
        self._afterwards = afterwards

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds if self._steps else self._afterwards
        if self._steps:
            self._steps.pop(0)()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.csv"


def append(path: Path, text: str) -> Callable[[], object]:
    def step() -> None:
        with path.open("a") as file:
            file.write(text)

    return step


def followed(tail: Tail, story: Story) -> list[LogUpdate]:
    return list(follow(tail, clock=story.clock, sleep=story.sleep))


def epochs(found: list[LogUpdate]) -> list[list[float | None]]:
    return [[row.epoch for row in news.rows] for news in found if news.rows]


def test_every_row_comes_once_and_a_line_only_when_it_is_whole(path: Path) -> None:
    path.write_text(HEAD + ROWS[0] + ROWS[1][:9])
    steps = [append(path, ROWS[1][9:]), lambda: None, append(path, ROWS[2] + END)]
    with Tail(path) as tail:
        found = followed(tail, Story(*steps))
        assert epochs(found) == [[1], [2], [3]]
        assert found[0].rows == (LogRow(NOW - 20, 1, 1437, 0.9, 0.5),)
        assert found[1].rows[0].val_loss is None
        assert found[-1].state == "over"
        assert tail.run(NOW) == read_log(path)


def test_what_follows_the_status_still_belongs_to_the_run(path: Path) -> None:
    path.write_text(LOG)
    with Tail(path) as tail:
        followed(tail, Story(append(path, "# converged=false\n"), append(path, "# memory_bytes=1073741824\n")))
        run = tail.run(NOW)
    assert (run.outcome.converged, run.outcome.memory_gib) == (False, 1.0)


@pytest.mark.parametrize("longer", ["", "".join(ROWS) * 3], ids=["shorter", "longer"])  # all workers find the same ids
def test_a_log_written_anew_by_its_run_is_read_from_the_start(path: Path, longer: str) -> None:
    path.write_text(HEAD + "".join(ROWS[:2]))
    again = HEAD.replace(f"start={NOW - 30}", f"start={NOW - 5}") + longer
    with Tail(path) as tail:
        found = followed(tail, Story(lambda: path.write_text(again), append(path, ROWS[2] + END)))
        assert [news.change for news in found if news.change] == ["rewritten"]
        assert epochs(found)[0] == [1, 2]
        assert tail.run(NOW).started_at == NOW - 5
        assert tail.run(NOW) == read_log(path)


def test_a_rotated_log_is_read_to_its_end_and_then_the_new_one(path: Path) -> None:
    path.write_text(HEAD + ROWS[0])
    old = path.with_name("run.csv.1")

    def rotate() -> None:
        append(path, ROWS[1])()
        path.rename(old)
        path.write_text(LOG.replace("-0007", "-0008"))

    with Tail(path) as tail:
        found = followed(tail, Story(rotate))
        assert epochs(found) == [[1], [2], [1, 2, 3]]
        assert [news.change for news in found] == [None, None, "replaced", None]
        assert tail.run(NOW).run_id == "digits-0008"


@pytest.mark.parametrize("how", ["renamed", "truncated"])
def test_a_run_that_is_over_stays_the_one_when_the_next_takes_its_place(path: Path, how: str) -> None:
    path.write_text(HEAD + ROWS[0])

    def next_run() -> None:
        append(path, END)()
        followed_once.append(tail.poll())
        if how == "renamed":
            path.rename(path.with_name("old"))
        path.write_text(HEAD.replace("-0007", "-0008"))

    followed_once: list[LogUpdate] = []
    with Tail(path) as tail:
        assert followed(tail, Story(next_run))[-1].state == "over"
        assert tail.run(NOW).run_id == "digits-0007"


def test_a_deleted_log_is_waited_for_and_then_given_up(path: Path) -> None:
    path.write_text(HEAD + ROWS[0])
    with Tail(path) as tail:
        found = followed(tail, Story(path.unlink))
        assert [news.state for news in found] == ["running", "missing", "gone"]
        with pytest.raises(TelemetryError, match="not over"):
            tail.run(NOW)


def test_a_deleted_log_that_comes_back_is_followed_on(path: Path) -> None:
    path.write_text(HEAD + ROWS[0])
    with Tail(path) as tail:
        found = followed(tail, Story(path.unlink, lambda: None, lambda: path.write_text(LOG)))
        assert [news.state for news in found] == ["running", "missing", "running", "over"]
        assert [news.change for news in found] == [None, None, "rewritten", None]
        assert tail.run(NOW) == read_log(path)


def test_a_log_may_come_later_or_never(path: Path) -> None:
    with Tail(path) as tail:
        assert [news.state for news in followed(tail, Story())] == ["missing", "gone"]
    with Tail(path) as tail:
        found = followed(tail, Story(lambda: None, lambda: path.write_text(""), lambda: path.write_text(LOG)))
        assert [news.state for news in found] == ["missing", "running", "running", "over"]
        assert epochs(found) == [[1, 2, 3]]


def test_silence_ends_it_and_the_epochs_judge(path: Path) -> None:
    path.write_text(HEAD + "".join(ROWS[:2]))
    with Tail(path) as tail:
        story = Story()
        assert followed(tail, story)[-1].state == "silent"
        assert 300 < story.now - NOW <= 500
        assert tail.run(story.now).status is RunStatus.FAILED


def test_a_log_that_was_silent_before_is_not_waited_for(path: Path) -> None:
    old = LOG.replace(END, "").replace(str(NOW)[:7], str(NOW - 10**6)[:7])
    path.write_text(old)
    os.utime(path, (NOW - 10**5, NOW - 10**5))
    with Tail(path) as tail:
        story = Story()
        assert followed(tail, story)[-1].state == "silent"
        assert story.now == NOW + 100, "one look later"


def test_long_epochs_and_slow_clocks_are_no_silence(path: Path) -> None:
    slow = [f"{NOW - 5000 + 600 * epoch},{epoch},1,1,1\n" for epoch in (1, 2, 3)]  # its clock is behind by more than an hour
    path.write_text(HEAD.replace(f"{NOW - 30}", f"{NOW - 5000}") + slow[0])
    story = Story(*[lambda: None] * 598, append(path, slow[1]), *[lambda: None] * 598, append(path, slow[2] + END))
    with Tail(path) as tail:
        assert [news.state for news in followed(tail, story)] == ["running", "running", "running", "over"]


def test_a_job_that_died_before_its_first_row_is_waited_for_an_hour(path: Path) -> None:
    path.write_text(HEAD)
    with Tail(path) as tail:
        story = Story()
        assert followed(tail, story)[-1].state == "silent"
        assert story.now - NOW > 3600


def test_a_line_without_end_and_a_huge_file_are_refused_in_bounded_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"x" * 2**20)
    with Tail(path) as tail, pytest.raises(TelemetryError, match="line 1 is longer than 64 KiB"):
        tail.poll()
    path.write_text(HEAD + ROWS[0] * 20_000)
    with Tail(path) as tail:
        assert tail.poll().bytes_read == module.CHUNK_BYTES
    monkeypatch.setattr(module, "LARGEST_LOG_BYTES", 300_000)
    with Tail(path) as tail, pytest.raises(TelemetryError, match="is larger than"):
        followed(tail, Story())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_refused_at_once(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    with Tail(path) as tail, pytest.raises(TelemetryError, match=r"is not a regular file|is a directory"):
        tail.poll()


def test_a_broken_line_is_named(path: Path) -> None:
    path.write_text(HEAD + ROWS[0] + "soon,2,3,4,5\n")
    with Tail(path) as tail, pytest.raises(TelemetryError, match="line 10: time 'soon' is not a number"):
        tail.poll()


@given(st.lists(st.integers(0, len(LOG)), max_size=6), st.sampled_from(["\n", "\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_however_it_is_cut_the_rows_and_the_run_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], newline: str, mark: bytes
) -> None:
    path = tmp_path_factory.mktemp("cut") / "run.csv"
    whole = mark + ("# note=größer\n" + LOG).replace("\n", newline).encode()
    places = [0, *sorted(cuts), len(whole)]
    path.touch()
    rows: list[LogRow] = []
    with Tail(path) as tail:
        for begin, end in pairwise(places):
            with path.open("ab") as file:
                file.write(whole[begin:end])
            rows += tail.poll().rows
        assert [row.epoch for row in rows] == [1, 2, 3]
        assert tail.run(NOW) == read_log(path)


def test_throughput_is_reported_between_rows_that_rise() -> None:
    row = LogRow(time=20.0, samples=300.0)
    assert row.samples_per_second(LogRow(time=10.0, samples=100.0)) == 20
    assert [row.samples_per_second(LogRow(time=t, samples=s)) for t, s in ((20.0, 0.0), (10.0, 400.0), (None, 1.0))] == [None] * 3
