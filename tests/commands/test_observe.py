"""`jpo observe`: runs from logs and by hand; with --follow a line per epoch, and the run on record when it is over."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.cli.arguments import load_settings
from jpo.commands.observe import follow
from jpo.errors import TelemetryError
from jpo.report.progress_bar import Lines

if TYPE_CHECKING:
    from user_project import Project

ROOT = Path(__file__).parents[2]


@pytest.fixture
def growing(empty):
    """A log whose run is not over, and its missing end."""
    path = empty.log_now(64, 40.0)
    text = path.read_text()
    cut = text.index("# end")
    path.write_text(text[:cut])
    return path, text[cut:]


def history(project) -> str:
    return project.jpo("history", "--format", "csv").out


def sleeping(*steps: Callable[[], object]) -> Callable[[float], None]:
    left = list(steps)
    return lambda _seconds: left.pop(0)() if left else None


@contextmanager
def following(folder: Path, log: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "jpo", "observe", "--csv", str(log), "--follow"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def heeds_interrupts() -> None:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # a shell that runs the tests in the background ignores them, and so would jpo

    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True, preexec_fn=heeds_interrupts
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_run_is_recorded_when_it_is_over(empty, growing):
    log, rest = growing
    with following(empty.folder, log) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "run-now: epoch 1 of 40, 37.5 samples/s, train loss 0.2, val loss 0.1\n"
        assert "run-now" not in history(empty)
        with log.open("a") as file:
            file.write(rest)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "recorded run-now: digits/cnn/pytorch, succeeded\n", "")
    assert "run-now,digits,cnn,pytorch,succeeded" in history(empty)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_nothing_is_recorded_and_it_can_be_repeated(empty, growing, number):
    log, rest = growing
    with following(empty.folder, log) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(number)
        process.communicate(timeout=120)
        assert process.returncode == (-9 if number == signal.SIGKILL else 130)
    assert "run-now" not in history(empty)
    log.write_text(log.read_text() + rest)
    for told in ("recorded run-now", "nothing new"):
        answer = empty.jpo("observe", "--csv", str(log), "--follow")
        assert (answer.code, answer.out.startswith(told)) == (0, True)
    assert history(empty).count("run-now") == 1


def test_what_happens_to_the_file_is_reported(empty, growing):
    log, _ = growing
    other = log.read_text().replace("run-now", "run-next") + "# end=1e10\n# status=failed\n"
    stream = io.StringIO()

    def forever() -> float:
        return 1e10

    told = follow(
        log,
        load_settings(None, None, {}),
        clock=forever,
        sleep=sleeping(lambda: log.write_text(log.read_text()[:-1] + "5\n"), log.unlink, lambda: log.write_text(other)),
        live=Lines(stream),
    )
    assert told == ["recorded run-next: digits/cnn/pytorch, failed"]
    lines = stream.getvalue().split("\n")
    assert "is the log of another run now" in stream.getvalue()
    assert any("waiting for it" in line for line in lines)
    assert "run-next: epoch 1 of 40, 37.5 samples/s, train loss 0.2, val loss 0.1" in lines


def test_a_log_that_never_comes_is_an_error(empty):
    now = iter(range(0, 10**6, 100))
    loaded = load_settings(None, None, {})
    with pytest.raises(TelemetryError, match="none appeared within 300 s") as caught:
        follow(Path("no.csv"), loaded, clock=lambda: float(next(now)), sleep=sleeping(), live=Lines(io.StringIO()))
    assert caught.value.code == "JPO-E130"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--csv", "a.csv", "--csv", "b.csv"],
        ["run-1", "--csv", "a.csv"],
        ["--csv", "a.csv", "--metric", "val_loss=1"],
        ["--csv", "a.csv", "--status", "failed"],
    ],
)
def test_follow_goes_with_one_log_and_nothing_else(empty, arguments):
    answer = empty.jpo("observe", "--follow", *arguments)
    assert (answer.code, "[JPO-E131]" in answer.err) == (2, True)
    assert not (empty.folder / ".jpo").exists()


def test_a_store_that_cannot_be_used_is_reported_before_the_wait(empty, growing):
    (empty.folder / ".jpo").write_text("in the way")
    began = time.monotonic()
    answer = empty.jpo("observe", "--csv", str(growing[0]), "--follow")
    assert (answer.code, time.monotonic() - began < 60) == (5, True)


def test_each_whole_epoch_has_a_line():
    stream = io.StringIO()
    lines = Lines(stream)
    for done in (0.5, 0.9, 1.0, 1.5, None):
        lines.progress(f"at {done}", done, 3)
    assert stream.getvalue() == "at 0.5\nat 1.0\nat None\n"


def test_names_from_a_log_cannot_steer_the_terminal():
    stream = io.StringIO()
    Lines(stream).note("a\x1b[2Jb")
    assert stream.getvalue() == "a [2Jb\n"


def test_observe_a_log_twice_records_it_once(empty: Project) -> None:
    log = str(empty.log(1, 16, 100.0))
    assert "recorded run-1: digits/cnn/pytorch, succeeded" in empty.jpo("observe", "--csv", log).out
    assert "nothing new" in empty.jpo("observe", "--csv", log).out


def test_observe_without_arguments_reads_the_configured_logs(project: Project) -> None:
    assert project.jpo("observe").out.count("recorded run-") == 7


def test_observe_by_hand_takes_the_values_of_config_ini(empty: Project) -> None:
    assert empty.jpo("observe", "r1", "--metric", "duration_seconds=60", "--metric", "val_loss=0.3").code == 0
    (run,) = json.loads(empty.jpo("history", "--format", "json").out)["runs"]
    assert run["parameters"]["batch_size"] == 16
    assert (run["outcome"]["duration_seconds"], run["outcome"]["val_loss"], run["outcome"]["cost_usd"]) == (60, 0.3, None)


def test_observe_refuses_what_is_no_metric_or_no_number(empty: Project) -> None:
    for metric, message in (
        ("speed=3", "speed is not a metric"),
        ("val_loss=x", "is not a number"),
        ("duration_seconds=-1", "negative"),
    ):
        answer = empty.jpo("observe", "r1", "--metric", metric)
        assert answer.code == 2
        assert message in answer.err


def test_observe_names_a_log_that_cannot_be_read(empty: Project) -> None:
    answer = empty.jpo("observe", "--csv", "gone.csv")
    assert answer.code == 4
    assert "gone.csv" in answer.err


def test_a_run_of_which_nothing_is_known_does_not_count_as_one_that_ended_well(project: Project) -> None:
    for words in ((), ("--status", "succeeded"), ("--param", "batch_size=32")):
        answer = project.jpo("observe", "nope", *words)
        assert (answer.code, answer.out) == (2, "")
        assert "'nope' is not on record, and nothing says how it went; give figures" in answer.err
        assert "[JPO-E790]" in answer.err
    assert "recorded nope: digits/cnn/pytorch, failed" in project.jpo("observe", "nope", "--status", "failed").out
    assert project.jpo("observe", "nope").code == 0, "it is on record"
    assert "RUN: is missing" in project.jpo("observe", "--status", "failed").err
