"""Cost of evidence: requests and time of JPO's queries of 1,000 runs in Prometheus, compared with naive use of its client
library.

The history is generated (90 days of one workload; a sample every 15 s of the job's own metrics, cAdvisor, kube-state-metrics and
DCGM), backfilled with promtool and served by a real Prometheus on loopback. Naive means `custom_query` of prometheus-api-client
for each run and each metric over the run's own time; where these are too many, a sample of the runs is measured and scaled, as
the table says. JPO's time is from the first byte to the last run, its own work included; a figure is the median of several looks.

    python benchmarks/telemetry.py [--runs 1000] [--looks 5] [--json]

Exit code 1 if a claim does not hold, 2 without Prometheus.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from apparatus.stamp import stamp

from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.prometheus.runs import finished_runs

SINCE = 1_750_000_000.0
DAYS = 90
STEP = 15
BLOCK_HOURS = 162  # promtool reads a file once per block: one file for each
NEW = 10
SAMPLED = 25
"""Runs of which the naive way is measured when all are too many."""
IDENTITY = Identity("digits", "cnn", "pytorch")
KEY = 'dataset="digits",model="cnn",framework="pytorch"'
NAIVE = (
    "last_over_time(jpo_run_info{{{run}}}[{span}s])",
    "max_over_time(jpo_samples_total{{{run}}}[{span}s])",
    "last_over_time(jpo_val_loss{{{run}}}[{span}s])",
    "increase(container_cpu_usage_seconds_total{{{pod}}}[{span}s])",
    "avg_over_time(container_memory_working_set_bytes{{{pod}}}[{span}s])",
    "last_over_time(kube_pod_completion_time{{{pod}}}[{span}s])",
    "avg_over_time(DCGM_FI_DEV_GPU_UTIL{{exported_{pod}}}[{span}s])",
    "increase(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{exported_{pod}}}[{span}s])",
)
MOST = {"10 new": (15, 0.3), "nothing new": (1, 0.3), "first contact": (40, 5.0)}
"""Requests and seconds of query time that are promised."""


@dataclass(frozen=True)
class Run:
    number: int
    start: float
    seconds: int

    @property
    def run_id(self) -> str:
        return f"cnn-{self.number:05d}"

    @property
    def end(self) -> float:
        return self.start + self.seconds


@dataclass(frozen=True)
class Figure:
    requests: int
    seconds: float
    note: str = ""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description="Requests and query time of JPO's queries compared with the client library used naively."
    )
    parser.add_argument("--runs", type=int, default=1000, help="runs in the history, at least 20 (default: 1000)")
    parser.add_argument("--looks", type=int, default=5, help="measured looks of each kind (default: 5)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        print("needs prometheus and promtool: apt-get install prometheus", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        runs = history(options.runs)
        backfill(runs, Path(scratch))
        with prometheus(Path(scratch)) as url:
            ours, naive = measure(url, runs, options.looks), measure_naive(url, runs)
    holds = {name: claim(name, figure) for name, figure in ours.items()}
    if options.json:
        figures = {
            kind: {name: asdict(outcome) for name, outcome in measured.items()}
            for kind, measured in (("jpo", ours), ("naive", naive))
        }
        print(json.dumps({**figures, "holds": holds}))
    else:
        print(table(ours, naive, holds, options.runs, options.looks))
    return 0 if all(holds.values()) else 1


def history(count: int) -> list[Run]:
    """Runs of 20 to 60 minutes, evenly over the days, oldest first; the last NEW of them lie in the last day."""
    old, day = count - NEW, 86400
    apart = (DAYS - 2) * day / old
    starts = [SINCE + i * apart for i in range(old)] + [SINCE + (DAYS - 1) * day + i * 2 * 3600 for i in range(NEW)]
    return [Run(i, start, 60 * (20 + (i * 7) % 41)) for i, start in enumerate(starts)]


def backfill(runs: list[Run], folder: Path) -> None:
    """The samples of all runs as TSDB blocks in folder/data."""
    blocks: dict[int, list[str]] = defaultdict(list)
    for run in runs:
        for name, points in series(run):
            for moment, value in points:
                blocks[int(moment // (BLOCK_HOURS * 3600))].append(f"{name} {value!r} {moment:.0f}\n")
    for block in sorted(blocks):
        file = folder / "block.om"
        file.write_text("".join(blocks.pop(block)) + "# EOF\n", encoding="utf-8")
        command = ["promtool", "tsdb", "create-blocks-from", f"--max-block-duration={BLOCK_HOURS}h", "openmetrics", "--quiet"]
        subprocess.run([*command, file, folder / "data"], check=True, capture_output=True)


def series(run: Run) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Each series of a run, with its samples."""
    pod = f'namespace="ml",pod="{run.run_id}-x"'
    own = f'{KEY},run_id="{run.run_id}",job="train",instance="{run.run_id}:8000",{pod}'
    exporter = f'UUID="GPU-{run.number % 8}",pod="dcgm-7",namespace="gpu",exported_namespace="ml",exported_pod="{run.run_id}-x"'
    times = [float(t) for t in range(0, run.seconds + 1, STEP)]
    config = f'batch_size="{32 << run.number % 4}",learning_rate="0.01",epochs="3",cpus="4",gpus="1"'
    during = {
        f"jpo_run_info{{{own},{config}}}": lambda t: 1.0,
        f"jpo_samples_total{{{own}}}": lambda t: 100.0 * t,
        f"jpo_epoch{{{own}}}": lambda t: float(3 * t // run.seconds),
        f"jpo_train_loss{{{own}}}": lambda t: 1.0 - 0.5 * t / run.seconds,
        f"jpo_val_loss{{{own}}}": lambda t: 0.3,
        f"jpo_run_start_time_seconds{{{own}}}": lambda t: run.start,
        f'container_cpu_usage_seconds_total{{{pod},container="trainer",id="/{run.number}"}}': lambda t: 2.0 * t,
        f'container_memory_working_set_bytes{{{pod},container="trainer",id="/{run.number}"}}': lambda t: 2.0**31 + t,
        f'container_start_time_seconds{{{pod},container="trainer",id="/{run.number}"}}': lambda t: run.start,
        f"kube_pod_start_time{{{pod}}}": lambda t: run.start,
        f'kube_pod_owner{{{pod},owner_kind="Job",owner_name="{run.run_id}"}}': lambda t: 1.0,
        f'kube_pod_container_resource_requests{{{pod},container="trainer",resource="cpu"}}': lambda t: 4.0,
        f"DCGM_FI_DEV_GPU_UTIL{{{exporter}}}": lambda t: 80.0 + t % 7,
        f"DCGM_FI_DEV_FB_USED{{{exporter}}}": lambda t: 10_000.0,
        f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{exporter}}}": lambda t: 5e9 + 3e5 * t,
    }
    for name, value in during.items():
        yield name, [(run.start + t, value(t)) for t in times]
    after = [run.end + i * STEP for i in range(10)]
    yield f"kube_pod_completion_time{{{pod}}}", [(t, run.end) for t in after]
    yield f'kube_pod_status_phase{{{pod},phase="Succeeded"}}', [(t, 1.0) for t in after]
    yield f"jpo_run_end_time_seconds{{{own}}}", [(run.end, run.end)]
    yield f'jpo_run_status{{{own},status="succeeded"}}', [(run.end, 1.0)]


@contextmanager
def prometheus(folder: Path) -> Iterator[str]:
    """A server over folder/data."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    (folder / "prometheus.yml").write_text("global: {}")
    options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    options += ["--storage.tsdb.retention.time=100y", f"--web.listen-address={address}", "--log.level=error"]
    with subprocess.Popen(["prometheus", *options]) as server:
        try:
            wait(f"http://{address}/-/ready")
            yield f"http://{address}"
        finally:
            server.terminate()


def wait(url: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 (our own address)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise SystemExit("Prometheus did not start")


def measure(url: str, runs: list[Run], looks: int) -> dict[str, Figure]:
    """JPO's three kinds of looks."""
    until = runs[-1].end + 3600
    marks = {"first contact": None, f"{NEW} new": runs[-NEW - 1].end, "nothing new": runs[-1].end}
    expected = {"first contact": len(runs), f"{NEW} new": NEW, "nothing new": 0}
    figures = {}
    for name, mark in marks.items():
        measured = [
            finished_runs(Endpoint(url, timeout_seconds=120), IDENTITY, since=SINCE - 1, until=until, watermark=mark)
            for _ in range(looks + 1)
        ][1:]
        if {len(outcome.runs) for outcome in measured} != {expected[name]}:
            raise SystemExit(f"{name}: {len(measured[0].runs)} runs found, not {expected[name]}: {measured[0].skipped[:3]}")
        figures[name] = Figure(measured[0].requests, statistics.median(outcome.seconds for outcome in measured))
    return figures


def measure_naive(url: str, runs: list[Run]) -> dict[str, Figure]:
    """The client library, run by run and metric by metric; what is new is found by asking for all runs of the window."""
    from prometheus_api_client import PrometheusConnect

    connect = PrometheusConnect(url=url)
    began = time.perf_counter()
    listed = connect.custom_query(
        f"last_over_time(jpo_run_info{{{KEY}}}[{DAYS + 1}d])", params={"time": str(runs[-1].end + 3600)}
    )
    listing = time.perf_counter() - began
    if len(listed) != len(runs):
        raise SystemExit(f"the naive query found {len(listed)} runs, not {len(runs)}")
    few = runs[:: max(1, len(runs) // SAMPLED)]
    scale = len(runs) / len(few)
    note = "" if scale == 1 else f"measured on {len(few)} runs, scaled"
    each = len(NAIVE)
    return {
        "first contact": Figure(1 + each * len(runs), listing + scale * run_by_run(connect, few), note),
        f"{NEW} new": Figure(1 + each * NEW, listing + run_by_run(connect, runs[-NEW:])),
        "nothing new": Figure(1, listing),
    }


def run_by_run(connect, runs: list[Run]) -> float:
    """Seconds of all queries for these runs."""
    began = time.perf_counter()
    for run in runs:
        named = {"run": f'{KEY},run_id="{run.run_id}"', "pod": f'pod="{run.run_id}-x"', "span": run.seconds + 600}
        for query in NAIVE:
            if len(connect.custom_query(query.format(**named), params={"time": str(run.end + 300)})) != 1:
                raise SystemExit(f"the naive query found nothing: {query.format(**named)}")
    return time.perf_counter() - began


def claim(name: str, figure: Figure) -> bool:
    requests, seconds = MOST[name]
    return figure.requests <= requests and figure.seconds <= seconds


def table(ours: dict[str, Figure], naive: dict[str, Figure], holds: dict[str, bool], runs: int, looks: int) -> str:
    rows = []
    for name, figure in ours.items():
        other, (requests, seconds) = naive[name], MOST[name]
        rows.append(
            f"| {name} | {figure.requests} | {figure.seconds:.3f} | {other.requests} | {other.seconds:.3f} {other.note} "
            f"| {other.seconds / figure.seconds:.0f} | {requests}, {seconds:g} s: {'holds' if holds[name] else 'DOES NOT HOLD'} |"
        )
    head = ["## Telemetry", "", f"{stamp()}. {runs} runs in {DAYS} days, a sample every {STEP} s; median of {looks} looks.", ""]
    columns = "| look | requests | seconds | naive: requests | seconds | times as long | at most |"
    return "\n".join([*head, columns, "|---|---:|---:|---:|---:|---:|---|", *rows])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
