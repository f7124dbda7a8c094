"""Run log of a training job: a CSV file on disk and, where configured, the same numbers for Prometheus.

    with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters={"batch_size": 64}, settings=os.environ) as log:
        ...  log.batch(len(labels))
        ...  log.epoch(epoch, train_loss=0.61, val_loss=0.42)  # and val_accuracy=0.93, f1=0.8 where they are measured

One file, standard library only, Python 3.9 or newer: import it, or copy it. Wrong arguments raise ValueError; after that nothing
raises: a failure is one warning, and training continues. Settings (JPO_RUNLOG_DIR, JPO_METRICS_PORT ...): docs/reporting.md.
"""

from __future__ import annotations  # a union in a signature fails on Python 3.9

import logging
import math
import os
import re
import secrets
import signal
import socket
import socketserver
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import BinaryIO, Optional
from urllib import parse, request

STATUSES = ("succeeded", "failed", "oom_killed", "diverged", "stopped")
RESERVED = {"run_id", "dataset", "model", "framework", "status", "job", "instance", "pod", "namespace", "hostname"}
RESERVED |= {"start", "end", "converged", "cpu_seconds", "memory_bytes", "metrics", "metric"}  # labels and lines of the log
COLUMNS = ("time", "epoch", "samples", "train_loss", "val_loss")  # then val_accuracy, and metrics of the user's own
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "NODE_RANK", "LOCAL_RANK")
SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
EXPECTED = (OSError, ValueError, TypeError, ArithmeticError, RuntimeError, HTTPException)
Texts = Mapping[str, object]  # str() of each value is used
Measured = Optional[float]  # noqa: UP045 - Python 3.9. None: not measured; NaN: diverged
CONTENT_TYPE, ECHO = "text/plain; version=0.0.4; charset=utf-8", "\x1ejpo.runlog "  # the latter precedes rows on stdout
PUSH_SECONDS, LAST_REPORT_SECONDS = 5.0, 10.0  # timeout of a push; how long the end waits at most for the last one
logger = logging.getLogger("jpo.runlog")


class RunLog:
    """The record of one run: enter it with `with`, or call `start`, `batch` and `epoch`, `end` and `close` yourself.

    In a `with` block an exception says how it ended: oom_killed, stopped (Ctrl-C; SIGTERM, which raises SystemExit(143) unless it
    is handled), else failed. Of several ranks the first reports, without CPU time and memory; forked processes do not.

    Args:
        name: which recurring job this is, as in jpo.toml; or dataset, model, framework, as in config.ini. ValueError for neither.
        parameters: e.g. {"batch_size": 64, "optimizer": "sgd"}, None is left out; ValueError for a name that cannot be a label.
        settings: os.environ, or `{**os.environ, "JPO_RUN_ID": "nightly-17"}`.
    """

    def __init__(
        self, *, parameters: Texts, settings: Texts, name: str = "", dataset: str = "", model: str = "", framework: str = ""
    ) -> None:
        self._workload = {"dataset": name or dataset, "model": name or model, "framework": name or framework}
        if not all(text and text.strip() for text in self._workload.values()):
            raise ValueError(f"every run has a name, or a dataset, a model and a framework; found {self._workload}")
        for parameter in parameters:
            if parameter in RESERVED or not re.fullmatch(r"(?!__)[A-Za-z_][A-Za-z0-9_]*", parameter):
                raise ValueError(f"parameter {parameter!r} is a reserved word of the log, or not made of A-Z a-z 0-9 _")
        self._parameters = {parameter: str(value) for parameter, value in parameters.items() if value is not None}
        self._settings = {k: text for k, value in settings.items() if value is not None and (text := str(value).strip())}
        get = self._settings.get
        place = {"pod": get("POD_NAME"), "namespace": get("POD_NAMESPACE"), "hardware": get("JPO_HARDWARE")}
        self._place = {label: text for label, text in {**place, "hostname": socket.gethostname()}.items() if text}
        wanted = get("JPO_RUN_ID", f"{name or model}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}")
        self.run_id = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted)[:128].lstrip(".") or "run"  # safe in paths and URLs
        self.path: Path | None = None
        self.metrics_url: str | None = None
        self._values = {"jpo_samples_total": 0.0}
        self._status, self._unwritten, self._columns = "", b"", list[str]()
        self._clock = self._logged = 0.0  # unix less monotonic time: setting the clock distorts no run; samples in the CSV log
        self._file: BinaryIO | None = None
        self._server: _Server | None = None
        self._reporter = threading.Thread(target=self._report_until_over, name="jpo.runlog", daemon=True)
        self._over, self._end_seen, self._counting = threading.Event(), threading.Event(), threading.Lock()
        self._awaited, self._warned = set[str](), set[str]()  # addresses that scraped the run but not yet its end; warnings given
        rank = self._setting("RANK", max(self._setting(name, 0) for name in RANKS))  # torchrun's decides, else the highest
        self._process = None if rank else os.getpid()  # the one that reports
        self._alone = max(self._setting(name, 1) for name in SIZES) <= 1

    def __enter__(self) -> RunLog:
        self.start()
        if self._process == os.getpid() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            with suppress(ValueError):  # this is not the main thread
                signal.signal(signal.SIGTERM, self._terminate)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        ours = signal.getsignal(signal.SIGTERM) == self._terminate
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # while the end is written
        self.end(_status_after(error))
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.close(linger=not isinstance(error, KeyboardInterrupt))

    def start(self) -> None:
        """Start the run: time and CPU time count from here. `run_id`, `path` and `metrics_url` are final from now on."""
        if self._clock or self._process != os.getpid():
            return
        self._clock, self._cpu_before, self._cpu = time.time() - time.monotonic(), _cpu_seconds(), 0.0
        self._values["jpo_run_start_time_seconds"] = self._now()
        with self._harmless("open the CSV log"):
            self._open()
        with self._harmless("serve the metrics"):
            if {"JPO_PUSHGATEWAY_URL", "JPO_TEXTFILE_DIR"} & self._settings.keys():
                self._reporter.start()
            if "JPO_METRICS_PORT" in self._settings:
                self._serve()

    def batch(self, samples: float) -> None:
        """Count training samples that were processed."""
        with self._harmless("count samples"):
            if self._goes_on():
                with self._counting:
                    self._values["jpo_samples_total"] += max(0.0, float(samples))

    def epoch(self, epoch: float, train_loss: Measured = None, val_loss: Measured = None, **metrics: Measured) -> None:
        """Log a finished epoch (1, 2, ...): its losses, and as `metrics` val_accuracy (0..1) and your own. NaN: diverged."""
        values = {"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, **metrics}
        with self._harmless("log an epoch"):
            if self._goes_on():
                new = {name: float(value) for name, value in values.items() if value is not None}
                self._name_columns(metrics)
                self._values.update({f"jpo_{n}" if n in (*COLUMNS, "val_accuracy") else n: value for n, value in new.items()})
                self._logged = new["samples"] = self._values["jpo_samples_total"]
                self._write(",".join([f"{self._now():.3f}", *(_text(new.get(name)) for name in self._columns[1:])]) + "\n")

    def end(self, status: str | None = None, *, converged: bool | None = None) -> None:
        """End the run, before saving and testing. `status`: of STATUSES, else by losses. `converged`: it reached its target."""
        if not self._goes_on():
            return
        finite = all(math.isfinite(self._values.get(name, 0.0)) for name in ("jpo_train_loss", "jpo_val_loss"))
        ended = status or "succeeded" if status in (None, *STATUSES) else "failed"
        self._status = ended if finite or ended == "oom_killed" else "diverged"
        facts = {**self._measured(), "jpo_run_end_time_seconds": self._now()}
        with self._harmless("record whether it converged"):
            facts.update({} if converged is None else {"jpo_converged": float(bool(converged))})
        self._values.update(facts)  # all at once: a scrape in between sees none of them
        with self._harmless("close the CSV log"):
            self._close_log()
        self._over.set()
        if self._reporter.is_alive():
            self._reporter.join(LAST_REPORT_SECONDS)

    def close(self, *, linger: bool = True) -> None:
        """Wait until the end of the run has been scraped, if it is served; then stop serving."""
        with self._harmless("stop serving the metrics"):
            if self._server and self._process == os.getpid():
                self._end_seen.wait(self._setting("JPO_LINGER_SECONDS", 60.0) if linger and self._status else 0.0)
                self._server.shutdown()
                self._server.socket.shutdown(socket.SHUT_RDWR)  # else the port stays taken as long as a forked process lives
                self._server.server_close()
                self._server = None

    def exposition(self) -> bytes:
        """The metrics in Prometheus' text format 0.0.4."""
        values, labels = dict(self._values), {"run_id": self.run_id, **self._workload, **self._place}
        values.update({} if (over := "jpo_run_end_time_seconds" in values) else self._measured())
        own = [("jpo_metric", {**labels, "metric": name}, values.pop(name)) for name in [*values] if name[:4] != "jpo_"]
        samples = [("jpo_run_info", {**labels, **self._parameters}, 1.0), *((n, labels, v) for n, v in values.items()), *own]
        samples += [("jpo_run_status", {**labels, "status": self._status}, 1.0)] if over else []
        lines = dict.fromkeys(line for sample in samples for line in _sample(*sample))  # each type once
        return "".join(lines).encode("utf-8", "replace")

    def _terminate(self, number: int, _: object) -> None:
        if os.getpid() == self._process:
            sys.exit(128 + number)
        signal.signal(number, signal.SIG_DFL)  # a forked process dies of it as it would without us
        signal.raise_signal(number)

    def _goes_on(self) -> bool:
        self.start()
        return self._process == os.getpid() and not self._status

    def _now(self) -> float:
        return self._clock + time.monotonic()

    def _setting(self, name: str, default: float) -> float:
        with self._harmless(f"use {name}"):
            return min(max(0.0, float(self._settings.get(name, default))), 3600.0)
        return default  # type: ignore[unreachable]  # after a warning

    def _measured(self) -> dict[str, float]:
        if not self._alone:
            return {}
        self._cpu = max(self._cpu, _cpu_seconds() - self._cpu_before)  # never falls, not even while a child is ending
        measured = {"jpo_cpu_seconds_total": self._cpu}
        with suppress(OSError, IndexError):  # not getrusage: after fork and exec its peak is the parent's, if that was higher
            status = Path("/proc/self/status").read_text(errors="replace")
            measured["jpo_memory_bytes"] = int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024.0
        return measured

    def _open(self) -> None:
        folder, wanted = Path(self._settings.get("JPO_RUNLOG_DIR", "runs")), self.run_id
        folder.mkdir(parents=True, exist_ok=True)
        for number in count(2):
            with suppress(FileExistsError):
                self._file = (folder / f"{self.run_id}.csv").open("xb", buffering=0)  # a killed run keeps its rows
                break
            self.run_id = f"{wanted}-{number}"
        self.path = folder / f"{self.run_id}.csv"
        facts = {**self._workload, **self._parameters, **self._place, "suggestion_id": self._settings.get("JPO_SUGGESTION_ID")}
        self._write(_lines({"run_id": self.run_id, **facts, "start": f"{self._values['jpo_run_start_time_seconds']:.3f}"}))

    def _name_columns(self, metrics: Iterable[str]) -> None:
        columns = [*dict.fromkeys((*(self._columns or COLUMNS), *(name for name in metrics if name.isidentifier())))]
        if columns != self._columns:
            self._columns, own = columns, ",".join(n for n in columns[5:] if n != "val_accuracy")
            self._write((f"# metrics={own}\n" if own else "") + ",".join(columns) + "\n")

    def _close_log(self) -> None:
        self._name_columns(())
        if self._logged != self._values["jpo_samples_total"]:  # the epoch was not finished
            self._write(f"{self._now():.3f},,{_text(self._values['jpo_samples_total'])}{',' * (len(self._columns) - 3)}\n")
        facts = {"end": f"{self._values['jpo_run_end_time_seconds']:.3f}", "status": self._status}
        if "jpo_converged" in self._values:
            facts["converged"] = "true" if self._values["jpo_converged"] else "false"
        for name, metric in (("cpu_seconds", "jpo_cpu_seconds_total"), ("memory_bytes", "jpo_memory_bytes")):
            facts.update({name: _text(round(self._values[metric], 3))} if metric in self._values else {})
        self._write(_lines(facts))
        if self._file:
            self._file.close()

    def _write(self, text: str) -> None:
        """Write at once; what a full disk did not accept precedes the next row, so that rows stay whole and in order."""
        if self._file and "JPO_RUNLOG_ECHO" in self._settings:  # where stdout leaves a machine, and its disk does not
            os.write(1, re.sub("^(?=.)", ECHO, text, flags=re.MULTILINE).encode("utf-8", "replace"))
        if self._file:
            self._unwritten += text.encode("utf-8", "replace")
            while self._unwritten:
                self._unwritten = self._unwritten[self._file.write(self._unwritten) :]

    def _serve(self) -> None:
        usual = "0.0.0.0" if "KUBERNETES_SERVICE_HOST" in self._settings else "127.0.0.1"  # noqa: S104 - a pod's loopback cannot be scraped
        host = self._settings.get("JPO_METRICS_HOST", usual)
        server = _Server((host, int(self._settings["JPO_METRICS_PORT"])), self)
        threading.Thread(target=server.serve_forever, args=(0.1,), name="jpo.runlog", daemon=True).start()
        self._server = server  # only now: one that never served cannot be shut down
        self.metrics_url = f"http://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}/metrics"

    def _report_until_over(self) -> None:
        settings, pause, over = self._settings, 0.0, False
        while not over:
            over, body, pause = self._over.wait(pause), self.exposition(), max(0.1, self._setting("JPO_REPORT_SECONDS", 15.0))
            with self._harmless("push to the Pushgateway"):
                if "JPO_PUSHGATEWAY_URL" in settings:
                    _push(settings["JPO_PUSHGATEWAY_URL"], self.run_id, body)
            with self._harmless("write the textfile"):
                if "JPO_TEXTFILE_DIR" in settings:
                    new = Path(settings["JPO_TEXTFILE_DIR"], f".jpo_{self.run_id}.tmp")
                    new.write_bytes(body)
                    new.chmod(0o644)  # node_exporter is another user
                    new.replace(new.with_name(f"jpo_{self.run_id}.prom"))  # never seen in part

    @contextmanager
    def _harmless(self, what: str) -> Iterator[None]:
        """Turn errors of disks, networks, addresses, numbers and threads into one warning per kind."""
        try:
            yield
        except EXPECTED as error:
            if what not in self._warned:
                self._warned.add(what)
                why = type(error).__name__, str(error)  # quoted: a gateway's answer may be anything
                logger.warning("run %s: cannot %s (%s: %.200r); training continues", self.run_id, what, *why)


class _Server(socketserver.ThreadingTCPServer):
    """HTTP server of the metrics; http.server's own looks up the host's name first, which may take seconds."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, address: tuple[str, int], log: RunLog) -> None:
        self.log, self.address_family = log, socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def handle_error(self, *_: object) -> None: ...  # a scraper that hangs up is not an error


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0

    def do_GET(self) -> None:
        log, whole = self.server.log, self.server.log._over.is_set()
        body = log.exposition()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        (log._awaited.discard if whole else log._awaited.add)(self.client_address[0])
        if whole and not log._awaited:
            log._end_seen.set()

    def log_message(self, *_: object) -> None: ...  # nor is a scrape worth a line


def _push(url: str, run_id: str, body: bytes) -> None:
    parts = re.fullmatch(r"(https?://)(?:(.*)@)?([^/@]+(?:/.*)?)", url.rstrip("/"))
    if not parts:
        raise ValueError("JPO_PUSHGATEWAY_URL is not http://HOST:PORT")
    secret = {"Authorization": f"Basic {b64encode(parse.unquote(parts[2]).encode()).decode()}"} if parts[2] else {}
    headers, group = {"Content-Type": CONTENT_TYPE, **secret}, f"{parts[1]}{parts[3]}/metrics/job/jpo/run_id/{run_id}"
    request.urlopen(request.Request(group, body, headers, method="PUT"), timeout=PUSH_SECONDS).close()  # noqa: S310


def _sample(name: str, labels: Mapping[str, str], value: float) -> tuple[str, str]:
    """Two lines of the text format. No HELP: node_exporter refuses files whose help differs, as it may between two versions."""
    texts = ((label, text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")) for label, text in labels.items())
    inner = ",".join(f'{label}="{text}"' for label, text in texts)
    return f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}\n", f"{name}{{{inner}}} {_text(value)}\n"


def _text(value: float | None) -> str:
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _lines(facts: Mapping[str, str | None]) -> str:
    return "".join(f"# {name}={' '.join(text.splitlines())}\n" for name, text in facts.items() if text is not None)


def _status_after(error: BaseException | None) -> str | None:
    code = error.code if isinstance(error, SystemExit) else error
    if code in (None, 0):
        return None
    if isinstance(error, KeyboardInterrupt) or code == 128 + signal.SIGTERM:
        return "stopped"
    out = type(error).__name__ in ("MemoryError", "OutOfMemoryError", "ResourceExhaustedError")  # Python, torch, TensorFlow
    return "oom_killed" if out or "out of memory" in str(error).lower() else "failed"


def _cpu_seconds() -> float:
    seconds = time.process_time() + sum(os.times()[2:4])  # children_user, children_system
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # one that ends meanwhile
            for child in children.read_text().split():
                fields = Path(f"/proc/{child}/stat").read_text(errors="replace").rpartition(")")[2].split()
                seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return seconds
