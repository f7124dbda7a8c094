"""What a training job writes down, and that nothing which goes wrong there harms the training."""

from __future__ import annotations

import ast
import logging
import math
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from base64 import b64encode
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import synchronize
from pathlib import Path

import pytest

from jpo.records import RunStatus
from jpo.runlog import RESERVED, STATUSES, RunLog
from jpo.telemetry import contract
from jpo.telemetry.csv.log import read_log

ROOT = Path(__file__).parents[1]
PARAMETERS = {"batch_size": 64, "learning_rate": 1e-3, "optimizer": "sgd", "cpus": None}


def new(folder: Path, *, dataset: str = "digits", run_id: str = "run-1", **settings: str) -> RunLog:
    settings = {"JPO_RUNLOG_DIR": str(folder), "JPO_RUN_ID": run_id, "JPO_LINGER_SECONDS": "0", **settings}
    return RunLog(dataset=dataset, model="cnn", framework="pytorch", parameters=PARAMETERS, settings=settings)


def scrape(log: RunLog) -> str:
    assert log.metrics_url is not None
    with urllib.request.urlopen(log.metrics_url, timeout=10) as answer:  # noqa: S310
        assert answer.status == 200
        return str(answer.read(), "utf-8")


def train_in_a_process(folder: Path, body: str, **settings: str) -> subprocess.Popen[str]:
    """A script that runs `body` in the with block of a RunLog; SIGTERM and memory limits need a process of their own."""
    script = (
        "import os, sys, time, signal\nfrom jpo.runlog import RunLog\n"
        "with RunLog(dataset='d', model='m', framework='f', parameters={'epochs': 9}, settings=os.environ) as log:\n"
        + "".join(f"    {line}\n" for line in body.split("\n"))
    )
    base = {"PYTHONPATH": str(ROOT), "JPO_RUNLOG_DIR": str(folder), "JPO_RUN_ID": "run-1", "JPO_LINGER_SECONDS": "0"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", script], env={**os.environ, **base, **settings}, **pipes)  # type: ignore[call-overload,no-any-return]


def test_a_run_is_what_jpo_reads_back(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.batch(1437)
        log.epoch(1, train_loss=0.61, val_loss=0.1 + 0.2)
        time.sleep(0.01)  # logs count milliseconds; a run that ends where it starts has no duration
        log.end(converged=True)
    run = read_log(tmp_path / "run-1.csv")
    assert (run.run_id, run.status, run.parameters) == ("run-1", RunStatus.SUCCEEDED, {"batch_size": 64, "learning_rate": 0.001})
    assert (run.outcome.samples, run.outcome.train_loss, run.outcome.val_loss) == (1437, 0.61, 0.1 + 0.2)
    assert run.outcome.converged
    assert run.outcome.memory_gib is not None
    assert run.outcome.duration_seconds == pytest.approx(0.01, abs=5)


def test_the_log_has_the_documented_lines(tmp_path: Path) -> None:
    with new(tmp_path, POD_NAME="pod-7", POD_NAMESPACE="ml") as log:
        log.epoch(1, val_loss=0.5)
        log.epoch(2)
    text = re.sub(r"\d{10}\.\d+", "TIME", (tmp_path / "run-1.csv").read_text())
    text = re.sub(r"(cpu_seconds|memory_bytes)=[\d.]+", r"\1=N", text)
    head = "# run_id=run-1\n# dataset=digits\n# model=cnn\n# framework=pytorch\n"
    head += "# batch_size=64\n# learning_rate=0.001\n# optimizer=sgd\n"
    place = f"# pod=pod-7\n# namespace=ml\n# hostname={socket.gethostname()}\n"
    rows = "time,epoch,samples,train_loss,val_loss\nTIME,1,0,,0.5\nTIME,2,0,,\n"
    assert text == head + place + "# start=TIME\n" + rows + "# end=TIME\n# status=succeeded\n# cpu_seconds=N\n# memory_bytes=N\n"


def test_names_and_states_are_those_of_the_contract(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.epoch(1, 0.5, 0.5)
        log.end(converged=False)
    constants = (contract.RUN_INFO, contract.SAMPLES, contract.TRAIN_LOSS, contract.VAL_LOSS, contract.EPOCH, contract.START)
    constants += (contract.END, contract.STATUS, contract.CONVERGED, contract.CPU_SECONDS, contract.MEMORY_BYTES)
    assert set(re.findall(r"^(\w+)\{", log.exposition().decode(), re.MULTILINE)) == set(constants)
    assert set(STATUSES) == {status.value for status in RunStatus}


def test_the_log_names_the_suggestion_whose_values_the_run_was_given(tmp_path: Path) -> None:
    for name, given in (("by-hand", {}), ("tuned", {"JPO_SUGGESTION_ID": "20261130-061300-7fa861"})):
        with new(tmp_path, run_id=name, **given):
            pass
    assert "suggestion_id" not in (tmp_path / "by-hand.csv").read_text()
    assert "# suggestion_id=20261130-061300-7fa861\n" in (tmp_path / "tuned.csv").read_text()


def test_a_log_that_is_there_already_is_never_overwritten(tmp_path: Path) -> None:
    logs = []
    for _ in range(3):
        with new(tmp_path) as log:
            logs.append(log)
    assert [log.run_id for log in logs] == ["run-1", "run-1-2", "run-1-3"]
    assert [read_log(log.path).run_id for log in logs if log.path] == ["run-1", "run-1-2", "run-1-3"]


def test_runs_without_a_name_get_different_ones(tmp_path: Path) -> None:
    assert new(tmp_path, run_id="").run_id != new(tmp_path, run_id="").run_id


@pytest.mark.parametrize(
    ("wish", "name"),
    [("a/../b c\n", "a-..-b-c"), ("../../etc", "-..-etc"), ("...", "run"), ("é" * 400, "-"), ("x" * 400, "x" * 128)],
)
def test_a_run_id_is_safe_as_a_file_name(tmp_path: Path, wish: str, name: str) -> None:
    with new(tmp_path / "logs", run_id=wish) as log:
        assert log.run_id == name
    assert [path.name for path in (tmp_path / "logs").iterdir()] == [f"{name}.csv"]


def test_labels_are_escaped(tmp_path: Path) -> None:
    with new(tmp_path, dataset='a"b\\c\nd\udcff') as log:
        assert 'dataset="a\\"b\\\\c\\nd?"' in log.exposition().decode()
    assert read_log(tmp_path / "run-1.csv").identity.dataset == 'a"b\\c d?'


def test_val_loss_is_absent_before_the_first_validation_and_nan_means_diverged(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.epoch(1, train_loss=0.5)
        assert b"jpo_val_loss" not in log.exposition()
        log.epoch(2, val_loss=math.nan)
    assert b'status="diverged"} 1\n' in log.exposition()
    assert read_log(tmp_path / "run-1.csv").status is RunStatus.DIVERGED


class OutOfMemoryError(RuntimeError):
    """Named as torch's."""


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("x"), "failed"),
        (MemoryError(), "oom_killed"),
        (OutOfMemoryError("CUDA"), "oom_killed"),
        (RuntimeError("CUDA out of memory. Tried to allocate"), "oom_killed"),
        (KeyboardInterrupt(), "stopped"),
        (SystemExit(143), "stopped"),
        (SystemExit(2), "failed"),
        (SystemExit(0), "succeeded"),
    ],
)
def test_an_exception_records_how_the_run_ended_and_passes_on(tmp_path: Path, error: BaseException, status: str) -> None:
    with pytest.raises(type(error)), new(tmp_path):
        raise error
    assert read_log(tmp_path / "run-1.csv").status == status


def test_what_comes_after_the_end_is_no_longer_part_of_the_run(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.end("stopped")
        before = log.exposition()
        log.batch(5)
        log.epoch(9, 1.0, 1.0)
        log.end("failed")
    assert (log.exposition(), read_log(tmp_path / "run-1.csv").status) == (before, "stopped")


def test_the_calls_work_without_a_with_block(tmp_path: Path) -> None:
    log = new(tmp_path)
    log.start()
    log.batch(3)
    log.end("succeeded", converged=False)
    log.close()
    assert read_log(tmp_path / "run-1.csv").outcome.samples == 3


@pytest.mark.parametrize("name", [*sorted(RESERVED), "lr-max", "__name__", "a b", "1st", "größe"])
def test_a_parameter_that_cannot_be_a_label_is_refused_when_the_code_is_written(name: str) -> None:
    with pytest.raises(ValueError, match="parameter"):
        RunLog(dataset="d", model="m", framework="f", parameters={name: 1}, settings={})


@pytest.mark.parametrize("nothing", [" ", None])
def test_a_job_without_a_name_is_refused(tmp_path: Path, nothing: str) -> None:
    with pytest.raises(ValueError, match="every run has a name, or a dataset"):
        new(tmp_path, dataset=nothing)


def test_settings_may_be_other_things_than_texts(tmp_path: Path) -> None:
    settings: dict[str, object] = {"JPO_RUNLOG_DIR": tmp_path, "JPO_METRICS_PORT": 0, "JPO_LINGER_SECONDS": 0, "JPO_RUN_ID": None}
    with RunLog(dataset="d", model="m", framework="f", parameters={}, settings=settings) as log:
        assert "jpo_run_info" in scrape(log)
    assert log.path is not None
    assert (log.path.parent, log.run_id.startswith("m-")) == (tmp_path, True)


def test_sigterm_ends_the_run_as_stopped(tmp_path: Path) -> None:
    with train_in_a_process(tmp_path, "print('ready', flush=True)\ntime.sleep(60)") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert (process.returncode, read_log(tmp_path / "run-1.csv").status) == (143, "stopped")


def test_a_program_that_handles_sigterm_itself_keeps_its_handler(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with new(tmp_path):
            assert signal.getsignal(signal.SIGTERM) == signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) == signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_killed_run_keeps_its_whole_rows(tmp_path: Path) -> None:
    with train_in_a_process(tmp_path, "log.batch(7)\nlog.epoch(1, 0.5, 0.5)\nos.kill(os.getpid(), signal.SIGKILL)") as process:
        process.communicate(timeout=120)
    run = read_log(tmp_path / "run-1.csv", now=time.time() + 400)
    assert (run.status, run.outcome.samples) == (RunStatus.FAILED, 7)


def test_forked_processes_report_nothing(tmp_path: Path) -> None:
    def worker(log: RunLog) -> None:
        with log:
            log.batch(1000)
            log.epoch(99, 1.0, 1.0)

    with new(tmp_path, JPO_METRICS_PORT="0") as log:
        process = multiprocessing.get_context("fork").Process(target=worker, args=(log,))
        process.start()
        process.join()
        assert process.exitcode == 0
        assert "jpo_run_end" not in scrape(log), "the worker neither ended the run nor took its port along"
        log.batch(1)
    assert read_log(tmp_path / "run-1.csv").outcome.samples == 1


def test_a_forked_process_that_is_terminated_dies_of_it_as_without_us(tmp_path: Path) -> None:
    def stubborn(ready: synchronize.Event) -> None:
        with suppress(SystemExit):
            ready.set()
            for _ in range(600):  # a signal just before a sleep begins is handled after it only: Python has no way round that
                time.sleep(0.1)

    fork = multiprocessing.get_context("fork")
    with new(tmp_path):
        ready = fork.Event()
        process = fork.Process(target=stubborn, args=(ready,))
        process.start()
        assert ready.wait(60)
        process.terminate()
        process.join(60)
    assert process.exitcode == -signal.SIGTERM


def test_samples_counted_by_several_threads_are_all_counted(tmp_path: Path) -> None:
    def count() -> None:
        for _ in range(20_000):
            log.batch(1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with new(tmp_path) as log:
            threads = [threading.Thread(target=count) for _ in range(4)]
            for thread in threads:
                thread.start()
            for epoch in range(100):
                log.epoch(epoch)
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert read_log(tmp_path / "run-1.csv").outcome.samples == 80_000


def test_time_of_children_counts_while_they_work(tmp_path: Path) -> None:
    busy = [
        sys.executable,
        "-c",
        "import time\nt = time.process_time()\nwhile time.process_time() < t + 0.4: pass\nprint(1)\ninput()",
    ]
    with new(tmp_path) as log, subprocess.Popen(busy, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        seconds = float(re.findall(rb"jpo_cpu_seconds_total\{.*\} (\S+)", log.exposition())[0])
        child.communicate(b"\n")
    assert 0.35 <= seconds < 60, "the kernel rounds user and system time down, to hundredths"


def test_time_of_children_that_have_ended_counts(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        subprocess.run([sys.executable, "-S", "-c", "import time\nwhile time.process_time() < 0.1: pass"], check=True)
    assert measured(log)[0] >= 0.08


def test_memory_is_that_of_the_process_not_of_who_started_it(tmp_path: Path) -> None:
    ballast = bytearray(300 * 2**20)
    with train_in_a_process(tmp_path, "pass") as process:
        process.communicate(timeout=120)
    del ballast
    memory_gib = read_log(tmp_path / "run-1.csv").outcome.memory_gib
    assert memory_gib is not None
    assert memory_gib < 0.2


def test_memory_is_in_bytes_and_what_is_measured_goes_on_to_the_end(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        during, _ = measured(log)
        assert during < time.process_time()  # which counts from the start of the process
        sum(range(10**6))
    assert (measured(log)[0] > during, measured(log)[1] % 1024) == (True, 0)  # the kernel counts KiB
    outcome = read_log(tmp_path / "run-1.csv").outcome
    assert outcome.memory_gib == measured(log)[1] / 2**30


def measured(log: RunLog) -> tuple[float, float]:
    cpu, memory = re.findall(r"^jpo_(?:cpu_seconds_total|memory_bytes)\{.*\} (\S+)$", log.exposition().decode(), re.MULTILINE)
    return float(cpu), float(memory)


@pytest.mark.parametrize(("text", "seconds"), [("-3", 0.0), ("0.5", 0.5), ("4000", 3600.0), ("nan", 0.0), ("soon", 7.0)])
def test_a_setting_in_seconds_is_at_least_0_and_at_most_an_hour_and_has_its_default_where_it_is_none(
    tmp_path: Path, text: str, seconds: float
) -> None:
    assert new(tmp_path, JPO_ANY_SECONDS=text)._setting("JPO_ANY_SECONDS", 7.0) == seconds
    assert new(tmp_path)._setting("JPO_ANY_SECONDS", 7.0) == 7


@pytest.mark.parametrize(
    ("environment", "silent"),
    [
        ({"RANK": "0", "WORLD_SIZE": "2"}, False),
        ({"RANK": "1", "WORLD_SIZE": "2"}, True),
        ({"SLURM_PROCID": "3"}, True),
        ({"OMPI_COMM_WORLD_RANK": "1", "SLURM_PROCID": "0"}, True),
        ({"LOCAL_RANK": "1"}, True),
        ({"RANK": "0", "SLURM_PROCID": "1"}, False),
        ({"RANK": "x"}, False),
    ],
)
def test_only_the_first_of_several_ranks_reports(tmp_path: Path, environment: dict[str, str], silent: bool) -> None:
    with new(tmp_path, JPO_METRICS_PORT="0", **environment) as log:
        log.batch(1)
        log.epoch(1, 0.5, 0.5)
        assert (log.metrics_url is None) == silent
    assert (log.path is None) == silent
    assert list(tmp_path.iterdir()) == ([] if silent else [tmp_path / "run-1.csv"])


def test_one_of_several_ranks_does_not_pass_off_its_cpu_time_as_that_of_all(tmp_path: Path) -> None:
    with new(tmp_path, RANK="0", WORLD_SIZE="2") as log:
        assert b"cpu_seconds" not in log.exposition()
    assert "cpu_seconds" not in (tmp_path / "run-1.csv").read_text()


def test_rows_that_a_full_disk_refused_follow_when_there_is_room(tmp_path: Path) -> None:
    body = """
import resource
log.epoch(1, 0.5, 0.5)
size = log.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
log.epoch(2, 0.4, 0.4)
log.epoch(3, 0.3, 0.3)
print(log.path.stat().st_size - size, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.epoch(4, 0.2, 0.2)"""
    with train_in_a_process(tmp_path, body) as process:
        out, warnings = process.communicate(timeout=120)
    assert (process.returncode, int(out)) == (0, 10), "the disk was full in the middle of a row"
    assert warnings.count("training continues") == 1
    rows = re.findall(r"^[\d.]+,(\d),0,(\S+),", (tmp_path / "run-1.csv").read_text(), re.MULTILINE)
    assert rows == [("1", "0.5"), ("2", "0.4"), ("3", "0.3"), ("4", "0.2")]


def test_a_folder_that_cannot_be_written_does_not_stop_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with new(tmp_path / "file", JPO_TEXTFILE_DIR=str(tmp_path / "nowhere")) as log:
        log.batch(1)
        log.epoch(1, 0.5, 0.5)
    assert log.path is None
    assert {message.split(" (")[0] for message in caplog.messages} == {
        "run run-1: cannot open the CSV log",
        "run run-1: cannot write the textfile",
    }


def test_a_port_in_use_does_not_stop_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with new(tmp_path, JPO_METRICS_PORT=str(other.getsockname()[1])) as log:
            log.batch(1)
    assert log.metrics_url is None
    assert "Address already in use" in caplog.text
    assert read_log(tmp_path / "run-1.csv").outcome.samples == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its socket is closed by the garbage collector
def test_a_server_that_could_not_start_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    log = new(tmp_path, JPO_METRICS_PORT="0")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_more)
        log.start()
    log.end()
    closing = threading.Thread(target=log.close, daemon=True)
    closing.start()
    closing.join(5)
    assert not closing.is_alive()


@pytest.mark.parametrize("port", ["x", "-1", "70000", "8000.5"])
def test_a_port_that_is_none_does_not_stop_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture, port: str) -> None:
    with new(tmp_path, JPO_METRICS_PORT=port, JPO_REPORT_SECONDS="nan", JPO_LINGER_SECONDS="soon") as log:
        pass
    assert log.metrics_url is None
    assert "cannot serve the metrics" in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "http://name.invalid",
        "gateway:9091",
        "file:///etc",
        "http://u:hunter2@127.0.0.1:x",
        "http://[u:hunter2@",
    ],
)
def test_an_unreachable_gateway_does_not_stop_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture, url: str) -> None:
    with new(tmp_path, JPO_PUSHGATEWAY_URL=url) as log:
        log.batch(1)
    assert sum("cannot push" in message for message in caplog.messages) == 1, "warned of once"
    assert "hunter2" not in caplog.text
    assert read_log(tmp_path / "run-1.csv").status is RunStatus.SUCCEEDED


def test_what_a_gateway_answers_is_quoted_short_and_without_control_characters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_response(500, "\x1b[2J" * 1000)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with new(tmp_path, JPO_PUSHGATEWAY_URL=f"http://127.0.0.1:{server.server_port}"):
            pass
        server.shutdown()
    (message,) = caplog.messages
    assert message.isprintable()
    assert len(message) < 300


def test_a_push_replaces_the_group_of_the_run_and_proves_who_it_is(tmp_path: Path) -> None:
    heard: list[tuple[str, str, dict[str, str], bytes]] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            heard.append((self.command, self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with new(tmp_path, JPO_PUSHGATEWAY_URL=f"http://jpo:p%40ss/w@127.0.0.1:{server.server_port}/prefix/") as log:
            log.batch(1)
        server.shutdown()
    command, path, headers, body = heard[-1]
    assert (command, path) == ("PUT", "/prefix/metrics/job/jpo/run_id/run-1")
    assert headers["Authorization"] == f"Basic {b64encode(b'jpo:p@ss/w').decode()}"
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert body == log.exposition()
    assert body.endswith(b"\n")


def test_a_gateway_that_never_answers_blocks_neither_training_nor_the_end_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jpo.runlog.LAST_REPORT_SECONDS", 2.0)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        started = time.monotonic()
        with new(tmp_path, JPO_PUSHGATEWAY_URL=f"http://127.0.0.1:{deaf.getsockname()[1]}") as log:
            log.epoch(1, 0.5, 0.5)
            assert time.monotonic() - started < 2
        assert 2 <= time.monotonic() - started < 20


class Ambiguous:
    """As an array of two truths."""

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


@pytest.mark.parametrize("nonsense", ["many", None, [1], object()])
def test_numbers_that_are_none_do_not_stop_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, nonsense: object
) -> None:
    with new(tmp_path) as log:
        log.batch(nonsense)  # type: ignore[arg-type]
        log.batch(-5)
        log.epoch(1, nonsense, 0.5)  # type: ignore[arg-type]
        log.end("finished", converged=Ambiguous())  # type: ignore[arg-type]
    assert "training continues" in caplog.text
    assert (read_log(tmp_path / "run-1.csv").status, caplog.records[0].levelno) == ("failed", logging.WARNING)


def test_the_end_waits_until_everyone_who_scraped_has_seen_it(tmp_path: Path) -> None:
    log = new(tmp_path, JPO_METRICS_PORT="0", JPO_LINGER_SECONDS="30")
    log.start()
    scrape(log)
    log.end()
    timer = threading.Timer(0.3, scrape, [log])
    timer.start()
    started = time.monotonic()
    log.close()
    assert 0.2 < time.monotonic() - started < 10
    timer.join()


def test_the_port_is_free_again_after_the_run(tmp_path: Path) -> None:
    with new(tmp_path, JPO_METRICS_PORT="0") as log:
        port = str(log.metrics_url).split(":")[2].split("/")[0]
        sleeper = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,))
        sleeper.start()  # has inherited the listening socket
    with new(tmp_path, JPO_METRICS_PORT=port) as second:
        assert "jpo_run_info" in scrape(second)
    sleeper.terminate()
    sleeper.join()


@pytest.mark.parametrize(
    ("settings", "host"),
    [({}, "127.0.0.1"), ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "0.0.0.0"), ({"JPO_METRICS_HOST": "127.0.0.2"}, "127.0.0.2")],  # noqa: S104
)
def test_only_a_pod_listens_to_the_network_unasked(tmp_path: Path, settings: dict[str, str], host: str) -> None:
    with new(tmp_path, JPO_METRICS_PORT="0", **settings) as log:
        assert str(log.metrics_url).startswith(f"http://{host}:")


def test_the_textfile_appears_whole_and_readable_for_others(tmp_path: Path) -> None:
    folder = tmp_path / "textfiles"
    folder.mkdir()
    mask = os.umask(0o077)
    try:
        with new(tmp_path, JPO_TEXTFILE_DIR=str(folder)) as log:
            log.epoch(1, 0.5, 0.5)
    finally:
        os.umask(mask)
    (file,) = folder.iterdir()
    assert (file.name, file.stat().st_mode & 0o777, file.read_bytes()) == ("jpo_run-1.prom", 0o644, log.exposition())


def test_the_file_needs_nothing_but_an_old_python() -> None:
    tree = ast.parse((ROOT / "jpo/runlog.py").read_text(), feature_version=(3, 9))
    imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names


def test_hardware_is_a_label_and_a_head_line_where_it_is_said(tmp_path: Path) -> None:
    settings = {"JPO_RUNLOG_DIR": str(tmp_path), "JPO_HARDWARE": "a100"}
    with RunLog(dataset="d", model="m", framework="f", parameters={}, settings=settings) as log:
        log.epoch(1, 0.5)
    assert log.path is not None
    assert "# hardware=a100\n" in log.path.read_text()
    assert b'hardware="a100"' in log.exposition()


def test_an_accuracy_and_metrics_of_ones_own_are_columns_and_gauges(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.epoch(1, val_loss=0.4, val_accuracy=None)
        assert "jpo_val_accuracy" not in log.exposition().decode()
        log.epoch(2, val_loss=0.3, val_accuracy=0.9, f1=0.8, auc=0.7)
        text = log.exposition().decode()
    assert text.count("# TYPE jpo_metric gauge") == 1
    assert 'metric="f1"} 0.8\n' in text
    assert 'metric="auc"} 0.7\n' in text
    assert re.search(r"jpo_val_accuracy\{.*\} 0\.9\n", text)
    assert log.path is not None
    lines = log.path.read_text().split("\n")
    heads = [line for line in lines if line.startswith(("time", "# metrics"))]
    usual = "time,epoch,samples,train_loss,val_loss,val_accuracy"
    assert heads == [usual, "# metrics=f1,auc", f"{usual},f1,auc"], "named again where one comes later"
    run = read_log(log.path)
    assert (run.outcome.val_loss, run.outcome.val_accuracy, run.outcome.metrics) == (0.3, 0.9, {"f1": 0.8, "auc": 0.7})


def test_the_columns_of_a_log_without_them_are_as_ever(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.epoch(1, val_loss=0.4)
    assert log.path is not None
    assert "\ntime,epoch,samples,train_loss,val_loss\n" in log.path.read_text()
    assert "metrics" not in log.path.read_text()


def test_metrics_of_ones_own_are_named_where_no_accuracy_is_logged(tmp_path: Path) -> None:
    with new(tmp_path) as log:
        log.epoch(1, val_loss=0.4, f1=0.8)
    assert read_log(tmp_path / "run-1.csv").outcome.metrics == {"f1": 0.8}
