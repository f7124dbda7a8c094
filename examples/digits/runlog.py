"""What a training job tells JPO about a run: a CSV log on disk and the same numbers as Prometheus metrics.

Copy this file into your project. One RunLog is one run: `start` when training starts, `batch` and `epoch` while it goes
on, `end` once. A number that is not known yet is not exported: a validation loss of 0 before the first validation would look
perfect.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric

HELP = {
    "jpo_samples_total": "Training samples processed, all epochs together.",
    "jpo_cpu_seconds_total": "CPU time of all threads since training started.",
    "jpo_memory_bytes": "Peak resident memory of the process.",
    "jpo_epoch": "Epochs finished.",
    "jpo_train_loss": "Mean training loss of the last epoch.",
    "jpo_val_loss": "Validation loss after the last epoch; absent before the first validation, NaN when diverged.",
    "jpo_run_start_time_seconds": "When training started, unix seconds.",
    "jpo_run_end_time_seconds": "When training ended, unix seconds; absent while it goes on.",
    "jpo_run_status": "1 for how the run ended; absent while it goes on.",
    "jpo_converged": "1 if the run reached its target, else 0; absent while it goes on.",
}


class RunLog:
    """The record of one run.

    Args:
        path: CSV file to write; must not exist.
        identity: run_id, dataset, model and framework: the labels of every metric.
        parameters: what the run is trained with, e.g. {"batch_size": 64, "learning_rate": 0.01}.
    """

    def __init__(self, path: Path, identity: Mapping[str, str], parameters: Mapping[str, float]) -> None:
        self.path = path
        self._identity = dict(identity)
        self._parameters = {name: repr(value) for name, value in parameters.items()}  # 0.001, never 1e-3: a label is text
        self._values: dict[str, float] = {"jpo_samples_total": 0, "jpo_cpu_seconds_total": 0}
        self._status = ""

    def serve(self, port: int) -> int:
        """Export the metrics on 127.0.0.1 while the process lives; port 0 takes a free one. Returns the port."""
        registry = CollectorRegistry()
        registry.register(self)
        server, _ = start_http_server(port, addr="127.0.0.1", registry=registry)
        return server.server_port

    def start(self) -> None:
        """Training starts now: time and CPU time of the run count from here, without imports and loading of data."""
        self._file = self.path.open("x", buffering=1, encoding="utf-8")  # line by line: a killed run keeps its whole rows
        now, self._cpu_before = time.time(), time.process_time()
        self._values["jpo_run_start_time_seconds"] = now
        self._measure()
        self._comment(**self._identity, **self._parameters, start=f"{now:.3f}")
        self._file.write("time,epoch,samples,train_loss,val_loss\n")

    def batch(self, samples: int) -> None:
        self._values["jpo_samples_total"] += samples

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch and its validation are done."""
        self._measure()
        self._values |= {"jpo_epoch": epoch, "jpo_train_loss": train_loss, "jpo_val_loss": val_loss}
        samples = self._values["jpo_samples_total"]
        self._file.write(f"{time.time():.3f},{epoch},{samples},{train_loss:.6g},{val_loss:.6g}\n")

    def end(self, status: str, *, converged: bool) -> None:
        """The run is over: succeeded, failed, diverged or stopped."""
        now = time.time()
        self._measure()
        self._status = status
        self._values |= {"jpo_run_end_time_seconds": now, "jpo_converged": float(converged)}
        self._comment(
            end=f"{now:.3f}",
            status=status,
            converged=str(converged).lower(),
            cpu_seconds=f"{self._values['jpo_cpu_seconds_total']:.3f}",
            memory_bytes=str(self._values["jpo_memory_bytes"]),
        )
        self._file.close()

    def collect(self) -> Iterator[Metric]:
        """What Prometheus sees now (called by its client at every scrape, from another thread)."""
        names, labels = list(self._identity), list(self._identity.values())
        yield InfoMetricFamily("jpo_run", "What the run is trained with.", value={**self._identity, **self._parameters})
        values = self._values.copy()  # training goes on meanwhile
        for name, value in values.items():
            family = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            metric = family(name, HELP[name], labels=names)
            metric.add_metric(labels, value)
            yield metric
        if "jpo_run_end_time_seconds" in values:
            status = GaugeMetricFamily("jpo_run_status", HELP["jpo_run_status"], labels=[*names, "status"])
            status.add_metric([*labels, self._status], 1)
            yield status

    def _measure(self) -> None:
        self._values["jpo_cpu_seconds_total"] = time.process_time() - self._cpu_before
        self._values["jpo_memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts KiB

    def _comment(self, **facts: str) -> None:
        self._file.write("".join(f"# {name}={value}\n" for name, value in facts.items()))
