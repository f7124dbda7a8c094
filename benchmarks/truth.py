"""What `jpo report` and `jpo optimize` say was saved, beside what a script's own stamps say: on this machine and on a real SLURM.

The script sleeps by its batch size and stamps its start, each 5 ms and its end. Its runs end well, fail, lack a module, are
cancelled by somebody else, wait in the queue, go on when `jpo run` is killed (kill -9), and are made again when `jpo optimize` is
killed or one of its runs is cancelled. The truth is computed from the stamps alone: what a model took before, times the models
since, less what all runs since took; neither lacking a module with values that train, nor stops before the first change, count.

    python benchmarks/truth.py [--engines local,slurm] [--seconds 1.5] [--json]

Without slurm-wlm and munge there is no SLURM, and it is left out. Exit code 1 where a figure is more than 3% from the truth.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # slurm_cluster.py
sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp
from slurm_cluster import PROGRAMS, SBIN, Cluster, cluster_in

LARGEST_ERROR = 0.03
CONFIG = """\
[workload]
dataset = stamps
model = sleeper
framework = none
[training]
batch_size = 16
learning_rate = 0.01
[resources]
cpus = 1
"""
TOML = """\
[launch]
on = "ENGINE"
command = ["PYTHON", "train.py"]
[prices]
usd_per_cpu_hour = 360
"""
TRAIN = """\
import time
began = time.time()
import json, os, sys
folder, run_id = os.path.dirname(os.path.abspath(__file__)), os.environ["JPO_RUN_ID"]
batch = float(os.environ["JPO_BATCH_SIZE"])
with open(f"{folder}/fates.json") as file:
    fate = json.load(file).get(run_id, "well")
stamps = open(f"{folder}/stamps/{run_id}", "a", buffering=1)
print(fate, began, file=stamps, sep="\\n")
if fate == "module":
    import no_module_of_this_name
sys.path.insert(0, "ROOT")
from jpo.runlog import RunLog
seconds = SECONDS * (16 / batch) ** 0.5
with RunLog(dataset="stamps", model="sleeper", framework="none", parameters={}, settings=os.environ) as log:
    start = time.time()
    for epoch in range(1, 11):
        until = start + seconds * epoch / 10
        while (left := until - time.time()) > 0:
            print(time.time(), file=stamps)
            time.sleep(min(left, 0.005))
        log.epoch(epoch, val_loss=1 / epoch)
        if fate == "fail" and epoch == 5:
            print(time.time(), file=stamps)
            raise ValueError("as planned")
        while fate == "hang" and epoch == 5:
            print(time.time(), file=stamps)
            time.sleep(0.005)
print(time.time(), "well", file=stamps, sep="\\n")
"""


@dataclass(frozen=True)
class Stamped:
    """A run by its own stamps: seconds of training to its last sign, those of imports before, and whether it produced a model."""

    run_id: str
    fate: str
    seconds: float
    imports: float
    well: bool


@dataclass
class Bench:
    """A project whose runs go to one engine, and `jpo` in it."""

    folder: Path
    engine: str
    seconds: float
    environment: dict[str, str]
    cluster: Cluster | None
    fates: dict[str, str] = field(default_factory=dict)

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "jpo", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, **pipes)  # type: ignore[call-overload, no-any-return]

    def jpo(self, *words: str, codes: Sequence[int] = (0,)) -> str:
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        needed(process.returncode in codes, f"jpo {' '.join(words)}: {process.returncode}\n{out}{err}")
        return str(out)

    def run(self, run_id: str, fate: str = "well") -> None:
        """A run that ends as planned; one that hangs is ended by somebody else."""
        self.plan(run_id, fate)
        if fate == "hang":
            process = self.start("run", "--run-id", run_id)
            self.end_from_outside(run_id)
            process.communicate(timeout=600)
        else:
            self.jpo("run", "--run-id", run_id, codes=(0, 7))

    def run_with_jpo_killed(self, run_id: str) -> None:
        """kill -9 of `jpo run`: on this machine its run ends, too; elsewhere it goes on. A later command puts it on record."""
        process = self.start("run", "--run-id", run_id)
        self.until(lambda: self.trains(run_id))
        process.kill()
        process.communicate()
        ended = time.monotonic() + 2 * self.seconds
        self.until(lambda: "\nwell" in self.stamps(run_id) or time.monotonic() > ended)

    def plan(self, run_id: str, fate: str) -> None:
        self.fates[run_id] = fate
        (self.folder / "fates.json").write_text(json.dumps(self.fates))

    def end_from_outside(self, run_id: str) -> None:
        """As somebody else ends it: by scancel, or SIGTERM to the script."""
        self.until(lambda: self.trains(run_id))
        if self.cluster:
            number = json.loads((self.folder / ".jpo" / "launches" / run_id / "launch.json").read_text())["engine_id"]
            self.cluster.says("scancel", number.partition(":")[0])
            return
        mark = f"JPO_RUN_ID={run_id}".encode()
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                ours = mark in environ.read_bytes().split(b"\0") and b"train.py" in (environ.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if ours and b"jpo" not in (environ.parent / "cmdline").read_bytes():
                os.kill(int(environ.parent.name), signal.SIGTERM)

    @contextmanager
    def full(self) -> Iterator[None]:
        """While somebody else has the whole cluster, what is submitted waits."""
        if self.cluster is None:
            yield
            return
        other = ("sbatch", "--parsable", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 600")
        number = self.cluster.says(*other).strip()
        self.cluster.until("R", "squeue", "--noheader", f"--jobs={number}", "--format=%t")
        yield
        self.cluster.says("scancel", number)

    def run_after_waiting(self, run_id: str, seconds: float) -> None:
        with self.full():
            process = self.start("run", "--run-id", run_id)
            time.sleep(seconds + 2)
            needed(self.cluster is None or not self.stamps(run_id), "a run on a full cluster should wait")
        process.communicate(timeout=600)

    def trains(self, run_id: str) -> bool:
        return len(self.stamps(run_id).splitlines()) > 40

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not true():
            needed(time.monotonic() < deadline, f"{self.engine}: nothing happens in {self.folder}")
            time.sleep(0.02)

    def stamps(self, run_id: str) -> str:
        file = self.folder / "stamps" / run_id
        return file.read_text() if file.exists() else ""

    def stamped(self) -> list[Stamped]:
        """All runs in the order of their starts."""
        found = []
        for file in (self.folder / "stamps").iterdir():
            fate, *times = file.read_text().splitlines()
            well = times[-1] == "well"
            began, *training = map(float, times[:-1] if well else times)
            start, ended = (training[0], training[-1]) if training else (began, began)
            found.append((began, Stamped(file.name, fate, ended - start, start - began, well)))
        return [run for _, run in sorted(found, key=lambda pair: pair[0])]


def needed(true: bool, finding: str) -> None:
    if not true:
        raise SystemExit(finding)


def main() -> None:
    parser = argparse.ArgumentParser(description="What was saved, as JPO says and as it was.")
    parser.add_argument("--engines", default="local,slurm")
    parser.add_argument("--seconds", type=float, default=1.5, help="of a run with the first values")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    lines = [line for engine in arguments.engines.split(",") for line in measured(engine, arguments.seconds)]
    if arguments.json:
        print(json.dumps(lines))
    else:
        told(lines)
    sys.exit(any(abs(line["said"] / line["true"] - 1) > LARGEST_ERROR for line in lines))


def told(lines: Sequence[dict[str, Any]]) -> None:
    print(f"## Truth\n\n{stamp()}\n\n| engine | figure | JPO says, s | stamps say, s | ratio |\n|---|---|---:|---:|---:|")
    for line in lines:
        ratio = line["said"] / line["true"]
        print(f"| {line['engine']} | {line['figure']} | {line['said']:.3f} | {line['true']:.3f} | {ratio:.4f} |")


def measured(engine: str, seconds: float) -> Iterator[dict[str, Any]]:
    """The figures of an engine: what JPO says, and what is true."""
    path = f"{os.environ['PATH']}:{SBIN}"
    if engine == "slurm" and not all(shutil.which(program, path=path) for program in PROGRAMS):
        print("slurm-wlm and munge are not installed: SLURM is left out", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="jpo-truth-") as folder:
        if engine == "local":
            yield from figures(Path(folder), engine, seconds, None)
            return
        (Path(folder) / "slurm").mkdir()
        with cluster_in(Path(folder) / "slurm") as cluster:
            yield from figures(Path(folder), engine, seconds, cluster)


def figures(folder: Path, engine: str, seconds: float, cluster: Cluster | None) -> Iterator[dict[str, Any]]:
    for figure, compared in (("report: saved", by_report), ("optimize: spent and kept", by_optimize)):
        bench = bench_in(folder / figure.split(":")[0], engine, seconds, cluster)
        for name, (said, true) in compared(bench).items():
            yield {"engine": engine, "figure": name, "said": said, "true": true}


def bench_in(folder: Path, engine: str, seconds: float, cluster: Cluster | None) -> Bench:
    (folder / "stamps").mkdir(parents=True)
    root = str(Path(__file__).resolve().parents[1])
    (folder / "config.ini").write_text(CONFIG)
    (folder / "jpo.toml").write_text(TOML.replace("ENGINE", engine).replace("PYTHON", sys.executable))
    (folder / "train.py").write_text(TRAIN.replace("SECONDS", str(seconds)).replace("ROOT", root))
    (folder / "fates.json").write_text("{}")
    (folder / ".git").mkdir()
    environment = {**os.environ, "PYTHONPATH": root, **(cluster.environment if cluster else {})}
    return Bench(folder, engine, seconds, environment, cluster)


def by_report(bench: Bench) -> dict[str, tuple[float, float]]:
    """`jpo run` before and after two changes of the user's, which are on record; then `jpo report`."""
    for run_id, fate in (("b1", "well"), ("b2", "fail"), ("b3", "well"), ("b4", "hang"), ("b5", "module"), ("b6", "well")):
        bench.run(run_id, fate)
    before = {run.run_id for run in bench.stamped()}
    bench.jpo("suggest", "--set", "batch_size=64", "--no-learn")
    bench.run("c0", "module")  # with values that never trained
    for run_id, fate in (("c1", "well"), ("c2", "fail"), ("c3", "module"), ("c4", "hang")):
        bench.run(run_id, fate)
    bench.run_with_jpo_killed("c5")
    bench.jpo("suggest", "--set", "learning_rate=0.02", "--no-learn")
    bench.run_after_waiting("d1", 1.0)
    bench.run("d2")
    bench.run("d3", "hang")
    bench.jpo("observe")
    (workload,) = json.loads(bench.jpo("report", "-o", "json"))["workloads"]
    said = {saved["quantity"]: saved for saved in workload["saved"]}
    each, _, spent, saved = truth(bench.stamped(), before)
    return {
        "report: a model before": (said["duration_seconds"]["each_before"], each),
        "report: time since": (said["duration_seconds"]["spent"], spent),
        "report: time saved": (said["duration_seconds"]["saved"]["mean"], saved),
        "report: money saved, in seconds of one CPU": (said["cost_usd"]["saved"]["mean"] * 10, saved),
    }


def by_optimize(bench: Bench) -> dict[str, tuple[float, float]]:
    """`jpo optimize`, killed in a run, gone on with, one of its runs cancelled from outside and one failing."""
    words = ("optimize", "--name", "t", "--baseline", "3", "--runs", "5", "--no-learn", "-o", "json")
    bench.plan("t-b2", "fail")
    bench.plan("t-2", "hang")
    bench.plan("t-4", "fail")
    killed = bench.start(*words)
    bench.until(lambda: bench.trains("t-1"))
    killed.kill()
    killed.communicate()
    again = bench.start(*words)
    bench.end_from_outside("t-2")
    out, err = again.communicate(timeout=600)
    needed(again.returncode == 0, err)
    (job,) = json.loads(out)["jobs"]
    said = next(total for total in job["totals"] if total["quantity"] == "duration_seconds")
    before = {run.run_id for run in bench.stamped() if run.run_id.startswith("t-b")}
    each, models, spent, _ = truth(bench.stamped(), before)
    return {"optimize: time after the baseline": (said["spent"], spent), "optimize: kept": (said["kept"], each * models)}


def truth(runs: Sequence[Stamped], before: set[str]) -> tuple[float, int, float, float]:
    """Seconds of a model before, models since, seconds of all runs since, and what was saved, by stamps alone."""
    charged = [run for run in runs if run.fate != "module"]
    old = [run for run in charged if run.run_id in before and run.fate != "hang"]
    new = [run for run in charged if run.run_id not in before]
    each = sum(run.seconds for run in old) / sum(run.well for run in old)
    models, spent = sum(run.well for run in new), sum(run.seconds for run in new)
    return each, models, spent, each * models - spent


if __name__ == "__main__":
    main()
