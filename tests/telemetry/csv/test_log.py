"""CSV logs: the format of csvlog's docstring, and what becomes of logs that break it."""

from __future__ import annotations

import math
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jpo.errors import TelemetryError
from jpo.records import Identity, RunStatus
from jpo.telemetry.csv.log import read_log
from jpo.telemetry.outcome import Own

DIGITS = Identity("digits", "cnn", "pytorch")
LOG = """\
# run_id=digits-0007
# dataset=digits
# model=cnn
# framework=pytorch
# batch_size=64
# learning_rate=0.01
# epochs=3
# cpus=2
# gpus=0
# start=1000.0
time,epoch,samples,train_loss,val_loss
1010.0,1,1437,0.9,0.5
1020.0,2,2874,0.6,
1030.0,3,4311,0.5,0.25
# end=1031.0
# status=succeeded
# converged=true
# cpu_seconds=31
# memory_bytes=1073741824
"""
OPEN = LOG[: LOG.index("# end")]


@pytest.fixture
def write(tmp_path):
    def write(content, name="run.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_whole_log_is_a_run(write):
    run = read_log(write(LOG))
    assert (run.run_id, run.identity, run.status, run.source) == ("digits-0007", DIGITS, RunStatus.SUCCEEDED, "csv")
    assert run.parameters == {"batch_size": 64, "learning_rate": 0.01, "epochs": 3, "cpus": 2, "gpus": 0}
    assert (run.started_at, run.ended_at) == (1000, 1031)
    outcome = run.outcome
    assert (outcome.duration_seconds, outcome.samples, outcome.train_loss, outcome.val_loss) == (31, 4311, 0.5, 0.25)
    assert outcome.throughput_samples_per_second == 4311 / 31
    assert (outcome.cpu_utilisation, outcome.memory_gib, outcome.converged) == (0.5, 1.0, True)


@pytest.mark.parametrize(
    "disguise",
    [
        lambda log: log.replace("\n", "\r\n").encode(),
        lambda log: b"\xef\xbb\xbf" + log.encode(),
        lambda log: ("# note=größer\n" + log).encode("latin-1"),
        lambda log: ("# just words\n\n" + log).encode(),
        lambda log: (log + "# half a li").encode(),
        lambda log: log.replace("# ", "#").replace("=", " = ").encode(),
        lambda log: log.replace("1030.0,3,4311,0.5,0.25", " 1030.0, 3, 4311, 0.5, 0.25 ").encode(),
    ],
    ids=["CRLF", "BOM", "latin-1", "other comments", "cut trailer", "blanks", "padded cells"],
)
def test_the_same_run_in_any_disguise(write, disguise):
    assert read_log(write(disguise(LOG))) == read_log(write(LOG))


def test_an_empty_cell_is_not_measured(write):
    run = read_log(write(LOG.replace("0.5,0.25", "0.5,")))
    assert run.outcome.val_loss == 0.5


@pytest.mark.parametrize("loss", ["nan", "NaN", "inf"])
def test_a_loss_that_is_not_finite_is_divergence(write, loss):
    run = read_log(write(LOG.replace("0.5,0.25", f"0.5,{loss}")))
    assert (run.status, run.outcome.val_loss) == (RunStatus.DIVERGED, None)


def test_unknown_columns_and_another_order_are_fine(write):
    text = LOG.replace("time,epoch,samples,train_loss,val_loss", "epoch,time,lr")
    rows = "1010.0,1,1437,0.9,0.5\n1020.0,2,2874,0.6,\n1030.0,3,4311,0.5,0.25\n"
    run = read_log(write(text.replace(rows, "1,1010,0.1\n2,1020,x\n")))
    assert (run.outcome.samples, run.outcome.duration_seconds) == (None, 31)


def test_a_log_without_its_end_is_not_over(write):
    path = write(OPEN)
    for now in (None, 1030.0, 1030.0 + 300):
        with pytest.raises(TelemetryError, match="not over") as caught:
            read_log(path, now=now)
        assert caught.value.code == "JPO-E111"


def test_a_silent_log_is_judged_by_its_epochs(write):
    run = read_log(write(OPEN), now=1331.0)
    assert (run.status, run.ended_at) == (RunStatus.SUCCEEDED, 1030)
    run = read_log(write(OPEN.replace("1030.0,3,4311,0.5,0.25\n", "1030.0,3,43")), now=1331.0)
    assert (run.status, run.ended_at, run.outcome.samples) == (RunStatus.FAILED, 1020, 2874)


def test_a_silent_log_without_epochs_teaches_nothing(write):
    with pytest.raises(TelemetryError, match="how it ended is unknown") as caught:
        read_log(write(OPEN.replace("# epochs=3\n", "")), now=2000.0)
    assert caught.value.code == "JPO-E112"


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("# run_id=digits-0007\n", "", "# run_id="),
        ("# framework=pytorch", "# framework=", "# framework="),
        ("1020.0,2,2874,0.6,", "1020.0,2,2874", "line 13: 3 cells under 5 columns"),
        ("1020.0,2", "soon,2", "line 13: time 'soon' is not a number"),
        ("1020.0,2", "nan,2", "line 13: time is not finite"),
        ("# end=1031.0", "# end=later", "'later' is not a number"),
        ("time,epoch", "when,epoch", "line 11: the first row must name the columns"),
        ("time,epoch,samples", "time,epoch,epoch", "line 11: the first row must name the columns"),
        ("# gpus=0", "# batch_size=32", "line 9: batch_size is already '64'"),
    ],
)
def test_a_broken_log_is_named_with_place_and_finding(write, old, new, finding):
    path = write(LOG.replace(old, new, 1))
    with pytest.raises(TelemetryError) as caught:
        read_log(path)
    assert caught.value.code == "JPO-E110"
    assert str(caught.value).startswith(f"{path}: ")
    assert finding in caught.value.finding


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("status=succeeded", "status=fine", "status 'fine'"),
        ("batch_size=64", "batch_size=64.5", "batch_size = '64.5'"),
        ("learning_rate=0.01", "learning_rate=-1", "learning_rate = '-1'"),
        ("cpus=2", "cpus=inf", "cpus = 'inf'"),
        ("# end=1031.0", "# end=999", "ends before it starts"),
        ("# end=1031.0", "# end=nan", "has no time"),
        ("3,4311", "3,-4311", "samples = -4311"),
    ],
)
def test_a_run_that_teaches_nothing_is_distinguished(write, old, new, finding):
    with pytest.raises(TelemetryError) as caught:
        read_log(write(LOG.replace(old, new, 1)))
    assert caught.value.code == "JPO-E112"
    assert finding in caught.value.finding


@pytest.mark.parametrize("content", [b"", b"\0" * 100, LOG.encode("utf-16"), bytes(range(256)), b"a,b\n" * 1000])
def test_files_that_are_no_logs_are_refused(write, content):
    with pytest.raises(TelemetryError) as caught:
        read_log(write(content))
    assert caught.value.code in ("JPO-E110", "JPO-E111")


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing", tmp_path / "nul\0l"):
        with pytest.raises(TelemetryError) as caught:
            read_log(path)
        assert caught.value.code == "JPO-E110"


def test_a_huge_file_is_refused(tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(TelemetryError, match="larger than 64 MiB"):
        read_log(tmp_path / "huge")


def test_long_epochs_are_no_silence(write):
    slow = OPEN.replace("1010.0,1", "2200.0,1").replace("1020.0,2", "3400.0,2").replace("1030.0,3,4311,0.5,0.25\n", "")
    with pytest.raises(TelemetryError, match="not over"):
        read_log(write(slow), now=3400.0 + 3 * 1200)
    run = read_log(write(slow), now=3400.0 + 3 * 1200 + 1)
    assert (run.status, run.ended_at) == (RunStatus.FAILED, 3400)


def test_a_single_row_without_a_start_says_nothing_of_pauses_for_an_hour(write):
    path = write(OPEN.replace("# start=1000.0\n", "").replace("1020.0,2,2874,0.6,\n1030.0,3,4311,0.5,0.25\n", ""))
    with pytest.raises(TelemetryError, match="not over"):
        read_log(path, now=1010.0 + 3600)
    assert read_log(path, now=1010.0 + 3601).status is RunStatus.FAILED


def test_an_empty_file_is_a_run_that_has_not_begun(write):
    with pytest.raises(TelemetryError, match="is empty") as caught:
        read_log(write(b""))
    assert caught.value.code == "JPO-E111"


def test_a_line_without_end_is_refused(write):
    with pytest.raises(TelemetryError, match="line 2 is longer than 64 KiB"):
        read_log(write(f"# run_id=1\n# note={'x' * 2**16}\n"))


def test_the_slope_of_the_learning_curve_is_read_from_its_rows(write):
    rows = "".join(f"{1000 + 10 * epoch},{epoch},{epoch * 1437},,{epoch**-0.2}\n" for epoch in range(1, 5001))
    head, _, _ = LOG.partition("1010.0,1")
    end = LOG[LOG.index("# end") :].replace("1031.0", "52000")
    outcome = read_log(write(head + rows + end)).outcome
    assert (outcome.loss_slope, outcome.loss_slope_error) == (pytest.approx(-0.2, abs=1e-6), pytest.approx(0, abs=1e-6))
    assert read_log(write(LOG)).outcome.loss_slope is None  # two validations


NUMBERS = ["3_2", "\u0663\u0662", "0x10", "+5", "1e400", "-1e400", "nan", "-1", "", "x", "9" * 400, "1e13", "2.5"]


@pytest.mark.parametrize("key", ["batch_size", "epochs", "start", "end", "cpu_seconds", "memory_bytes", "converged", "status"])
@pytest.mark.parametrize("text", ["3_2", "\u0663\u0662", "0x10", "+5", "1e400", "x", "-1"])
def test_no_line_of_the_head_is_half_understood(write, key, text):
    changed = re.sub(rf"(?m)^# {key}=.*$", f"# {key}={text}", LOG)
    with pytest.raises(TelemetryError) as caught:
        read_log(write(changed))
    assert caught.value.code in ("JPO-E110", "JPO-E112")


@pytest.mark.parametrize("text", ["3_2", "\u0663\u0662", "0x10", "+5", "1e400", "x"])
def test_no_cell_is_half_understood(write, text):
    for cell in ("1030.0,3", "4311", "0.25"):
        with pytest.raises(TelemetryError, match="is not a number") as caught:
            read_log(write(LOG.replace(cell, cell[:-1] + text if cell == "1030.0,3" else text, 1)))
        assert caught.value.code == "JPO-E110"


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, len(LOG)), cut=st.integers(0, 40), put=st.sampled_from(NUMBERS) | st.text(max_size=6))
def test_a_log_that_was_changed_anywhere_is_a_whole_run_or_refused(write, place, cut, put):
    try:
        run = read_log(write((LOG[:place] + put + LOG[place + cut :]).encode("utf-8", "surrogatepass")), now=5000.0)
    except TelemetryError as error:
        known = error.code
    else:
        known = "a run"
        assert all(math.isfinite(value) and 0 <= value <= 1e12 for value in run.parameters.values())
        assert run.started_at is None or run.started_at <= run.ended_at <= 5000.0 + 86400
        assert run.outcome.samples is None or run.outcome.samples >= 0
    assert known in ("a run", "JPO-E110", "JPO-E111", "JPO-E112")


def test_names_of_frameworks_are_known_in_a_head(tmp_path):
    """The batch over all devices follows from the run's own GPUs and accumulation, whoever named them."""
    told = {"per_device_train_batch_size": 8, "accumulate_grad_batches": 2, "nproc_per_node": 4, "nnodes": 2}
    head = "".join(f"# {name}={value}\n" for name, value in told.items())
    path = tmp_path / "log.csv"
    path.write_text(
        f"# run_id=a\n# dataset=d\n# model=m\n# framework=f\n{head}# start=9\ntime,epoch\n200,1\n# end=210\n# status=succeeded\n"
    )
    assert read_log(path).parameters == {"batch_size": 128, "gpus": 8}
    path.write_text(path.read_text().replace("# start", "# batch_size=64\n# start"))
    assert read_log(path).parameters == {"batch_size": 64, "gpus": 8}


def test_a_parameter_may_be_called_in_a_head_what_config_ini_calls_it(tmp_path):
    own = Own(spelt={"batch_size": ("mini_batch", "bs"), "learning_rate": ("lr",)})
    path = tmp_path / "log.csv"
    path.write_text(
        "# run_id=a\n# dataset=d\n# model=m\n# framework=f\n# bs=64\n# lr=0.1\n# start=9\n"
        "time,epoch\n200,1\n# end=210\n# status=succeeded\n"
    )
    assert read_log(path).parameters == {}
    assert read_log(path, own=own).parameters == {"batch_size": 64, "learning_rate": 0.1}
    path.write_text(path.read_text().replace("# start", "# batch_size=32\n# start"))
    assert read_log(path, own=own).parameters == {"batch_size": 32, "learning_rate": 0.1}
